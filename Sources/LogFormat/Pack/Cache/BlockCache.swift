import Synchronization

/// The rows of blocks of open packs, up to so many bytes.
///
/// Each block of a pack has a slot of its own that guards its rows, so readers of different blocks meet
/// nowhere; only taking in what was read goes through the cache's lock. What goes first is chosen by the
/// clock algorithm: a block that was read since the hand last came by gets another round.
public final class BlockCache: Sendable {
  /// How many bytes the blocks may take.
  public let byteLimit: Int
  private let ring = Mutex<Ring>(Ring())
  private let usedByteCount = Atomic<Int>(0)
  private let evictions = Atomic<Int>(0)

  private struct Ring {
    var slots: [BlockSlot] = []
    var hand = 0
    /// How often blocks were read that are not in the ring any more.
    var pastReads = BlockReads()
  }

  /// Creates an empty cache.
  ///
  /// - Parameter byteLimit: How many bytes it may hold; one block may exceed them for a moment.
  public init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// How many bytes it holds.
  public var byteCount: Int { usedByteCount.load(ordering: .relaxed) }

  /// Whether another block finds room without dropping one.
  var hasRoom: Bool { byteCount + Self.usualBlockByteCount <= byteLimit }

  /// More than the rows of a block take whose pack was written with the default options.
  private static let usualBlockByteCount = 64 << 10

  /// How many blocks were dropped to make room.
  public var evictionCount: Int { evictions.load(ordering: .relaxed) }

  /// How often a row was read from a block that was at hand, and how often one had to be read first.
  ///
  /// - Complexity: O(blocks in the cache).
  public var reads: BlockReads {
    ring.withLock { ring in
      ring.slots.reduce(ring.pastReads) { sum, slot in sum + slot.contents.withLock { $0.reads } }
    }
  }

  /// Records that a slot has so many bytes more; drops others if that is too many.
  ///
  /// The slot must not be locked by the caller.
  func recordGrowth(of slot: BlockSlot, by byteCount: Int) {
    let used = usedByteCount.add(byteCount, ordering: .relaxed).newValue
    ring.withLock { ring in
      if !slot.isInCache.exchange(true, ordering: .relaxed) { ring.slots.append(slot) }
      if used > byteLimit { evict(&ring) }
    }
  }

  private func evict(_ ring: inout Ring) {
    // Two rounds at most: the first takes every second chance away.
    var steps = 2 * ring.slots.count
    while usedByteCount.load(ordering: .relaxed) > byteLimit, !ring.slots.isEmpty, steps > 0 {
      steps -= 1
      if ring.hand >= ring.slots.count { ring.hand = 0 }
      let slot = ring.slots[ring.hand]
      if slot.wasUsed.exchange(false, ordering: .relaxed) {
        ring.hand += 1
        continue
      }
      drop(slot, &ring)
      evictions.add(1, ordering: .relaxed)
      slot.isInCache.store(false, ordering: .relaxed)
      ring.slots.swapAt(ring.hand, ring.slots.count - 1)
      ring.slots.removeLast()
    }
  }

  private func drop(_ slot: BlockSlot, _ ring: inout Ring) {
    let dropped = slot.drop()
    usedByteCount.subtract(dropped.rows?.memoryByteCount ?? 0, ordering: .relaxed)
    ring.pastReads = ring.pastReads + dropped.reads
  }

  /// Forgets the blocks of a pack that is closed.
  package func remove(_ slots: [BlockSlot]) {
    ring.withLock { ring in
      for slot in slots where slot.isInCache.load(ordering: .relaxed) {
        drop(slot, &ring)
      }
      let closed = Set(slots.map(ObjectIdentifier.init))
      ring.slots.removeAll { closed.contains(ObjectIdentifier($0)) }
    }
  }
}

/// The rows of one block, if one of them was read.
package final class BlockSlot: Sendable {
  let contents = Mutex<Contents>(Contents())
  /// Whether the block was read since the hand last came by.
  let wasUsed = Atomic<Bool>(false)
  /// Whether the cache's ring has this slot; changed under the ring's lock.
  let isInCache = Atomic<Bool>(false)
  /// Whether the contents name a damage; it stays.
  let isDamaged = Atomic<Bool>(false)
  /// Whether the whole block was found to be as it was written.
  let isIntact = Atomic<Bool>(false)

  struct Contents {
    var rows: PackedRows?
    /// The damage of the block, if any was found.
    var damage: StorageError?
    /// Counted here, where a lock is held anyway.
    var reads = BlockReads()
    /// How many rows were cut out of the block since its rows were dropped last.
    var cutCount = 0
    /// How often its rows were dropped.
    var dropCount = 0

    /// Whether so many rows were cut out of a block that putting it together pays.
    ///
    /// That costs about as much as cutting out a few rows, more of them where they are narrow. Of a block that is
    /// dropped soon afterwards it has to be more.
    func isToBePutTogether(rowCount: Int) -> Bool {
      let limit = min(max(rowCount / 64, 2), 6) << dropCount
      return cutCount >= limit
    }

    /// From then on a block is taken to be dropped as often.
    static let dropLimit = 4
  }

  @inline(__always)
  func recordUse() {
    // Read before written: a line that many readers only read stays with all of them.
    if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .relaxed) }
  }

  /// Keeps in mind that the block is damaged.
  func record(damage: StorageError) {
    contents.withLock { $0.damage = damage }
    isDamaged.store(true, ordering: .relaxed)
  }

  /// Drops the rows; readers in progress keep them.
  ///
  /// - Returns: What there was.
  func drop() -> Contents {
    contents.withLock { contents in
      let dropped = contents
      contents = Contents(damage: dropped.damage)
      contents.dropCount = min(dropped.dropCount + 1, Contents.dropLimit)
      return dropped
    }
  }
}

/// How often rows were read from blocks of packs.
public struct BlockReads: Hashable, Sendable {
  /// The block's rows were at hand.
  public internal(set) var hitCount = 0
  /// They had to be read and put together.
  public internal(set) var missCount = 0

  /// Which part of the reads found the rows at hand; 1 if there was none.
  public var hitRatio: Double {
    let all = hitCount + missCount
    return all == 0 ? 1 : Double(hitCount) / Double(all)
  }

  static func + (lhs: BlockReads, rhs: BlockReads) -> BlockReads {
    BlockReads(hitCount: lhs.hitCount + rhs.hitCount, missCount: lhs.missCount + rhs.missCount)
  }
}
