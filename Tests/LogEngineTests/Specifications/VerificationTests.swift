import LogEngine
import LogEngineTestSupport
import LogTools
import RowFormat
import Synchronization
import Testing

@Suite struct `Verifying a store` {
  private func makeStore() throws -> MemoryStore {
    let store = try MemoryStore()
    try store.work(30, textLength: 6000)
    #expect(store.segments.count > 2)
    return store
  }

  private func verify(_ store: MemoryStore) throws -> VerificationReport {
    try StorageEngine.verify(at: store.path, fileSystem: store.disk)
  }

  @Test func `that is sound finds nothing, open or not`() throws {
    let store = try makeStore()
    let open = try store.engine.verify()
    #expect(open.problems.isEmpty)
    #expect(open.rowCount == store.rows.count)
    #expect(open.commitCount == store.history.count - 1)
    #expect(open.lastCommit == store.engine.lastCommit)
    #expect(open.segmentCount == store.segments.count)
    let reader = try store.openReader()
    try store.work(3)
    #expect(try reader.verify().problems.isEmpty)
    store.abandon()
    let killed = try verify(store)
    #expect(killed.isSound)
    #expect(killed.rowCount == store.rows.count)
    try store.open()
    try store.close()
    #expect(try verify(store).problems.isEmpty)
  }

  @Test(arguments: [10, 20_000], [false, true])
  func `finds nothing beside a writer, at whatever call that goes on`(
    textLength: Int,
    packs: Bool
  ) throws {
    var first = 1
    while true {
      let store = try MemoryStore()
      try store.work(8, textLength: 5000)
      store.engine.performBackgroundWork()
      let known = store.history.count
      let moment = Atomic<Int>(.max)
      let fileSystem = HookedFileSystem(store.disk) { call in
        // Again after some more calls, but not for ever.
        guard call.number == moment.load(ordering: .relaxed), store.history.count < known + 12
        else {
          return
        }
        moment.add(17, ordering: .relaxed)
        try store.work(3, textLength: textLength)
        if packs {
          try store.engine.compact()
          try store.engine.checkpoint()
        }
      }
      let reader = try store.openReader(on: fileSystem)
      moment.store(fileSystem.callCount + first, ordering: .relaxed)
      // A segment that is made ready may be one that a dead writer left, as far as a reader can tell.
      let problems = try reader.verify().problems.filter { $0.kind != .unfinished }
      #expect(problems == [], "call \(first)")
      try fileSystem.rethrow()
      if store.history.count == known { break }
      first += 1
    }
    #expect(first > 20)
  }

  @Test func `finds orphans of a dead writer, and none that its own is writing`() throws {
    let store = try makeStore()
    store.engine.performBackgroundWork()
    let names = ["checkpoint", "keys-000000000000002a", "pack"]
    let temporary = names.map { "\(store.path)/tmp/\($0)" }
    for path in temporary { try store.write([1], to: path) }
    #expect(try store.engine.verify().problems == [])
    let torn = store.path + "/tmp/torn-0000000000000001-512"
    try store.write([1], to: torn)
    #expect(try store.engine.verify().problems.map(\.path) == [torn])
    store.abandon()
    let found = try verify(store).problems.filter { $0.kind == .orphan }
    #expect(found.map(\.path).sorted() == (temporary + [torn]).sorted())
  }

  @Test func `tells how far it has come`() throws {
    let store = try makeStore()
    var last: [MaintenanceProgress.Phase: MaintenanceProgress] = [:]
    _ = try store.engine.verify { progress in
      #expect((last[progress.phase]?.completed ?? 0) <= progress.completed)
      last[progress.phase] = progress
    }
    #expect(last.count == 3)
    #expect(last.values.allSatisfy { $0.completed == $0.total })
  }

  @Test func `finds every byte that is damaged, and where`() throws {
    let store = try makeStore()
    try store.close()
    for path in try store.disk.allFiles(in: store.path) where !path.hasSuffix("LOCK") {
      let whole = try store.bytes(of: path)
      let isOldManifest = path.hasSuffix("manifest.0000000000000001")
      for index in stride(from: 0, to: whole.count, by: 911) {
        var damaged = whole
        damaged[index] ^= 0x08
        try store.write(damaged, to: path)
        let report = try verify(store)
        // Where a segment's end is declared nothing behind it matters.
        let isDead = whole[index...].allSatisfy { $0 == 0 } && path != store.segments.last
        if !isDead { #expect(!report.problems.isEmpty, "byte \(index) of \(path)") }
        if !isDead, !isOldManifest {
          #expect(report.problems.contains { $0.path == path }, "byte \(index) of \(path)")
        }
      }
      try store.write(whole, to: path)
    }
  }

  @Test func `finds all of several damages`() throws {
    let store = try makeStore()
    store.abandon()
    for path in store.segments.dropLast() {
      var bytes = try store.bytes(of: path)
      bytes[9000] ^= 1
      bytes[30_000] ^= 1
      try store.write(bytes, to: path)
    }
    let report = try verify(store)
    #expect(!report.isSound)
    for path in store.segments.dropLast() {
      let found = report.problems.filter { $0.path == path && $0.severity == .damage }
      #expect(found.count >= 2, "\(path)")
    }
    #expect(report.recordCount > 10)
  }

  @Test func `finds files that belong to nothing, and segments that are missing`() throws {
    let store = try makeStore()
    store.abandon()
    try store.write([1], to: store.path + "/notes.txt")
    try store.write([1], to: store.path + "/log/copy of a segment")
    try store.write([1], to: store.path + "/tmp/segment")
    let orphans = try verify(store)
    #expect(orphans.isSound)
    #expect(orphans.problems.filter { $0.kind == .orphan }.count == 3)
    try store.disk.unlink(store.segments[1])
    let report = try verify(store)
    #expect(!report.isSound)
    #expect(report.problems.contains { $0.kind == .damaged(.missing(.segment)) })
  }

  @Test func `takes a damaged checkpoint for no loss`() throws {
    let store = try makeStore()
    try store.engine.checkpoint()
    store.abandon()
    let path = try #require(store.disk.allFiles(in: store.path + "/index").last)
    let whole = try store.bytes(of: path)
    #expect(try verify(store).problems.isEmpty)
    for index in stride(from: 0, to: whole.count, by: 99) {
      var bytes = whole
      bytes[index] ^= 1
      try store.write(bytes, to: path)
      let report = try verify(store)
      #expect(report.isSound)
      #expect(report.problems.map(\.path) == [path], "byte \(index)")
    }
  }

  @Test func `takes a torn commit for what it is`() throws {
    let store = try makeStore()
    let path = try #require(store.segments.last)
    let before = try store.bytes(of: path)
    try store.work(1)
    store.abandon()
    var bytes = try store.bytes(of: path)
    let start = try #require(zip(before, bytes).enumerated().first { $1.0 != $1.1 }?.offset)
    bytes[start + 50] ^= 1
    try store.write(bytes, to: path)
    let report = try verify(store)
    #expect(report.isSound)
    #expect(report.problems.count == 1)
    #expect(report.problems.first?.offset == start)
  }

  @Test func `is an error where there is none`() throws {
    #expect(throws: StorageError.missingStore(path: "nowhere")) {
      try StorageEngine.verify(at: "nowhere", fileSystem: InMemoryFileSystem())
    }
  }
}
