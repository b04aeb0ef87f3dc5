import LogEngine
import Testing

@testable import logstore_inspect

@Suite struct `The top of a store` {
  /// Looks at a store, and does something to it before each further look.
  private func top(
    _ arguments: [String],
    isRedrawn: Bool = false,
    height: Int? = nil,
    _ steps: [(TownStore, StorageEngine) throws -> Void]
  ) throws -> Session.Result {
    let store = try TownStore()
    return try store.write { engine in
      var session = Session(disk: store.disk)
      session.isRedrawn = isRedrawn
      session.height = height
      var left = steps[...]
      session.pause = { _ in
        guard let step = left.popFirst() else { return .stop }
        do {
          try step(store, engine)
        } catch {
          Issue.record(error)
          return .stop
        }
        return .proceed
      }
      return try session.run(["top", store.path] + arguments)
    }
  }

  /// A second without a commit, ten towns in ten seconds, one that is renamed in one second.
  private let quietBusyChanged: [(TownStore, StorageEngine) throws -> Void] = [
    { store, _ in store.disk.advance(bySeconds: 1) },
    { store, engine in try store.addTowns(10, to: engine) },
    { store, engine in
      try store.update(1, column: 0, engine, by: "ann") { TownStore.town(1, "Lisboa") }
    },
  ]

  @Test(arguments: [OutputFormat.text, .ndjson, .csv])
  func `is its pace, look by look`(format: OutputFormat) throws {
    let result = try top(["--format", format.rawValue], quietBusyChanged)
    #expect(result.error == nil)
    try expectSnapshot(result.transcript, "top-\(format.rawValue)")
  }

  @Test(arguments: [21, 40]) func `fits the terminal it is drawn on`(height: Int) throws {
    let result = try top([], isRedrawn: true, height: height, quietBusyChanged)
    let screens = result.output.split(separator: "\u{1B}[H\u{1B}[J")
    #expect(screens.count == 4)
    // One line is the cursor's.
    for screen in screens {
      #expect(screen.split(separator: "\n", omittingEmptySubsequences: false).count <= height)
    }
    try expectSnapshot(
      screens.joined(separator: "=== drawn anew\n"),
      "top-screen-\(height)"
    )
  }

  @Test(arguments: 1...4) func `ends after so many looks`(count: Int) throws {
    let result = try top(
      ["--count", "\(count)", "--format", "json"],
      Array(repeating: { store, engine in try store.addTowns(1, to: engine) }, count: 9)
    )
    #expect(result.output.split(separator: "\n").count == count + 2)
  }

  @Test func `goes on across new segments and compactions`() throws {
    let result = try top(
      ["--format", "csv"],
      (0..<12).map { step in
        { store, engine in
          try store.addTowns(10, nameByteCount: 900, to: engine)
          if step % 3 == 2 { try engine.compact(keeping: HistoryRetention(byteCount: 40_000)) }
        }
      }
    )
    #expect(result.error == nil, "\(result.transcript)")
    let rows = result.output.split(separator: "\n").dropFirst()
      .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
    #expect(rows.map { $0[1] } == (0...12).map { "\(9 + $0 * 10)" })
    // One commit a second, and each makes a row.
    #expect(rows.dropFirst().allSatisfy { Double($0[2]) == 1 && Double($0[4]) == 1 })
    let logSizes = rows.compactMap { Int($0[5]) }
    #expect(zip(logSizes, logSizes.dropFirst()).allSatisfy { $0 < $1 })
    #expect(rows.last.map { $0[12] } != "0")
  }

  @Test func `says what was compacted`() throws {
    let result = try top(
      [],
      [
        { store, engine in try store.addTowns(60, nameByteCount: 900, to: engine) },
        { store, engine in
          store.disk.advance(bySeconds: 1)
          try engine.compact(keeping: HistoryRetention(byteCount: 0))
        },
      ]
    )
    #expect(result.output.contains("compacted "), "\(result.transcript)")
  }
}
