import Locking
import Synchronization

/// Counts writes to the log.
///
/// One thread at a time writes, so its counters need no atomic addition; they may be read at any time.
final class WriteCounters: Sendable {
  private let commitCount = Atomic<Int>(0)
  private let groupCount = Atomic<Int>(0)
  private let byteCount = Atomic<Int>(0)
  private let synchronizationCount = Atomic<Int>(0)
  private let packByteCount = Atomic<Int>(0)
  private let checkpointByteCount = Atomic<Int>(0)
  /// The groups of more than one commit, by the power of two of their size.
  private let groupSizes = Lock<[Int]>(WritingStatistics().groupSizes, .groupSizes)

  /// Counts commits that were written at once; called by the writing thread.
  func recordGroup(ofCommits count: Int) {
    guard count > 0 else { return }
    Self.increase(commitCount, by: count)
    Self.increase(groupCount, by: 1)
    guard count > 1 else { return }
    let power = min(Int.bitWidth - 1 - count.leadingZeroBitCount, 15)
    groupSizes.withLock { $0[power] += 1 }
  }

  /// Counts bytes that were written; called by the writing thread.
  func recordWrite(ofBytes count: Int) { Self.increase(byteCount, by: count) }

  /// Counts bytes of packs that became part of the store.
  func recordPacks(ofBytes count: Int) { packByteCount.add(count, ordering: .relaxed) }

  /// Counts bytes of a checkpoint.
  func recordCheckpoint(ofBytes count: Int) { checkpointByteCount.add(count, ordering: .relaxed) }

  /// Counts a synchronization; may be called by any thread.
  func recordSynchronization() { synchronizationCount.add(1, ordering: .relaxed) }

  private static func increase(_ counter: borrowing Atomic<Int>, by count: Int) {
    counter.store(counter.load(ordering: .relaxed) + count, ordering: .relaxed)
  }

  var statistics: WritingStatistics {
    var statistics = WritingStatistics()
    statistics.commitCount = commitCount.load(ordering: .relaxed)
    statistics.groupCount = groupCount.load(ordering: .relaxed)
    statistics.byteCount = byteCount.load(ordering: .relaxed)
    statistics.synchronizationCount = synchronizationCount.load(ordering: .relaxed)
    statistics.packByteCount = packByteCount.load(ordering: .relaxed)
    statistics.checkpointByteCount = checkpointByteCount.load(ordering: .relaxed)
    statistics.groupSizes = groupSizes.withLock { $0 }
    let larger = statistics.groupSizes.reduce(0, +)
    statistics.groupSizes[0] = max(0, statistics.groupCount - larger)
    return statistics
  }
}
