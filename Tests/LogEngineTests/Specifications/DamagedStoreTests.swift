import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogFormat

@Suite struct `A damaged store opened up to its damage` {
  /// A store of several segments whose writer was killed.
  private func makeStore() throws -> MemoryStore {
    let store = try MemoryStore()
    try store.work(20, textLength: 6000)
    try store.engine.checkpoint()
    try store.work(10, textLength: 6000)
    store.abandon()
    #expect(store.segments.count > 2)
    return store
  }

  /// Opens the store, and holds it against what it was after the commit it ends with.
  @discardableResult
  private func check(_ store: MemoryStore, _ note: String) throws -> StorageEngine {
    let before = try store.disk.allFiles(in: store.path)
    let engine = try store.openReader(.readOnlyUpToDamage)
    let newest = Int(engine.lastCommit.rawValue)
    #expect(newest < store.history.count, "\(note)")
    let expected = store.history[newest]
    #expect(try MemoryStore.rows(of: engine) == expected, "\(note)")
    #expect(engine.rowCount(of: 1) == expected.count, "\(note)")
    #expect(throws: StorageError.readOnly(path: store.path)) { try engine.synchronize() }
    #expect(try store.disk.allFiles(in: store.path) == before, "\(note)")
    return engine
  }

  @Test func `shows everything where nothing is damaged`() throws {
    let store = try makeStore()
    let engine = try check(store, "whole")
    #expect(engine.recovery.damage == nil)
    #expect(Int(engine.lastCommit.rawValue) == store.history.count - 1)
  }

  @Test func `shows a commit's state and the place, whichever byte is damaged`() throws {
    let store = try makeStore()
    var damagedCount = 0
    for path in try store.disk.allFiles(in: store.path) where !path.hasSuffix("LOCK") {
      let whole = try store.bytes(of: path)
      for index in stride(from: 0, to: whole.count, by: 211) {
        var damaged = whole
        damaged[index] ^= 0x40
        try store.write(damaged, to: path)
        let engine = try check(store, "byte \(index) of \(path)")
        guard engine.recovery.damage == nil else {
          damagedCount += 1
          continue
        }
        // Where nothing is said, nothing but the commit that could be a torn one is missing.
        #expect(
          Int(engine.lastCommit.rawValue) >= store.history.count - 2,
          "byte \(index) of \(path)"
        )
      }
      try store.write(whole, to: path)
    }
    #expect(damagedCount > 100)
  }

  @Test(arguments: [0, 1, 4095, 4096])
  func `tells a segment that is cut off from one that is missing`(length: Int) throws {
    let store = try MemoryStore()
    try store.work(3)
    try store.close()
    let path = try #require(store.segments.first)
    try store.write(Array(try store.bytes(of: path).prefix(length)), to: path)
    #expect {
      try store.openReader()
    } throws: { error in
      guard case .corruption(let corruption)? = error as? StorageError,
        case .truncated(.segment, _, let available) = corruption.problem
      else { return false }
      return corruption.path == path && available == length
    }
  }

  @Test func `shows what comes before a segment that is missing or short`() throws {
    let store = try makeStore()
    let last = store.segments.last
    for path in store.segments {
      let whole = try store.bytes(of: path)
      for length in [nil, 0, 1, 4095, 4096, whole.count / 2] {
        if let length {
          try store.write(Array(whole.prefix(length)), to: path)
        } else {
          try store.disk.unlink(path)
        }
        let engine = try check(store, "\(length ?? -1) bytes of \(path)")
        if path != last { #expect(engine.recovery.damage != nil) }
        try store.write(whole, to: path)
      }
    }
  }

  @Test func `reads the log where the manifest is gone or short`() throws {
    let store = try makeStore()
    let path = try #require(store.disk.allFiles(in: store.path).last { $0.contains("manifest") })
    let whole = try store.bytes(of: path)
    for length in [nil, 0, 4095, whole.count - 1] {
      if let length {
        try store.write(Array(whole.prefix(length)), to: path)
      } else {
        try store.disk.unlink(path)
      }
      let engine = try check(store, "\(length ?? -1) bytes")
      #expect(engine.recovery.damage != nil)
      #expect(Int(engine.lastCommit.rawValue) == store.history.count - 1)
      try store.write(whole, to: path)
    }
  }

  @Test func `is an error where there is no store`() throws {
    #expect(throws: StorageError.missingStore(path: "nothing")) {
      try StorageEngine.open(
        at: "nothing",
        options: MemoryStore.options(.readOnlyUpToDamage),
        fileSystem: InMemoryFileSystem()
      )
    }
  }

  @Test(arguments: [false, true])
  func `reports a row that has changed since it was recovered`(isForged: Bool) throws {
    let store = try MemoryStore()
    let key = try store.commit([.insert(77, "needle in the log")])[0]
    let path = try #require(store.segments.last)
    let bytes = try store.bytes(of: path)
    let needle = Array("needle in the log".utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: needle) })
    // A flag, nulls, an integer and where the text ends stand before it.
    let start = place - 12 - RecordHeader.shortByteCount
    var record = Array(bytes[start..<(place + needle.count)])
    // Where the row says that its text ends.
    record[place - start - 2] = 0xFF
    if isForged { record.put(RecordHeader.checksum(of: record.span.bytes), at: 20) }
    try store.disk.open(path, .write).writeAll(record.span.bytes, at: start)
    let reference = RowReference(table: 1, key: key)
    #expect(throws: StorageError.self) {
      try store.engine.withRow(reference) { row, _ in MemoryStore.layout.text(1, in: row).count }
    }
    #expect(throws: StorageError.self) { try MemoryStore.rows(of: store.engine) }
  }
}
