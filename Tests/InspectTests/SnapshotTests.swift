import LogEngine
import Terminal
import Testing

@testable import logstore_inspect

/// What the commands show of one small store, compared with files in `Snapshots/`.
@Suite struct `Of a sound store` {
  struct Shown: CustomTestStringConvertible, Sendable {
    let name: String
    let arguments: [String]
    var testDescription: String { name }

    init(_ name: String, _ arguments: String...) {
      self.name = name
      self.arguments = arguments
    }
  }

  static let shown: [Shown] = [
    Shown("summary", "summary", "towns.store"),
    Shown("summary-columns-all", "summary", "towns.store", "--columns", "--all"),
    Shown("summary-json", "summary", "towns.store", "--format", "json"),
    Shown("summary-csv", "summary", "towns.store", "--format", "csv"),
    Shown("dump", "dump", "towns.store"),
    Shown("dump-all", "dump", "towns.store", "--all", "--entity", "Town"),
    Shown("dump-json", "dump", "towns.store", "--format", "json"),
    Shown("dump-ndjson", "dump", "towns.store", "--format", "ndjson", "--limit", "1"),
    Shown("dump-csv", "dump", "towns.store", "--format", "csv", "--entity", "Town"),
    Shown("dump-key", "dump", "towns.store", "--entity", "Town", "--key", "2-4"),
    Shown("dump-commits", "dump", "towns.store", "--commits", "4-6"),
    Shown("dump-at", "dump", "towns.store", "--at", "3", "--entity", "Town"),
    Shown("dump-full-bytes", "dump", "towns.store", "--full-bytes", "--entity", "Note"),
    Shown("dump-nothing-json", "dump", "towns.store", "--limit", "0", "--format", "json"),
    Shown("get", "get", "towns.store", "Town", "2"),
    Shown("get-at", "get", "towns.store", "Town/2", "--at", "4"),
    Shown("get-deleted", "get", "towns.store", "Town/3"),
    Shown("get-json", "get", "towns.store", "Town/2", "--format", "json"),
    Shown("get-csv", "get", "towns.store", "Town/2", "--format", "csv"),
    Shown("schema", "schema", "towns.store"),
    Shown("schema-versions", "schema", "towns.store", "--entity", "Town", "--all", "--versions"),
    Shown("schema-json", "schema", "towns.store", "--versions", "--format", "json"),
    Shown("schema-ndjson", "schema", "towns.store", "--format", "ndjson"),
    Shown("schema-csv", "schema", "towns.store", "--format", "csv"),
    Shown("blobs", "blobs", "towns.store", "--check"),
    Shown("blobs-ndjson", "blobs", "towns.store", "--format", "ndjson"),
    Shown("history", "history", "towns.store"),
    Shown("history-changes", "history", "towns.store", "--changes"),
    Shown("history-entity", "history", "towns.store", "--entity", "Town", "--key", "2", "-c"),
    Shown("history-author", "history", "towns.store", "--author", "ann"),
    Shown("history-last", "history", "towns.store", "--last", "2"),
    Shown("history-ndjson", "history", "towns.store", "--format", "ndjson"),
    Shown(
      "history-changes-ndjson",
      "history",
      "towns.store",
      "-c",
      "--commits",
      "2-5",
      "--format",
      "ndjson"
    ),
    Shown("history-changes-csv", "history", "towns.store", "-c", "--format", "csv"),
    Shown("segments", "segments", "towns.store"),
    Shown("segments-json", "segments", "towns.store", "--format", "json"),
    Shown("segments-csv", "segments", "towns.store", "--format", "csv"),
    Shown("frames", "frames", "towns.store"),
    Shown("frames-hex", "frames", "towns.store", "1", "--hex", "--offset", "5300-5700"),
    Shown("frames-only", "frames", "towns.store", "--no-records"),
    Shown("frames-ndjson", "frames", "towns.store", "--format", "ndjson"),
    Shown("frames-csv", "frames", "towns.store", "--format", "csv"),
    Shown("verify", "verify", "towns.store"),
    Shown("verify-json", "verify", "towns.store", "--format", "json"),
    Shown("verify-csv", "verify", "towns.store", "--format", "csv"),
  ]

  @Test(arguments: shown)
  func `each command shows what it showed before`(_ shown: Shown) throws {
    let store = try TownStore()
    let result = try Session(disk: store.disk).run(shown.arguments)
    #expect(result.status == .success)
    try expectSnapshot(result.transcript, shown.name)
  }

  @Test(arguments: [40, 60, 80, 100])
  func `tables fit the terminal`(width: Int) throws {
    let store = try TownStore()
    var session = Session(disk: store.disk)
    session.width = width
    for command in ["summary", "segments", "schema", "blobs", "history", "frames"] {
      let result = try session.run(command, "towns.store")
      // Figures are never cut off: below 60 columns the map of files stays too wide.
      if command == "segments", width < 70 { continue }
      for line in result.output.split(separator: "\n") {
        #expect(String(line).displayWidth <= width, "\(command): \(line)")
      }
    }
  }

  @Test func `colours are there when they are asked for, and nothing else differs`() throws {
    for command in ["summary", "segments", "schema", "history", "frames", "verify", "blobs"] {
      var session = Session(disk: try TownStore().disk)
      let plain = try session.run(command, "towns.store").output
      session = Session(disk: try TownStore().disk)
      session.hasColour = true
      let coloured = try session.run(command, "towns.store").output
      #expect(coloured.contains("\u{1B}[") || command == "segments" || command == "blobs")
      #expect(coloured.replacing(/\u{1B}\[[0-9]*m/, with: "") == plain)
    }
  }

  @Test func `a reader beside the writer sees its last commit`() throws {
    let store = try TownStore()
    try store.write { engine in
      try store.addTowns(3, to: engine)
      let session = Session(disk: store.disk)
      #expect(try session.run("get", store.path, "Town/7").status == .success)
      try store.addTowns(1, to: engine)
      #expect(
        try session.run("get", store.path, "Town/8").output.hasPrefix("Town/8  as of commit 13")
      )
      #expect(try session.run("verify", store.path).status == .success)
    }
  }
}
