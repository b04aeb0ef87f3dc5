#if os(Linux)
import Foundation
import LogEngine
import RowFormat
import Testing

/// In processes of their own: what is counted and interrupted is the whole process.
@Suite struct `A store that takes commit after commit` {
  @Test func `needs no more descriptors and memory than at first`() async {
    await #expect(processExitsWith: .success) {
      let store = try NumberStore(durability: .relaxed(interval: .milliseconds(5)))
      // By then each buffer has been as full as it gets, and more than one segment was ended.
      try store.update(times: 30_000)
      let before = Resources.now(openSegments: try store.segmentCount)
      try store.update(times: 60_000)
      let after = Resources.now(openSegments: try store.segmentCount)
      try store.end()
      precondition(
        after.descriptors <= before.descriptors
          && after.privateByteCount < before.privateByteCount + 1 << 20,
        "\(before) became \(after)"
      )
    }
  }

  @Test func `does not mind being interrupted by signals`() async {
    await #expect(processExitsWith: .success) {
      let store = try NumberStore(durability: .full)
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { _ in }
      // Without SA_RESTART: calls that can be interrupted are.
      precondition(sigaction(SIGALRM, &action, nil) == 0)
      var interval = itimerval()
      interval.it_interval.tv_usec = 100
      interval.it_value.tv_usec = 100
      precondition(setitimer(numericCast(ITIMER_REAL.rawValue), &interval, nil) == 0)
      try store.update(times: 300)
      interval = itimerval()
      precondition(setitimer(numericCast(ITIMER_REAL.rawValue), &interval, nil) == 0)
      try store.end()
    }
  }
}

/// A store on disk with one row, a number that counts its commits.
private final class NumberStore {
  private let path: String
  private let engine: StorageEngine
  private let row = RowReference(table: 1, key: 1)
  private let layout = RowLayout([.integer])
  private var number: Int64 = 0

  init(durability: EngineOptions.Durability) throws {
    path = FileManager.default.temporaryDirectory.appending(path: "count-\(UUID().uuidString)").path
    var options = EngineOptions()
    options.durability = durability
    options.background = .caller
    options.largestSegment = 1 << 20
    engine = try StorageEngine.open(at: path, options: options)
    try engine.apply([
      .addTable(name: "T"), .addColumn(table: 1, name: "n", type: .integer, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
  }

  func update(times: Int) throws {
    var batch = engine.makeBatch()
    var writer = RowWriter()
    for _ in 0..<times {
      number += 1
      writer.removeAll()
      writer.begin(layout)
      writer.set(0, integer: number)
      _ = writer.finish()
      if number == 1 {
        batch.insert(row, layout: LayoutNumber(1), row: writer.bytes)
      } else {
        batch.update(row, layout: LayoutNumber(1), changed: .all, row: writer.bytes)
      }
      try engine.commit(&batch)
      if number % 1000 == 0 { engine.performBackgroundWork() }
    }
  }

  /// How many segments there are: each is an open file.
  var segmentCount: Int {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path + "/log").count }
  }

  /// Closes the store, opens it again and looks for the last number.
  func end() throws {
    try engine.close()
    let again = try StorageEngine.open(at: path)
    let found = try again.withRow(row) { row, _ in layout.integer(0, in: row) }
    try again.close()
    try FileManager.default.removeItem(atPath: path)
    precondition(found == number, "\(found ?? -1) is the newest, not \(number)")
  }
}

/// What the process holds.
private struct Resources {
  /// Beside those of segments.
  var descriptors: Int
  var privateByteCount: Int

  /// Whether the address sanitizer is at work, which keeps what was freed: then memory says nothing.
  private static var keepsFreedMemory: Bool { dlsym(nil, "__asan_init") != nil }

  /// The memory that is no file's, in bytes; 0 if it cannot be told.
  private static var privateMemory: Int {
    if keepsFreedMemory { return 0 }
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return line.split(separator: " ").compactMap { Int($0) }.first.map { $0 << 10 } ?? 0
  }

  static func now(openSegments: Int) -> Resources {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return Resources(
      descriptors: names.count - openSegments,
      privateByteCount: privateMemory
    )
  }
}
#endif
