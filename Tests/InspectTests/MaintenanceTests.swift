import LogEngine
import RowFormat
import Synchronization
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `A copy` {
  @Test(arguments: OutputFormat.allCases)
  func `is the store as of its last commit, also beside the writer`(format: OutputFormat) throws {
    let store = try TownStore()
    try store.write { engine in
      let session = Session(disk: store.disk)
      let result = try session.run(
        "backup",
        "towns.store/",
        "copy.store",
        "--format",
        format.rawValue
      )
      #expect(result.status == .success)
      try expectSnapshot(result.transcript, "backup-\(format.rawValue)")
      try store.addTowns(1, to: engine)
      let diff = try session.run("diff", "towns.store", "copy.store")
      #expect(diff.output.contains("− Town/5"))
      #expect(try session.run("verify", "copy.store").status == .success)
    }
  }

  @Test func `does not replace anything`() throws {
    let store = try TownStore()
    try store.copy(to: "copy.store")
    let result = try Session(disk: store.disk).run("backup", "towns.store", "copy.store")
    #expect(result.status == .usage)
    try expectSnapshot(result.transcript, "error-destination")
  }

  @Test func `is not made of a damaged store`() throws {
    let store = try TownStore()
    try store.disk.harm(store.segmentPath(1), at: 20)
    let result = try Session(disk: store.disk).run("backup", "towns.store", "copy.store")
    #expect(result.status == .damaged)
  }
}

@Suite struct `A compaction by command` {
  private func makeLargeStore() throws -> TownStore {
    let store = try TownStore()
    try store.write { engine in try store.addTowns(60, nameByteCount: 1000, to: engine) }
    return store
  }

  @Test(arguments: OutputFormat.allCases)
  func `packs the log, and every row is still there`(format: OutputFormat) throws {
    let store = try makeLargeStore()
    let session = Session(disk: store.disk)
    let before = try session.run("dump", store.path, "--format", "ndjson").output
    let result = try session.run("compact", store.path, "--format", format.rawValue)
    #expect(result.status == .success)
    try expectSnapshot(result.transcript, "compact-\(format.rawValue)")
    #expect(try session.run("dump", store.path, "--format", "ndjson").output == before)
    #expect(try session.run("verify", store.path).status == .success)
  }

  @Test(arguments: [
    ["segments"], ["segments", "--format", "ndjson"], ["history", "--last", "40"],
    ["summary", "--format", "json"], ["verify"],
  ])
  func `leaves a store that is shown like any other`(arguments: [String]) throws {
    let store = try makeLargeStore()
    let session = Session(disk: store.disk)
    _ = try session.run("compact", store.path)
    try store.write { engine in
      try store.update(1, column: 0, engine, by: "ann") { TownStore.town(1, "Lisboa") }
      try store.addTowns(3, to: engine)
    }
    let result = try session.run(arguments + [store.path])
    #expect(result.status == .success)
    try expectSnapshot(result.transcript, "compacted-" + arguments.joined(separator: "-"))
  }

  @Test func `shows a row whose beginnings were packed`() throws {
    let store = try makeLargeStore()
    let session = Session(disk: store.disk)
    _ = try session.run("compact", store.path)
    try expectSnapshot(try session.run("get", store.path, "Town/1").transcript, "compacted-get")
    try store.write { engine in
      try store.update(1, column: 0, engine, by: "ann") { TownStore.town(1, "Lisboa") }
    }
    let result = try session.run("get", store.path, "Town/1")
    try expectSnapshot(result.transcript, "compacted-get-changed")
    let gone = try session.run("dump", store.path, "--at", "3")
    #expect(gone.status == .usage)
    try expectSnapshot(gone.transcript, "error-commit-gone")
  }

  @Test func `has nothing to do where all is packed`() throws {
    let store = try TownStore()
    _ = try Session(disk: store.disk).run("compact", store.path)
    let result = try Session(disk: store.disk).run("compact", store.path)
    #expect(result.status == .success)
    try expectSnapshot(result.transcript, "compact-nothing")
  }

  @Test func `is refused beside a writer`() throws {
    let store = try TownStore()
    try store.write { _ in
      store.disk.process.store(18, ordering: .relaxed)
      let result = try Session(disk: store.disk).run("compact", store.path)
      #expect(result.status == .locked)
      try expectSnapshot(result.transcript, "error-locked")
    }
  }

  @Test func `does not make a store where there is none`() throws {
    let store = try TownStore()
    try store.disk.makeDirectory("empty")
    for path in ["empty", "nowhere"] {
      #expect(try Session(disk: store.disk).run("compact", path).status == .usage)
    }
    #expect(try store.disk.list("nowhere") == nil)
  }
}

@Suite struct `A salvage by command` {
  @Test(arguments: OutputFormat.allCases)
  func `says what was lost`(format: OutputFormat) throws {
    let store = try TownStore()
    try store.disk.harm(store.segmentPath(1), at: 4884)
    try store.disk.unlink("\(store.path)/blobs/00/0000000000000001.blob")
    let session = Session(disk: store.disk)
    let result = try session.run(
      "salvage",
      store.path,
      "saved.store",
      "--format",
      format.rawValue
    )
    #expect(result.status == .damaged)
    try expectSnapshot(result.transcript, "salvage-\(format.rawValue)")
    #expect(try session.run("verify", "saved.store").status == .success)
  }

  @Test func `of a sound store loses nothing`() throws {
    let store = try TownStore()
    let session = Session(disk: store.disk)
    let result = try session.run("salvage", store.path, "saved.store")
    #expect(result.status == .success)
    try expectSnapshot(result.transcript, "salvage-sound")
    let diff = try session.run("diff", store.path, "saved.store", "--all", "--exit-code")
    #expect(diff.status == .success, "\(diff.transcript)")
  }
}
