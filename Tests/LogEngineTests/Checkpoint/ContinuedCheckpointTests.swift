import Locking
import LogEngineTestSupport
import LogTools
import Testing

@testable import LogEngine
@testable import LogFormat

/// A compaction takes files that a checkpoint names; an increment behind it makes the checkpoint usable all the same.
@Suite struct `A checkpoint that goes on behind a compaction` {
  /// A store whose oldest segments were packed after a checkpoint, and an increment after that.
  private func makeStore() throws -> SimulatedStore {
    let store = try SimulatedStore()
    for _ in 0..<20 { try store.insert(70) }
    try store.engine.checkpoint()
    try store.insert(10)
    try store.compact(keeping: HistoryRetention(byteCount: 40_000))
    return store
  }

  @Test func `leaves only later commits to be read`() throws {
    let store = try makeStore()
    try store.update(3, number: -1)
    try store.delete(4)
    try store.engine.requireWriter().appendIncrement()
    try store.update(5, number: -5)
    #expect(store.checkpoints.count == 1)
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == 1)
    #expect(again.engine.recovery.scannedCommitCount == 1)
    #expect(try again.rows() == store.rows())
    #expect(again.usages == store.usages)
    #expect(again.engine.nextKey(in: 1) == store.engine.nextKey(in: 1))
  }

  @Test func `is useless before the increment`() throws {
    let store = try makeStore()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == nil)
    #expect(again.engine.recovery.ignoredCheckpointCount == 1)
    #expect(try again.rows() == store.rows())
  }

  @Test func `is replaced by another when there is no other work, and when the store is closed`()
    throws
  {
    let store = try makeStore()
    try store.insert(1)
    try store.engine.requireWriter().appendIncrement()
    let closing = try SimulatedStore(on: store.disk)
    try closing.engine.close()
    #expect(closing.checkpoints.last?.contains("0000000000000002") == true)
    #expect(!closing.namesGoneFiles)
    for _ in 0..<100 { store.engine.performBackgroundWork() }
    #expect(store.checkpoints.last?.contains("0000000000000002") == true)
  }

  /// The slots of its pages lead to the packs by look-ups of keys, until the background has moved them.
  @Test func `has its slots moved in the background`() throws {
    let store = try makeStore()
    try store.insert(1)
    try store.engine.requireWriter().appendIncrement()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.namesGoneFiles)
    let rows = try again.rows()
    #expect(try rows == store.rows())
    for _ in 0..<100 where again.namesGoneFiles { again.engine.performBackgroundWork() }
    #expect(!again.namesGoneFiles)
    #expect(try again.rows() == rows)
    #expect(again.usages == store.usages)
    #expect(try again.engine.verify().isSound)
  }

  /// A compaction begins with an increment, which is in a segment that stays.
  @Test func `does so if the log no longer has its own place`() throws {
    let store = try SimulatedStore()
    for _ in 0..<20 { try store.insert(70) }
    try store.engine.checkpoint()
    for _ in 0..<20 { try store.insert(70) }
    try store.compact(keeping: HistoryRetention(byteCount: 0))
    try store.insert(1)
    try store.engine.requireWriter().appendIncrement()
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == 1)
    #expect(again.engine.recovery.scannedCommitCount == 0)
    #expect(try again.rows() == store.rows())
  }

  @Test func `does not if it cannot be continued`() throws {
    let store = try SimulatedStore()
    for _ in 0..<20 { try store.insert(70) }
    try store.engine.checkpoint()
    // A change of the catalogue takes another checkpoint.
    try store.engine.apply([.addTable(name: "more")])
    for _ in 0..<20 { try store.insert(70) }
    try store.compact(keeping: HistoryRetention(byteCount: 0))
    try store.insert(1)
    try store.engine.requireWriter().appendIncrement()
    #expect(store.checkpoints.isEmpty)
    let again = try SimulatedStore(on: store.disk)
    #expect(again.engine.recovery.checkpoint == nil)
    #expect(try again.rows() == store.rows())
  }

  /// Between the manifest of a compaction and its own move, slots name files that it has just taken; an older pack has former
  /// states of the same rows.
  @Test func `has its slots moved in the middle of a compaction's last step`() throws {
    let store = try makeStore()
    try store.insert(1)
    try store.engine.requireWriter().appendIncrement()
    let again = try SimulatedStore(on: store.disk)
    try #require(again.namesGoneFiles)
    let packs = again.packNumbers
    var move = SlotMove(to: packs, of: again.engine.state)
    // Until the sweep for blobs has ended, no later segment is taken.
    let writer = try again.engine.requireWriter()
    while writer.housekeeper.isSweepingBlobs { again.engine.performBackgroundWork() }
    for key in 1...40 as ClosedRange<UInt64> { try again.update(key, number: -7) }
    for _ in 0..<10 { try again.insert(70) }
    let rows = try again.rows()
    let compactor = try #require(try again.compactor(keeping: .nothing))
    compactor.plan.packs = []
    compactor.plan.keptFiles = Set(packs.map { SegmentID(rawValue: $0.rawValue) })
    while compactor.isFolding { _ = try compactor.step(1 << 20) }
    let updated = again.slots(of: 1...40)
    try #require(updated.allSatisfy(compactor.plan.takes))
    try writer.withCheckpointsPaused {
      let retired = try compactor.publish()
      while move.step(again.engine.state) {}
      #expect(again.slots(of: 1...40) == updated)
      try compactor.moveSlots(after: retired.sequence)
      compactor.remove(retired)
    }
    #expect(try again.rows() == rows)
    #expect(try again.engine.verify().isSound)
    #expect(!again.namesGoneFiles)
  }

  /// A row whose slot was not moved yet is in a pack all the same, and stays there if the pack does.
  @Test func `lets the next compaction leave the rows of other packs where they are`() throws {
    let store = try makeStore()
    try store.insert(1)
    try store.engine.requireWriter().appendIncrement()
    let again = try SimulatedStore(on: store.disk)
    try #require(again.namesGoneFiles)
    let packed = again.packedRowCount
    for _ in 0..<10 { try again.insert(70) }
    try again.compact(keeping: HistoryRetention(byteCount: 40_000))
    #expect(again.packedRowCount > packed)
    #expect(try again.packedRowCount <= again.rows().count)
    for _ in 0..<100 where again.namesGoneFiles { again.engine.performBackgroundWork() }
    for key in 1...300 as ClosedRange<UInt64> { try again.replace(key, text: "new") }
    let third = try SimulatedStore(on: again.disk)
    #expect(third.usages == again.usages)
    #expect(try third.engine.verify().isSound)
  }

  /// Any number of compactions between increments, beside a copy of the rows; killed at random, and opened with the
  /// checkpoints and from the packs.
  @Test(arguments: Thoroughness.some(Array(20..<36 as Range<UInt64>)))
  func `opens what was committed`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var store = try SimulatedStore()
    try store.insert(300)
    var keys = Array(1...300 as ClosedRange<UInt64>)
    var continuedCount = 0
    for step in 0..<200 {
      let place = "seed \(seed), step \(step)"
      switch random.next() % 20 {
      case 0..<5:
        let first = store.engine.nextKey(in: 1)
        let count = Int.random(in: 1...60, using: &random)
        try store.insert(count)
        keys += (first..<first + UInt64(count))
      case 5..<8:
        for key in keys.shuffled(using: &random).prefix(20) {
          try store.update(key, number: Int64(step))
        }
      case 8:
        for key in keys.shuffled(using: &random).prefix(10) {
          try store.replace(key, text: "\(place) \(key)")
        }
      case 9:
        for _ in 0..<min(8, keys.count) {
          try store.delete(keys.remove(at: .random(in: 0..<keys.count, using: &random)))
        }
      case 10..<13:
        try store.compact(
          keeping: HistoryRetention(byteCount: .random(in: 0...60_000, using: &random))
        )
        if random.oneIn(2) { try store.engine.requireWriter().appendIncrement() }
      case 13: try store.engine.requireWriter().appendIncrement()
      case 14: try store.engine.checkpoint()
      default:
        let again = try SimulatedStore(on: store.disk)
        if again.namesGoneFiles { continuedCount += 1 }
        #expect(try again.rows() == store.rows(), "\(place)")
        #expect(again.usages == store.usages, "\(place)")
        #expect(again.engine.nextKey(in: 1) == store.engine.nextKey(in: 1), "\(place)")
        #expect(again.engine.lastCommit == store.engine.lastCommit, "\(place)")
        try checkWithoutCheckpoints(again, place)
        for _ in 0..<Int.random(in: 0...3, using: &random) { again.engine.performBackgroundWork() }
        #expect(try again.rows() == store.rows(), "\(place), after some work")
        let report = try again.engine.verify()
        #expect(report.isSound, "\(place): \(report.problems.prefix(3))")
        if random.oneIn(2) { store = again }
      }
    }
    let again = try SimulatedStore(on: store.disk)
    #expect(try again.rows() == store.rows(), "seed \(seed)")
    let report = try again.engine.verify()
    #expect(report.isSound, "seed \(seed): \(report.problems.prefix(3))")
    try again.engine.close()
    let closed = try SimulatedStore(on: again.disk)
    #expect(try closed.rows() == store.rows(), "seed \(seed)")
    #expect(continuedCount > 0, "seed \(seed)")
  }

  private func checkWithoutCheckpoints(_ store: SimulatedStore, _ place: String) throws {
    var disk = store.disk
    for path in store.checkpoints { disk = disk.damaged(path, .remove) }
    let bare = try SimulatedStore(on: disk)
    #expect(try bare.rows() == store.rows(), "\(place), from the packs")
  }
}

