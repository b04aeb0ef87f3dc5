import Locking
import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `An increment of a checkpoint` {
  /// A store with a checkpoint, so many increments, and a commit after them.
  private func makeStore(increments: Int = 3, perIncrement rows: Int = 70) throws -> SimulatedStore
  {
    let store = try SimulatedStore()
    try store.insert(700)
    try store.engine.checkpoint()
    for round in 0..<increments {
      let key = UInt64(round * 7 + 1)
      try store.insert(rows)
      try store.update(key, number: -Int64(round))
      try store.delete(key + 1)
      try store.engine.requireWriter().appendIncrement()
    }
    try store.update(5, number: -100)
    #expect(store.checkpoints.count == 1)
    return store
  }

  /// Where the increments begin in the checkpoint's file, and all of its bytes.
  private func file(of store: SimulatedStore) throws -> (path: String, start: Int, bytes: [UInt8]) {
    let path = try #require(store.checkpoints.last)
    let files = CheckpointFiles(store.engine.state)
    let start = try CheckpointFile(reading: 1, files).metadataEnd
    return (path, start, store.disk.bytes(of: path))
  }

  @Test(arguments: [1, 3, 20])
  func `leaves only later commits to be read`(count: Int) throws {
    let store = try makeStore(increments: count, perIncrement: 9)
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == 1)
    #expect(again.engine.recovery.scannedCommitCount == 1)
    #expect(again.engine.recovery.lastCommit == store.engine.lastCommit)
    #expect(try again.rows() == store.rows())
    #expect(again.usages == store.usages)
    #expect(again.engine.nextKey(in: 1) == store.engine.nextKey(in: 1))
  }

  @Test func `is as small as what changed`() throws {
    let store = try SimulatedStore()
    try store.insert(7000)
    try store.engine.checkpoint()
    let (_, start, _) = try file(of: store)
    try store.update(3000, number: 1)
    try store.engine.requireWriter().appendIncrement()
    #expect(try file(of: store).bytes.count - start < 400)
  }

  @Test func `is not written twice of the same state`() throws {
    let store = try makeStore(increments: 1)
    try store.engine.requireWriter().appendIncrement()
    let before = try file(of: store).bytes
    try store.engine.requireWriter().appendIncrement()
    #expect(try file(of: store).bytes == before)
  }

  @Test func `goes on behind those of an earlier process`() throws {
    var store = try makeStore()
    for round in 1...4 as ClosedRange<Int64> {
      store = try SimulatedStore(on: store.disk)
      #expect(store.engine.recovery.scannedCommitCount == 1)
      try store.insert(5)
      try store.engine.requireWriter().appendIncrement()
      try store.update(7, number: round)
    }
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == 1)
    #expect(again.engine.recovery.scannedCommitCount == 1)
    #expect(try again.rows() == store.rows())
  }

  @Test func `is passed over, with those behind it, if any byte of it is changed`() throws {
    let store = try makeStore(perIncrement: 3)
    let rows = try store.rows()
    let usages = store.usages
    let (path, start, bytes) = try file(of: store)
    for offset in start..<bytes.count {
      let disk = store.disk.damaged(path, .flip(bit: offset * 8 + offset % 8))
      let again = try SimulatedStore(on: disk)
      #expect(again.engine.recovery.scannedCommitCount > 1, "byte \(offset)")
      #expect(try again.rows() == rows, "byte \(offset)")
      #expect(again.usages == usages, "byte \(offset)")
    }
  }

  @Test func `is passed over if it is cut off anywhere, and written anew`() throws {
    let store = try makeStore(perIncrement: 3)
    let rows = try store.rows()
    let (path, start, bytes) = try file(of: store)
    for length in start..<bytes.count {
      let again = try SimulatedStore(on: store.disk.damaged(path, .resize(length)))
      #expect(again.engine.recovery.checkpoint == 1)
      #expect(again.engine.recovery.scannedCommitCount > 1, "length \(length)")
      #expect(try again.rows() == rows, "length \(length)")
      try again.engine.requireWriter().appendIncrement()
      let third = try SimulatedStore(on: again.disk)
      #expect(third.engine.recovery.scannedCommitCount == 0, "length \(length)")
      #expect(try third.rows() == rows, "length \(length)")
    }
  }

  @Test func `takes the place of a longer one that is damaged`() throws {
    let store = try makeStore(increments: 1, perIncrement: 200)
    let (path, start, _) = try file(of: store)
    let again = try SimulatedStore(on: store.disk.damaged(path, .flip(bit: (start + 40) * 8)))
    #expect(again.engine.recovery.scannedCommitCount == 4)
    // Replayed rows are changes, too; the increment is written where the damaged one was.
    try again.engine.requireWriter().appendIncrement()
    let third = try SimulatedStore(on: again.disk)
    #expect(third.engine.recovery.scannedCommitCount == 0)
    #expect(try third.rows() == store.rows())
  }

  @Test func `of a log that was longer is an error`() throws {
    let store = try makeStore()
    let path = try #require(store.segments.last)
    let disk = store.disk.damaged(path, .resize(SegmentHeader.byteCount + 64))
    let error = #expect(throws: StorageError.self) { try SimulatedStore(on: disk) }
    #expect(error?.isDamage == true)
  }

  @Test func `is not written after a change of the catalogue`() throws {
    let store = try makeStore(increments: 1)
    let before = try file(of: store).bytes
    try store.engine.apply([.addTable(name: "more")])
    try store.engine.requireWriter().appendIncrement()
    #expect(try file(of: store).bytes == before)
    #expect(try SimulatedStore(on: store.disk).rows() == store.rows())
    try store.engine.checkpoint()
    try store.update(6, number: 6)
    try store.engine.requireWriter().appendIncrement()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == 2)
    #expect(again.engine.recovery.scannedCommitCount == 0)
  }

  @Test func `continues the checkpoint that a compaction leaves`() throws {
    let store = try makeStore()
    try store.engine.compact()
    try store.insert(3)
    try store.engine.requireWriter().appendIncrement()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == 2)
    #expect(again.engine.recovery.scannedCommitCount == 0)
    #expect(try again.rows() == store.rows())
  }

  @Test func `names no packed rows`() throws {
    let store = try makeStore()
    try store.engine.compact()
    try store.engine.checkpoint()
    try store.update(500, number: 9)
    try store.insert(2)
    try store.engine.requireWriter().appendIncrement()
    try store.delete(501)
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == 2)
    #expect(again.engine.recovery.scannedCommitCount == 1)
    #expect(try again.rows() == store.rows())
    #expect(again.usages == store.usages)
  }

  @Test func `that cannot be written leaves the store as it was`() throws {
    let store = try makeStore(increments: 1)
    let writes = store.fileSystem.callCount(of: .write)
    store.fileSystem.setFaults(FaultPlan([Fault(.write, number: writes + 1, .once, .noSpace)]))
    #expect(throws: StorageError.self) { try store.engine.requireWriter().appendIncrement() }
    try store.insert(3)
    try store.engine.requireWriter().appendIncrement()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.scannedCommitCount == 0)
    #expect(try again.rows() == store.rows())
  }

  @Test func `is written when the log has grown by a sixteenth of the interval`() throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    var options = EngineOptions()
    options.background = .caller
    options.checkpointInterval = 1 << 20
    let engine = try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    try engine.apply([.addTable(name: "a")])
    let keys = engine.reserveKeys(2000, in: 1)
    try engine.apply([
      .addColumn(table: 1, name: "number", type: .integer, isNullable: false),
      .setLayout(table: 1, columns: [1]),
    ])
    try engine.checkpoint()
    let path = "/store/index/0000000000000001.ckpt"
    let start = engine.state.log.tail.withLock { Int($0.logEnd) }
    var last = fileSystem.disk.bytes(of: path).count
    var growths: [Int] = []
    for key in keys {
      var batch = engine.makeBatch()
      var writer = RowWriter()
      writer.begin(RowLayout([.integer]))
      writer.set(0, integer: 1)
      let row = writer.finish()
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: writer.bytes.extracting(row)
      )
      try engine.commit(&batch)
      engine.performBackgroundWork()
      let count = fileSystem.disk.bytes(of: path).count
      if count != last { growths.append(Int(key)) }
      last = count
    }
    let grown = engine.state.log.tail.withLock { Int($0.logEnd) } - start
    #expect(growths.count == grown / (64 << 10))
    #expect(growths.count > 1)
  }
}

