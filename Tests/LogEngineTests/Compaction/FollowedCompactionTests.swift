import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A compaction that a follower takes up` {
  /// What is needed of each pack.
  private static func usages(of engine: StorageEngine) -> [PackID: SegmentUsage] {
    Dictionary(uniqueKeysWithValues: engine.statistics().packs.map { ($0.pack, $0.usage) })
  }

  private static func makeStore() throws -> MemoryStore {
    let store = try MemoryStore {
      // Packs stay, though some of their rows are not needed any more.
      $0.compactionPolicy.leastDeadShare = 0.6
      $0.compactionPolicy.deadShare = 0.6
      $0.compactionPolicy.smallPackCount = 100
    }
    try store.work(150, textLength: 300)
    try store.engine.compact()
    return store
  }

  @Test(arguments: 0..<24 as Range<UInt64>)
  func `counts what is needed of each pack as the writer does`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try Self.makeStore()
    var follower = try store.openReader()
    var view: ReadView?
    for round in 0..<40 {
      let keys = store.rows.keys.sorted()
      let changes: [MemoryStore.Change] = (0..<Int(1 + random.next() % 11)).map { part in
        let key = keys[(part * 7 + round) % keys.count]
        return switch random.next() % 6 {
        case 0: .replace(key, Int64(round), String(repeating: "y", count: 200))
        case 1: .insert(Int64(round), String(repeating: "z", count: 1200))
        default: .update(key, Int64(round))
        }
      }
      try store.commit(changes)
      if random.oneIn(5), let key = keys.randomElement(using: &random) {
        try store.commit([.delete(key)])
      }
      if random.oneIn(3) { try store.engine.compact() }
      if random.oneIn(6) { view = view == nil ? follower.makeReadView() : nil }
      do {
        try follower.refresh()
      } catch {
        guard case .commitGone = error else { throw error }
        // Held back by the view, it missed what was packed.
        follower = try store.openReader()
      }
      let isRight =
        try MemoryStore.rows(of: follower) == store.history[Int(follower.lastCommit.rawValue)]
      #expect(isRight, "seed \(seed), round \(round)")
    }
    view = nil
    try store.commit([.insert(0, "last")])
    for _ in 0..<2 { try follower.refresh() }
    #expect(try MemoryStore.rows(of: follower) == store.rows)
    let (expected, found) = (Self.usages(of: store.engine), Self.usages(of: follower))
    #expect(found == expected, "seed \(seed)")
    #expect(expected.count > 2)
  }

  @Test func `costs no look at the packs that stay`() throws {
    let store = try Self.makeStore()
    let staying = Set(try store.disk.list("\(store.path)/pack") ?? [])
    let reads = Mutex<[String]>([])
    let fileSystem = HookedFileSystem(store.disk) { call in
      guard call.operation == .read, let name = call.path.split(separator: "/").last else { return }
      reads.withLock { $0.append(String(name)) }
    }
    let follower = try store.openReader(on: fileSystem)
    _ = try MemoryStore.rows(of: follower)
    try store.work(100, textLength: 600)
    try follower.refresh()
    try store.engine.compact()
    try store.commit([.insert(0, "after it")])
    reads.withLock { $0 = [] }
    try follower.refresh()
    #expect(Self.usages(of: follower).count > staying.count)
    let looks = reads.withLock { $0 }
    #expect(looks.contains { $0.hasSuffix(".pack") })
    #expect(looks.filter(staying.contains) == [])
    #expect(Self.usages(of: follower) == Self.usages(of: store.engine))
  }
}
