import LogEngine
import LogTools
import RowFormat
import Terminal
import Testing

@testable import logstore_inspect

@Suite struct `Of a damaged store` {
  /// The offset of the first frame of a commit.
  private func frame(of commit: UInt64, in store: TownStore) throws -> FrameDescription {
    let inspection = StoreInspection(at: store.path, fileSystem: store.disk)
    var found: FrameDescription?
    try inspection.forEachPart(of: SegmentID(rawValue: 1)) { part in
      guard case .frame(let frame) = part, frame.sequence.rawValue == commit,
        frame.kind == .commit
      else { return .proceed }
      found = frame
      return .stop
    }
    return try #require(found)
  }

  private func makeStore(harmed commit: UInt64, at offset: Int) throws -> TownStore {
    let store = try TownStore()
    let frame = try frame(of: commit, in: store)
    try store.disk.harm(store.segmentPath(1), at: frame.offset + offset)
    return store
  }

  /// A byte of a record of commit 5, an update of Porto.
  private func makeStoreWithHarmedRecord() throws -> TownStore { try makeStore(harmed: 5, at: 60) }

  @Test(arguments: [
    "summary", "dump", "history", "schema", "segments", "frames", "verify", "blobs",
  ])
  func `all is shown that can be shown, and where it stops`(command: String) throws {
    let store = try makeStoreWithHarmedRecord()
    let result = try Session(disk: store.disk).run(command, store.path)
    // The checkpoint tells what these need; they do not look at the record.
    let looksAway = ["summary", "schema", "segments", "blobs"].contains(command)
    #expect(result.status == (looksAway ? .success : .damaged))
    try expectSnapshot(result.transcript, "damaged-\(command)")
  }

  private func removeCheckpoints(of store: TownStore) throws {
    for name in try store.disk.list(store.path + "/index") ?? [] {
      try store.disk.unlink(store.path + "/index/" + name)
    }
  }

  @Test func `the shell says of each answer what it lacks, and goes on`() throws {
    let store = try makeStoreWithHarmedRecord()
    var session = Session(disk: store.disk)
    session.lines = TextLines(["Town columns name", "count Note"])
    let result = try session.run("shell", store.path)
    #expect(result.status == .damaged && result.error?.what == "1 line failed")
    #expect(result.output.contains("Lisbon") && result.output.contains("Note"))
    #expect(result.notices.hasPrefix("error: line 1: the store is damaged"))
    #expect(result.notices.contains("lacks Town/2"))
  }

  @Test func `the shell says once where the log ends that it could read`() throws {
    let store = try makeStoreWithHarmedRecord()
    try removeCheckpoints(of: store)
    var session = Session(disk: store.disk)
    session.lines = TextLines(["count Town", "nonsense"])
    let result = try session.run("shell", store.path)
    #expect(result.status == .damaged && result.error?.what == "1 line failed")
    #expect(result.output.contains("Town       3"))
    #expect(result.notices.contains("error: the store is damaged"))
    session.lines = TextLines(["count Town"])
    let other = try session.run("shell", store.path)
    #expect(other.status == .damaged && other.notices.isEmpty)
    #expect(other.error?.advice?.contains("what is shown ends with commit 4") == true)
    let lines = TypedLines("count Town", "count Town")
    session.lines = lines
    let watched = try session.run("shell", store.path)
    #expect(watched.error == nil)
    #expect(watched.notices.split(separator: "error: ").count == 1)
    #expect(watched.notices.hasPrefix("error: the store is damaged"))
  }

  @Test func `without its checkpoint the log says where it stops`() throws {
    let store = try makeStoreWithHarmedRecord()
    try removeCheckpoints(of: store)
    let session = Session(disk: store.disk)
    let result = try session.run("dump", store.path, "--entity", "Town")
    #expect(result.status == .damaged)
    try expectSnapshot(result.transcript, "damaged-dump-without-checkpoint")
    #expect(try session.run("get", store.path, "Town/1").output.contains("Lisbon"))
    #expect(try session.run("history", store.path).output.contains("commit 4"))
  }

  @Test(arguments: ["count", "query", "export", "schema", "dump"])
  func `a command names the damage, and not the entity, if that is in what cannot be read`(
    command: String
  ) throws {
    let store = try TownStore()
    try removeCheckpoints(of: store)
    try store.disk.open(store.segmentPath(1), .write).setSize(4500)
    let entity = ["schema", "dump"].contains(command) ? ["--entity", "Town"] : ["Town"]
    let result = try Session(disk: store.disk).run([command, store.path] + entity)
    #expect(result.status == .damaged)
    #expect(result.error?.what.hasPrefix("the store is damaged") == true)
  }

  @Test func `the row itself says what is wrong with it`() throws {
    let store = try makeStoreWithHarmedRecord()
    let result = try Session(disk: store.disk).run("get", store.path, "Town/2")
    #expect(result.status == .damaged)
    try expectSnapshot(result.transcript, "damaged-get")
  }

