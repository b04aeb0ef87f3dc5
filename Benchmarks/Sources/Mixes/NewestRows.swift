import Synchronization

/// Knows up to which key all rows were inserted, while threads are inserting.
final class NewestRows: Sendable {
  private let started: Atomic<UInt64>
  private let ended: Atomic<UInt64>
  private let inserting = InsertingKeys()

  private static let idle = UInt64.max

  init(count: UInt64) {
    started = Atomic(count)
    ended = Atomic(count)
  }

  /// The key of a row such that it and all before it are there.
  var last: UInt64 {
    // First: a key that is taken later is greater.
    let ended = ended.load(ordering: .sequentiallyConsistent)
    return min(ended, inserting.least)
  }

  /// Inserts one row.
  ///
  /// - Parameters:
  ///   - thread: The number of the calling thread.
  ///   - body: Inserts; its argument is the key, unless the contender assigns keys itself.
  func insert(by thread: Int, _ body: (UInt64) throws -> Void) rethrows {
    // The key will be greater than the number of inserts that have ended, also if the contender chooses it.
    inserting.set(ended.load(ordering: .sequentiallyConsistent), by: thread)
    try body(started.add(1, ordering: .sequentiallyConsistent).newValue)
    ended.add(1, ordering: .sequentiallyConsistent)
    inserting.set(Self.idle, by: thread)
  }
}

/// The rows that were there at least when each thread began to insert, a cache line for each.
private final class InsertingKeys: @unchecked Sendable {
  private static let threadLimit = 64
  private static let stride = 16
  private let keys = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: threadLimit * stride)

  init() {
    for index in 0..<Self.threadLimit * Self.stride {
      (keys + index).initialize(to: Atomic(.max))
    }
  }

  deinit { keys.deallocate() }

  func set(_ key: UInt64, by thread: Int) {
    keys[thread * Self.stride].store(key, ordering: .sequentiallyConsistent)
  }

  var least: UInt64 {
    (0..<Self.threadLimit).reduce(.max) {
      min($0, keys[$1 * Self.stride].load(ordering: .sequentiallyConsistent))
    }
  }
}