@Suite struct `The slots of an increment` {
  private static let place = LogPlace(
    segment: SegmentID(rawValue: 3),
    offset: 8192,
    frame: 4096,
    chain: 7,
    sequence: 9,
    logPosition: 5000
  )

  @Test func `are read as they were written`() {
    let most = SegmentID.maximum.rawValue
    let slots: [(UInt64, RecordLocation)] = [
      (0, RecordLocation(segment: SegmentID(rawValue: 1), offset: 8, kind: .insert, depth: 0)),
      (
        1,
        RecordLocation(segment: SegmentID(rawValue: most), offset: 1 << 34, kind: .delete, depth: 0)
      ),
      (
        RowReference.maximumStoredKey,
        RecordLocation(segment: SegmentID(rawValue: 2), offset: 16, kind: .delta, depth: 15)
      ),
    ]
    var encoder = CheckpointIncrement.SlotEncoder()
    var increment = CheckpointIncrement(
      previous: 10,
      place: Self.place,
      durableEnd: 6000,
      usages: SegmentUsages(),
      nextBlob: BlobID(rawValue: 1)
    )
    for number in [1, 700] as [UInt16] {
      var table = CheckpointIncrement.Table(number: number, nextKey: 20, rowCount: 3)
      table.slotCount = slots.count
      increment.tables.append(table)
      encoder.beginTable()
      for (key, location) in slots { encoder.append(key, location) }
    }
    guard let bytes = increment.encode(encoder, at: 77, salt: 5),
      case (let decoded, var decoder)? = CheckpointIncrement.decode(bytes.bytes, at: 77, salt: 5)
    else {
      Issue.record("not decoded")
      return
    }
    #expect(decoded == increment)
    for _ in decoded.tables {
      decoder.beginTable()
      for (key, location) in slots {
        let slot = decoder.next(in: bytes.bytes)
        #expect(slot?.key == key)
        #expect(slot?.location == location)
      }
    }
    #expect(decoder.isAtEnd)
    let isElsewhere = CheckpointIncrement.decode(bytes.bytes, at: 78, salt: 5) != nil
    let isOfOther = CheckpointIncrement.decode(bytes.bytes, at: 77, salt: 6) != nil
    #expect(!isElsewhere && !isOfOther)
  }

