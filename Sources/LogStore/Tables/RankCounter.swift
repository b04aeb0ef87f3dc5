import Synchronization

/// Gives out places in lists, each behind all before it.
///
/// The ranks of a save begin where the number of the last commit says, if no others were given out since: so they lie
/// behind every rank of earlier saves and openings, and there is room for moves between those of two saves.
final class RankCounter: Sendable {
  private let next: Atomic<Int64>

  init(after commit: UInt64) {
    next = Atomic(Self.first(after: commit))
  }

  /// The first rank after a commit: there are 2^24 between two; a save that needs more borrows from the next ones.
  private static func first(after commit: UInt64) -> Int64 {
    Int64(truncatingIfNeeded: commit &+ 1) << 24
  }

  func reserve(_ count: Int, after commit: UInt64) -> Range<Int64> {
    let first = Self.first(after: commit)
    var known = next.load(ordering: .relaxed)
    while true {
      let start = max(known, first)
      let end = start + Int64(count)
      let (exchanged, original) = next.weakCompareExchange(
        expected: known,
        desired: end,
        ordering: .relaxed
      )
      if exchanged { return start..<end }
      known = original
    }
  }
}
