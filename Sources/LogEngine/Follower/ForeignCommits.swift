import Locking
import Synchronization

/// The commits of other processes that were read and not yet taken, while anyone collects them.
final class ForeignCommits: Sendable {
  private let users = Atomic<Int>(0)
  private let commits = Lock<[ClosedRange<UInt64>]>([], .foreignCommits)

  /// The maximum number of runs; beyond it, runs are merged, with own commits in between.
  private static let limit = 1024

  func add(_ sequence: UInt64) {
    guard users.load(ordering: .acquiring) > 0 else { return }
    commits.withLock { commits in
      if let last = commits.last, last.upperBound + 1 == sequence || commits.count >= Self.limit {
        commits[commits.count - 1] = last.lowerBound...max(last.upperBound, sequence)
      } else {
        commits.append(sequence...sequence)
      }
    }
  }

  /// Begins to collect for one more user.
  func begin() { users.add(1, ordering: .releasing) }

  /// Ends collecting for one user.
  func end() {
    let rest = users.subtract(1, ordering: .acquiringAndReleasing).newValue
    precondition(rest >= 0, "\(rest) users of the commits of others")
    if rest == 0 { commits.withLock { $0 = [] } }
  }

  func take() -> [ClosedRange<UInt64>] {
    commits.withLock { commits in
      defer { commits = [] }
      return commits
    }
  }
}
