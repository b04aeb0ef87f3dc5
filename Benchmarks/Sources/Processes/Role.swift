import Foundation
import Harness
import SwiftData

/// The role of a process.
enum Role: Sendable {
  /// Saves again and again from one moment to another, with a pause in between.
  case save(Saver, URL, Harness.Durability, from: UInt64, until: UInt64, pause: UInt32)
  /// Saves once for each line it reads, and answers with the duration.
  case answer(Saver, URL)
  /// Reports the time from each save by another process until it was informed of it and had fetched it.
  case listen(URL, until: UInt64)
  /// Reports the time from each save by another process until a list had it.
  case show(URL, until: UInt64, allowsSave: Bool)

  var arguments: [String] {
    switch self {
    case .save(let saver, let folder, let durability, let from, let until, let pause):
      [
        "save", saver.rawValue, folder.path, durability.rawValue, "\(from)", "\(until)", "\(pause)",
      ]
    case .answer(let saver, let folder): ["answer", saver.rawValue, folder.path]
    case .listen(let folder, let until): ["listen", folder.path, "\(until)"]
    case .show(let folder, let until, let allowsSave):
      [allowsSave ? "show" : "watch", folder.path, "\(until)"]
    }
  }

  init?(_ arguments: [String]) {
    func folder(_ place: Int) -> URL { URL(fileURLWithPath: arguments[place]) }
    switch (arguments.first, arguments.count) {
    case ("save", 7):
      guard let saver = Saver(rawValue: arguments[1]),
        let durability = Harness.Durability(rawValue: arguments[3]),
        let from = UInt64(arguments[4]), let until = UInt64(arguments[5]),
        let pause = UInt32(arguments[6])
      else { return nil }
      self = .save(saver, folder(2), durability, from: from, until: until, pause: pause)
    case ("answer", 3):
      guard let saver = Saver(rawValue: arguments[1]) else { return nil }
      self = .answer(saver, folder(2))
    case ("listen", 3):
      guard let until = UInt64(arguments[2]) else { return nil }
      self = .listen(folder(1), until: until)
    case ("show", 3), ("watch", 3):
      guard let until = UInt64(arguments[2]) else { return nil }
      self = .show(folder(1), until: until, allowsSave: arguments[0] == "show")
    default: return nil
    }
  }

  /// Plays the role.
  ///
  /// - Throws: What the store throws.
  func play() async throws {
    switch self {
    case .save(let saver, let folder, let durability, let from, let until, let pause):
      let save = try saver.open(folder, durability)
      while monotonicNanoseconds() < from { usleep(100) }
      try Self.repeatSave(save, until: until, pause: pause)
    case .answer(let saver, let folder):
      let save = try saver.open(folder, .relaxed)
      Companion.say("ready")
      while readLine() != nil {
        let begin = monotonicNanoseconds()
        try save()
        Companion.say("\(monotonicNanoseconds() - begin)")
      }
    case .listen(let folder, let until): try Self.hear(folder, until: until)
    case .show(let folder, let until, let allowsSave):
      try await Self.list(folder, until: until, allowsSave: allowsSave)
    }
  }

  private static func repeatSave(_ save: () throws -> Void, until: UInt64, pause: UInt32) throws {
    var histogram = LatencyHistogram()
    let begin = monotonicNanoseconds()
    var before = begin
    while before < until {
      try save()
      let after = monotonicNanoseconds()
      histogram.record(after - before)
      if pause > 0 { usleep(pause) }
      before = pause > 0 ? monotonicNanoseconds() : after
    }
    let rate = Double(histogram.count) * 1e9 / Double(max(1, until - begin))
    try Companion.tell(.writers1, Harness.Sample([.rowsPerSecond: rate], histogram: histogram))
  }

  private static func hear(_ folder: URL, until: UInt64) throws {
    let container = try Saver.container(folder, .relaxed, isShared: true)
    let observer = try HistoryObserver(modelContainer: container)
    let news = DispatchSemaphore(value: 0)
    var newest = FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.time, order: .reverse)])
    newest.fetchLimit = 1
    var last = 0
    while monotonicNanoseconds() < until {
      withObservationTracking {
        _ = observer.eventCounter
      } onChange: {
        news.signal()
      }
      let time = try ModelContext(container).fetch(newest).first?.time ?? 0
      if time > last, last > 0 { Companion.say("\(Int(monotonicNanoseconds()) - time)") }
      last = time
      _ = news.wait(timeout: .now() + .milliseconds(200))
    }
  }

  @MainActor
  private static func list(_ folder: URL, until: UInt64, allowsSave: Bool) async throws {
    let container = try Saver.container(
      folder,
      .relaxed,
      isShared: true,
      allowsSave: allowsSave
    )
    let entries = try ResultsObserver<Entry, Never>(
      sortBy: [SortDescriptor(\.time)],
      modelContext: container.mainContext
    )
    let listing = Task {
      var last = Int.max
      for await change in entries.changes {
        let time = change.results.last?.time ?? 0
        if time > last { Companion.say("\(Int(monotonicNanoseconds()) - time)") }
        last = time
      }
    }
    let rest = max(0, Int64(until) - Int64(monotonicNanoseconds()))
    try await Task.sleep(for: .nanoseconds(rest))
    listing.cancel()
    await listing.value
  }
}
