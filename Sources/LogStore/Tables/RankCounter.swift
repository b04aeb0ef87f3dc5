import LogEngine
import Synchronization

extension TableStore {
  /// Gives out places in lists, behind all that any process has given out.
  func reserveRanks(_ count: Int) throws -> Range<Int64> {
    guard engine.hasOtherWriters else {
      return ranks.reserve(count, after: engine.lastCommit.rawValue)
    }
    return try perform(.saving) { try engine.takeRanks(count) { ranks.first(after: $0) } }
  }
}

/// Gives out places in lists, each behind all before it.
///
/// The ranks of a save begin where the number of the last commit says, if no others were given out since: so they lie
/// behind every rank of earlier saves and openings, and there is room for moves between those of two saves. Rows that
/// came from another kind of store have that store's ranks: the catalogue then says where those end, and commits
/// count from there.
package final class RankCounter: Sendable {
  /// The entry of the catalogue with the first rank that another store has not given out, in decimal digits.
  package static let baseKey = "rank.base"

  private let base: Int64
  private let next: Atomic<Int64>

  init(after commit: UInt64, _ catalogue: Catalogue) {
    base = Self.base(in: catalogue)
    next = Atomic(Self.first(after: commit, base))
  }

  private static func base(in catalogue: Catalogue) -> Int64 {
    catalogue.metadata[baseKey].flatMap { Int64(String(decoding: $0, as: UTF8.self)) } ?? 0
  }

  /// The first rank after a commit: there are 2^24 between two; a save that needs more borrows from the next ones.
  private static func first(after commit: UInt64, _ base: Int64) -> Int64 {
    base &+ Int64(truncatingIfNeeded: commit &+ 1) << 24
  }

  /// The first rank after a commit.
  func first(after commit: CommitSequence) -> Int64 { Self.first(after: commit.rawValue, base) }

  func reserve(_ count: Int, after commit: UInt64) -> Range<Int64> {
    let first = Self.first(after: commit, base)
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