extension SimulatedStore {
  /// Compacts as the background does: no checkpoint follows.
  fileprivate func compact(keeping history: HistoryRetention) throws {
    guard let compactor = try compactor(keeping: history) else { return }
    while case .goesOn = try compactor.step(1 << 20) {}
  }

  /// A compaction that has not begun, if there is something to compact.
  fileprivate func compactor(keeping history: HistoryRetention) throws -> Compactor? {
    let writer = try engine.requireWriter()
    guard
      case .plan(let plan) = try Compactor.select(
        writer,
        .now,
        history,
        fileLimit: .max,
        lastEnd: { 0 }
      )
    else { return nil }
    return Compactor(writer, plan)
  }

  /// The packs, oldest first.
  fileprivate var packNumbers: [PackID] {
    engine.state.files.packList.withLock { $0.map(\.id) }
  }

  /// The number of rows in packs, replaced ones included.
  fileprivate var packedRowCount: Int {
    engine.state.files.packList.withLock { packs in
      packs.reduce(0) { $0 + $1.footer.blocks.reduce(0) { $0 + $1.rowCount } }
    }
  }

  /// Whether a slot of the index names a file that is gone.
  fileprivate var namesGoneFiles: Bool {
    slots(of: 1...engine.nextKey(in: 1)).contains {
      $0.isRow && engine.state.files.isGone($0.segment)
    }
  }

  /// The index slots of some rows.
  fileprivate func slots(of keys: ClosedRange<UInt64>) -> [RecordLocation] {
    guard let table = engine.state.tables[1] else { return [] }
    return keys.map { table.pages.location(of: $0) }
  }
}
