import Synchronization

/// A cache of the rows of blocks of open packs, with a limit in bytes.
///
/// Each block of a pack has a slot of its own that guards its rows, so readers of different blocks do not contend; only adding
/// rows takes the cache's lock. The clock algorithm selects the block to drop: a block that was read since the hand last passed
/// gets another round.
public final class BlockCache: Sendable {
  /// Limit of the blocks' size, in bytes.
  public let byteLimit: Int
  private let ring = Mutex<Ring>(Ring())
  private let usedByteCount = Atomic<Int>(0)
  private let evictions = Atomic<Int>(0)

  private struct Ring {
    var slots: [BlockSlot] = []
    var hand = 0
    /// The reads of blocks that are no longer in the ring.
    var pastReads = BlockReads()
  }

  /// Creates an empty cache.
  ///
  /// - Parameter byteLimit: Limit of the cache's size, in bytes; one block may exceed it for a moment.
  public init(byteLimit: Int) { self.byteLimit = byteLimit }

  /// The size of the cache, in bytes.
  public var byteCount: Int { usedByteCount.load(ordering: .relaxed) }

  /// Whether there is room for another block without dropping one.
  var hasRoom: Bool { byteCount + Self.usualBlockByteCount <= byteLimit }

  /// An upper bound for the rows of a block in a pack written with the default options, in bytes.
  private static let usualBlockByteCount = 64 << 10

  /// The number of blocks dropped to make room.
  public var evictionCount: Int { evictions.load(ordering: .relaxed) }

  /// The number of row reads from cached blocks, and of those that had to read the block first.
  ///
  /// - Complexity: O(blocks in the cache).
  public var reads: BlockReads {
    ring.withLock { ring in
      ring.slots.reduce(ring.pastReads) { sum, slot in sum + slot.contents.withLock { $0.reads } }
    }
  }

  /// Records that a slot has grown by that many bytes; drops other blocks if the limit is exceeded.
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
    // Two rounds at most: the first removes every second chance.
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
  /// Whether the block was read since the hand last passed.
  let wasUsed = Atomic<Bool>(false)
  /// Whether the slot is in the cache's ring; changed under the ring's lock.
  let isInCache = Atomic<Bool>(false)
  /// Whether the contents name damage; it is permanent.
  let isDamaged = Atomic<Bool>(false)
  /// Whether the whole block was verified.
  let isIntact = Atomic<Bool>(false)

  struct Contents {
    var rows: PackedRows?
    /// The damage of the block, if any was found.
    var damage: StorageError?
    /// Counted here, since a lock is held anyway.
    var reads = BlockReads()
    /// The number of rows cut out of the block since its rows were last dropped.
    var cutCount = 0
    /// The number of times that its rows were dropped.
    var dropCount = 0

    /// Whether so many rows were cut out of a block that assembling all of it pays.
    ///
    /// Assembling costs about as much as cutting out a few rows, or more rows if they are narrow. For blocks that are dropped
    /// soon afterwards, the bound is higher.
    func isToBePutTogether(rowCount: Int) -> Bool {
      let limit = min(max(rowCount / 64, 2), 6) << dropCount
      return cutCount >= limit
    }

    /// Limit of the drops that raise this bound.
    static let dropLimit = 4
  }

  @inline(__always)
  func recordUse() {
    // Loaded before it is stored: a cache line that is only read stays in the caches of all readers.
    if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .relaxed) }
  }

  /// Records that the block is damaged.
  func record(damage: StorageError) {
    contents.withLock { $0.damage = damage }
    isDamaged.store(true, ordering: .relaxed)
  }

  /// Drops the rows; readers in progress keep them.
  ///
  /// - Returns: The contents dropped.
  func drop() -> Contents {
    contents.withLock { contents in
      let dropped = contents
      contents = Contents(damage: dropped.damage)
      contents.dropCount = min(dropped.dropCount + 1, Contents.dropLimit)
      return dropped
    }
  }
}

/// The number of row reads from blocks of packs, by outcome.
public struct BlockReads: Hashable, Sendable {
  /// The number of reads that found the block's rows in the cache.
  public internal(set) var hitCount = 0
  /// The number of reads for which the rows had to be read and assembled.
  public internal(set) var missCount = 0

  /// The share of the reads that found the rows in the cache; 1 if there were no reads.
  public var hitRatio: Double {
    let all = hitCount + missCount
    return all == 0 ? 1 : Double(hitCount) / Double(all)
  }

  static func + (lhs: BlockReads, rhs: BlockReads) -> BlockReads {
    BlockReads(hitCount: lhs.hitCount + rhs.hitCount, missCount: lhs.missCount + rhs.missCount)
  }
}
