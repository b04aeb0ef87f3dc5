import Synchronization

/// Gives out places in lists, each behind all before it.
///
/// The first rank of an opening lies behind every rank of earlier ones, because it is made of the number
/// of the last commit, which each opening finds higher than the one before.
final class RankCounter: Sendable {
  private let next: Atomic<Int64>

  init(after commit: UInt64) {
    // 2^24 places between two commits; a save that needs more borrows from the next ones.
    next = Atomic(Int64(truncatingIfNeeded: commit &+ 1) << 24)
  }

  func reserve(_ count: Int) -> Range<Int64> {
    let (old, new) = next.wrappingAdd(Int64(count), ordering: .relaxed)
    return old..<new
  }
}
