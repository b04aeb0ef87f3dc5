import Foundation
import SwiftData

// What it costs that several processes save to one store; started by `processes`, and by itself for each process.

let arguments = CommandLine.arguments
do {
  switch arguments.dropFirst().first {
  case "save": try save()
  case "listen": try listen()
  case "show": try await show()
  default: try measure()
  }
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(1)
}

// MARK: One process

/// Saves from one moment to another, and prints how often it did, and how long the slowest save took.
func save() throws {
  guard let saver = Saver(rawValue: arguments[2]), let from = Int(arguments[5]),
    let until = Int(arguments[6]), let pause = UInt32(arguments[7]),
    let save = try saver.open(URL(fileURLWithPath: arguments[3]), isDurable: arguments[4] == "full")
  else { exit(64) }
  while now() < from { usleep(100) }
  var (count, slowest) = (0, 0)
  var before = now()
  while before < until {
    try save()
    let after = now()
    slowest = max(slowest, after - before)
    count += 1
    if pause > 0 { usleep(pause) }
    before = pause > 0 ? now() : after
  }
  print(count, slowest)
}

/// Prints how long after a save it heard of it, and had fetched it; in microseconds.
func listen() throws {
  guard let until = Int(arguments[3]) else { exit(64) }
  let container = try Saver.container(
    URL(fileURLWithPath: arguments[2]),
    isDurable: false,
    isShared: true
  )
  let observer = try HistoryObserver(modelContainer: container)
  let news = DispatchSemaphore(value: 0)
  var newest = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.time, order: .reverse)])
  newest.fetchLimit = 1
  var last = 0
  while now() < until {
    withObservationTracking {
      _ = observer.eventCounter
    } onChange: {
      news.signal()
    }
    let time = try ModelContext(container).fetch(newest).first?.time ?? 0
    if time > last, last > 0 { print(now() - time) }
    last = time
    _ = news.wait(timeout: .now() + .milliseconds(200))
  }
}

/// Prints how long after a save a list that follows the store had it; in microseconds.
@MainActor func show() async throws {
  guard let until = Int(arguments[3]) else { exit(64) }
  let container = try Saver.container(
    URL(fileURLWithPath: arguments[2]),
    isDurable: false,
    isShared: true,
    allowsSave: arguments[4] == "writes"
  )
  let samples = try ResultsObserver<Sample, Never>(
    sortBy: [SortDescriptor(\.time)],
    modelContext: container.mainContext
  )
  let listing = Task {
    var last = Int.max
    for await change in samples.changes {
      let time = change.results.last?.time ?? 0
      if time > last { print(now() - time) }
      last = time
    }
  }
  try await Task.sleep(for: .microseconds(max(0, until - now())))
  listing.cancel()
  await listing.value
}

// MARK: All of them

/// A folder that is removed with the object.
final class TemporaryFolder {
  let url = FileManager.default.temporaryDirectory.appending(path: "processes-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

struct Rate {
  var perSecond: Double
  var slowest: Int
  /// Of the process that saved most, how much that which saved least did.
  var fairness: Double
}

func start(_ arguments: [String]) throws -> (Process, Pipe) {
  let process = Process()
  process.executableURL = Bundle.main.executableURL
  process.arguments = arguments
  let output = Pipe()
  process.standardOutput = output
  try process.run()
  return (process, output)
}

func numbers(_ process: Process, _ output: Pipe) -> [Int] {
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
}

func rate(_ saver: Saver, _ count: Int, isDurable: Bool, seconds: Double) throws -> Rate? {
  let folder = try TemporaryFolder()
  // Made before, so that no process waits for it to be made.
  guard try saver.open(folder.url, isDurable: isDurable) != nil else { return nil }
  let from = now() + 500_000
  let until = from + Int(seconds * 1e6)
  let processes = try (0..<count).map { _ in
    try start([
      "save", saver.rawValue, folder.url.path, isDurable ? "full" : "relaxed", "\(from)",
      "\(until)", "0",
    ])
  }
  let results = processes.map { numbers($0, $1) }
  withExtendedLifetime(folder) {}
  guard results.allSatisfy({ $0.count == 2 }) else { return nil }
  let counts = results.map { $0[0] }
  return Rate(
    perSecond: Double(counts.reduce(0, +)) / seconds,
    slowest: results.map { $0[1] }.max() ?? 0,
    fairness: Double(counts.min() ?? 0) / Double(max(1, counts.max() ?? 1))
  )
}

func measure() throws {
  let seconds = arguments.dropFirst().first.flatMap { Double($0) } ?? 2
  for isDurable in [false, true] {
    print(isDurable ? "saves on the disk" : "saves with the system")
    for (saver, count) in [
      (Saver.alone, 1), (.together, 1), (.together, 2), (.together, 4), (.sqlite, 1), (.sqlite, 4),
    ] {
      var rates: [Rate] = []
      for _ in 0..<3 {
        if let rate = try rate(saver, count, isDurable: isDurable, seconds: seconds) {
          rates.append(rate)
        }
      }
      guard rates.count == 3 else {
        print("  \(saver.rawValue), \(count) processes: not measured")
        continue
      }
      let median = rates.sorted { $0.perSecond < $1.perSecond }[1]
      print(
        String(
          format: "  %@, %d processes: %.0f saves a second, slowest %.1f ms, fairness %.2f",
          saver.rawValue,
          count,
          median.perSecond,
          Double(median.slowest) / 1000,
          median.fairness
        )
      )
    }
  }
  for (role, words) in [
    ("listen", ["another process heard of"]),
    ("show", ["the list of another process showed", "writes"]),
    ("show", ["the list of a process that only reads showed", "reads"]),
  ] {
    try measureDelay(role, words[0], Array(words.dropFirst()), seconds: seconds)
  }
}

func measureDelay(
  _ role: String,
  _ words: String,
  _ options: [String],
  seconds: Double
) throws {
  let folder = try TemporaryFolder()
  _ = try Saver.together.open(folder.url, isDurable: false)
  let from = now() + 500_000
  let until = from + Int(seconds * 3e6)
  let listener = try start([role, folder.url.path, "\(until)"] + options)
  let saver = try start(
    ["save", "together", folder.url.path, "relaxed", "\(from)", "\(until)", "20000"]
  )
  _ = numbers(saver.0, saver.1)
  let delays = numbers(listener.0, listener.1).sorted()
  withExtendedLifetime(folder) {}
  guard !delays.isEmpty else { return print("\(words) nothing") }
  print(
    String(
      format: "%@ %d saves: p50 %.2f ms, p99 %.2f ms",
      words,
      delays.count,
      Double(delays[delays.count / 2]) / 1000,
      Double(delays[delays.count * 99 / 100]) / 1000
    )
  )
}