  @Test func `a header of a frame costs that frame only`() throws {
    let store = try makeStore(harmed: 6, at: 20)
    let result = try Session(disk: store.disk).run("frames", store.path)
    #expect(result.status == .damaged)
    try expectSnapshot(result.transcript, "damaged-frame-header")
  }

  @Test func `many problems of one kind are reported together`() throws {
    let store = try TownStore()
    try store.write { engine in try store.addTowns(30, to: engine) }
    try store.disk.harm(store.segmentPath(1), at: 4884)
    let result = try Session(disk: store.disk).run("verify", store.path)
    #expect(result.status == .damaged)
    try expectSnapshot(result.transcript, "damaged-verify-many")
    let all = try Session(disk: store.disk).run("verify", store.path, "--format", "ndjson")
    #expect(all.output.split(separator: "\n").count > 30)
  }

  @Test func `a damaged record is shown among its neighbours`() throws {
    let store = try TownStore()
    try store.disk.harm(store.segmentPath(1), at: 4530)
    let session = Session(disk: store.disk)
    let result = try session.run("frames", store.path, "--offset", "4392-4719")
    #expect(result.status == .damaged)
    try expectSnapshot(result.transcript, "damaged-record")
  }

  @Test func `frames are found without the segment's header`() throws {
    let store = try TownStore()
    try store.disk.harm(store.segmentPath(1), at: 20)
    let session = Session(disk: store.disk)
    let result = try session.run("frames", store.path, "--no-records")
    #expect(result.status == .damaged)
    try expectSnapshot(result.transcript, "damaged-segment-header")
    #expect(try session.run("segments", store.path).status == .damaged)
  }

  @Test(arguments: [true, false])
  func `a blob is named, and its state`(isMissing: Bool) throws {
    let store = try TownStore()
    let blob = "\(store.path)/blobs/00/0000000000000001.blob"
    if isMissing {
      try store.disk.unlink(blob)
    } else {
      try store.disk.harm(blob, at: 1000)
    }
    let session = Session(disk: store.disk)
    let blobs = try session.run("blobs", store.path, "--check")
    #expect(blobs.status == .damaged)
    try expectSnapshot(blobs.transcript, "damaged-blobs-\(isMissing ? "missing" : "harmed")")
    let verify = try session.run("verify", store.path)
    #expect(verify.status == .damaged)
    try expectSnapshot(verify.transcript, "damaged-verify-\(isMissing ? "missing" : "harmed")-blob")
  }

  @Test func `a commit that was never acknowledged is no damage`() throws {
    let store = try TownStore()
    let engine = try StorageEngine.open(
      at: store.path,
      options: TownStore.options(),
      fileSystem: store.disk
    )
    try store.addTowns(1, to: engine)
    let inspection = StoreInspection(at: store.path, fileSystem: store.disk)
    var last: FrameDescription?
    for segment in try inspection.segments() {
      try inspection.forEachPart(of: segment.segment) { part in
        if case .frame(let frame) = part, frame.kind == .commit { last = frame }
        return .proceed
      }
    }
    let frame = try #require(last)
    #expect(frame.sequence.rawValue == 10)
    let segment = Int(frame.segment.rawValue)
    try store.disk.harm(store.segmentPath(segment), at: frame.range.upperBound - 10)
    withExtendedLifetime(engine) {}
    let session = Session(disk: store.disk)
    let frames = try session.run("frames", store.path, "--no-records")
    let verify = try session.run("verify", store.path)
    #expect(frames.status == .success)
    #expect(verify.status == .success)
    try expectSnapshot(frames.transcript, "torn-frames")
    try expectSnapshot(verify.transcript, "torn-verify")
  }

  /// Whatever byte is wrong, no command traps, and none says that all is well and shows something else.
  @Test func `no command traps, wherever the harm is`() throws {
    let sound = try TownStore()
    let size = try #require(try sound.disk.size(of: sound.segmentPath(1)))
    let expected = try Session(disk: sound.disk).run("dump", sound.path, "--format", "ndjson")
    for offset in stride(from: 0, to: min(size, 6600), by: 89) {
      let store = try TownStore()
      try store.disk.harm(store.segmentPath(1), at: offset)
      let session = Session(disk: store.disk)
      for arguments in [
        ["summary", store.path], ["segments", store.path], ["frames", store.path, "--hex"],
        ["history", store.path, "-c"], ["schema", store.path, "--versions"],
        ["get", store.path, "Town/2"], ["verify", store.path], ["blobs", store.path],
      ] {
        _ = try session.run(arguments)
      }
      let dump = try session.run("dump", store.path, "--format", "ndjson")
      if dump.status == .success { #expect(dump.output == expected.output, "byte \(offset)") }
    }
  }
}
