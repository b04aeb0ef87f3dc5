/// The number of a commit: one more than its predecessor's, from 1; zero is the empty store.
public struct CommitSequence: RawRepresentable, Hashable, Sendable, Comparable {
  public let rawValue: UInt64

  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// Creates the number of a commit.
  @inlinable public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// The state before the first commit.
  @inlinable public static var zero: CommitSequence { CommitSequence(0) }

  @inlinable public static func < (lhs: CommitSequence, rhs: CommitSequence) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}
