import LogEngine
import Synchronization
import Testing

@testable import logstore_inspect

@Suite struct `The tail of a store` {
  @Test func `is its last commits`() throws {
    let store = try TownStore()
    let session = Session(disk: store.disk)
    try expectSnapshot(try session.run("tail", store.path, "-n", "3").transcript, "tail")
    try expectSnapshot(
      try session.run("tail", store.path, "-n", "2", "--counts", "--format", "json").transcript,
      "tail-counts-json"
    )
    #expect(try session.run("tail", store.path, "-n", "0").output == "")
  }

  /// Follows a store while something is done to it at each look.
  private func follow(
    _ arguments: [String],
    _ steps: [(TownStore, StorageEngine) throws -> Void]
  ) throws -> Session.Result {
    let store = try TownStore()
    return try store.write { engine in
      var session = Session(disk: store.disk)
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
      return try session.run(["tail", store.path, "-f"] + arguments)
    }
  }

  @Test(arguments: [OutputFormat.text, .ndjson, .csv])
  func `goes on with each commit as it is made`(format: OutputFormat) throws {
    let result = try follow(
      ["-n", "1", "--format", format.rawValue],
      [
        { _, _ in },
        { store, engine in try store.addTowns(2, to: engine) },
        { store, engine in
          try store.update(1, column: 0, engine, by: "ann") { TownStore.town(1, "Lisboa") }
        },
        { _, engine in
          try engine.apply([.renameColumn(table: 1, column: 4, to: "head")])
        },
        { store, engine in try store.addTowns(1, to: engine) },
      ]
    )
    #expect(result.error == nil)
    try expectSnapshot(result.transcript, "tail-follow-\(format.rawValue)")
  }

  @Test func `goes on where commits were packed before it could read them`() throws {
    let result = try follow(
      ["-n", "0", "--counts"],
      [
        { store, engine in
          try store.addTowns(900, nameByteCount: 60, to: engine)
          try engine.compact()
        },
        { store, engine in try store.addTowns(1, to: engine) },
      ]
    )
    #expect(result.error == nil, "\(result.transcript)")
    #expect(result.notices.contains("were packed before they were shown"))
    #expect(result.output.contains("commit 910"))
  }

  @Test func `goes on across new segments and compactions`() throws {
    let result = try follow(
      ["-n", "0", "--counts"],
      (0..<12).map { step in
        { store, engine in
          try store.addTowns(10, nameByteCount: 900, to: engine)
          if step % 3 == 2 { try engine.compact(keeping: HistoryRetention(byteCount: 40_000)) }
        }
      }
    )
    #expect(result.error == nil, "\(result.transcript)")
    let commits = result.output.split(separator: "\n")
      .compactMap { $0.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } }
    #expect(commits == Array(10...129))
  }
}