  /// Gaps and differences of all lengths: most of them have few bytes, and are read at once.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `are read as they were written, however far apart they are`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var slots: [(UInt64, RecordLocation)] = []
    var key: UInt64 = 1
    var offset = 0
    for _ in 0..<2000 {
      key += UInt64.random(in: 1...(1 << UInt64.random(in: 0...12, using: &random)), using: &random)
      offset +=
        8 * Int.random(in: 0...(1 << Int.random(in: 0...20, using: &random)), using: &random)
      slots.append(
        (
          key,
          RecordLocation(
            segment: SegmentID(rawValue: .random(in: 1...(1 << UInt32(seed)), using: &random)),
            offset: offset % (1 << 34),
            kind: .delta,
            depth: .random(in: 1...15, using: &random)
          )
        )
      )
    }
    var encoder = CheckpointIncrement.SlotEncoder()
    encoder.beginTable()
    for (key, location) in slots { encoder.append(key, location) }
    let increment = CheckpointIncrement(
      previous: 10,
      place: Self.place,
      durableEnd: 6000,
      usages: SegmentUsages(),
      nextBlob: BlobID(rawValue: 1)
    )
    var bytes: [UInt8] = []
    if let encoded = increment.encode(encoder, at: 0, salt: 0) {
      bytes = unsafe encoded.bytes.withUnsafeBytes { unsafe Array($0) }
    }
    let found = unsafe CheckpointIncrement.decode(bytes.span.bytes, at: 0, salt: 0)
    var decoder = try #require(found).1
    decoder.beginTable()
    for (key, location) in slots {
      let slot = unsafe decoder.next(in: bytes.span.bytes)
      try #require(slot?.key == key && slot?.location == location, "seed \(seed), key \(key)")
    }
    #expect(decoder.isAtEnd)
  }
}
