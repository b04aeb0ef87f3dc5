import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

/// The removal of a checkpoint is not synchronized: a power cut may bring one back, and a process that is killed before it
/// removes one leaves it.
@Suite struct `A checkpoint from before a compaction` {
  /// The files of a store's checkpoints at some moment.
  private typealias Checkpoints = [String: [UInt8]]

  private static func checkpoints(of store: MemoryStore) throws -> Checkpoints {
    var files: Checkpoints = [:]
    for path in try store.disk.allFiles(in: "\(store.path)/index") {
      files[path] = try store.bytes(of: path)
    }
    return files
  }

  /// Ends the store as a killed process does, with the checkpoints of another moment.
  private static func fallBack(_ store: MemoryStore, to checkpoints: Checkpoints) throws {
    store.abandon()
    for path in try store.disk.allFiles(in: "\(store.path)/index") { try store.disk.unlink(path) }
    for (path, bytes) in checkpoints { try store.write(bytes, to: path) }
    try store.open()
    // Until the sweep of an unclean end has gone by, compactions wait for its view.
    for _ in 0..<3 { store.engine.performBackgroundWork() }
  }

  private static func check(_ store: MemoryStore, _ place: String) throws {
    #expect(try MemoryStore.rows(of: store.engine) == store.rows, "\(place)")
    #expect(store.engine.rowCount(of: 1) == store.rows.count, "\(place)")
  }

  @Test(arguments: 0..<24 as Range<UInt64>)
  func `brings back no row that was deleted, whatever is packed after it`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let smallPackCount = Mutex(3)
    let store = try MemoryStore {
      $0.compactionPolicy.smallPackCount = smallPackCount.withLock { $0 }
    }
    try store.work(150, textLength: 300)
    try store.engine.compact()
    var older: [Checkpoints] = [[:]]
    for step in 0..<150 {
      let place = "seed \(seed), step \(step)"
      smallPackCount.withLock { $0 = Int.random(in: 2...4, using: &random) }
      switch random.next() % 16 {
      case 0..<6:
        try Self.deleteOne(store)
        if random.oneIn(2) { try store.engine.compact(keeping: .nothing) }
      case 6..<8: try store.engine.compact(keeping: .nothing)
      case 8..<10: try store.engine.compact(keeping: .everything)
      case 10..<13:
        try store.engine.checkpoint()
        older.append(try Self.checkpoints(of: store))
      case 13, 14:
        try Self.fallBack(store, to: older.suffix(2).randomElement(using: &random) ?? [:])
        try Self.check(store, "\(place), fell back")
      default:
        try Self.fallBack(store, to: [:])
        try Self.check(store, "\(place), from the packs")
      }
    }
    try Self.fallBack(store, to: [:])
    try Self.check(store, "seed \(seed), at the end")
    #expect(try store.engine.verify().isSound)
  }

  /// Deletes rows, so that the log that is packed next may hold nothing but ends.
  private static func deleteOne(_ store: MemoryStore) throws {
    guard let key = store.rows.keys.min() else { return }
    let padding = try store.commit([.insert(0, String(repeating: "x", count: 30_000))])
    try store.commit([.delete(key), .delete(padding[0])])
  }

  @Test func `that names packs of ends which are gone lets no deleted row come back`() throws {
    let smallPackCount = Mutex(3)
    let store = try MemoryStore {
      $0.compactionPolicy.smallPackCount = smallPackCount.withLock { $0 }
    }
    try store.work(150, textLength: 300)
    try store.engine.compact()
    for _ in 0..<2 {
      try Self.deleteOne(store)
      try store.engine.compact(keeping: .nothing)
    }
    try store.engine.checkpoint()
    let older = try Self.checkpoints(of: store)
    smallPackCount.withLock { $0 = 2 }
    try Self.fallBack(store, to: older)
    // The two packs that note ends become one, and no segment is taken.
    let merge = try #require(try store.engine.compact(keeping: .everything).report)
    try #require(merge.segmentCount == 0 && merge.packCount == 2)
    try Self.fallBack(store, to: older)
    try #require(store.engine.recovery.checkpoint != nil)
    var takenPackCount = 0
    for _ in 0..<8 where takenPackCount == 0 {
      try Self.deleteOne(store)
      takenPackCount = try store.engine.compact(keeping: .nothing).report?.packCount ?? 0
    }
    try #require(takenPackCount > 0)
    try Self.check(store, "packed again")
    try Self.fallBack(store, to: [:])
    try Self.check(store, "from the packs")
  }
}
