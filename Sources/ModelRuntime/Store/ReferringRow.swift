public import RowFormat

/// A row that refers to another row through a to-one relationship.
///
/// Lists consist of these: in ascending order of rank, and of key for equal ranks.
public struct ReferringRow: Hashable, Sendable {
  /// The referring row.
  public let reference: RowReference
  /// The row's place in the list at the other end; 0 if there is no list, or the row has no place.
  public let rank: Int64

  /// Makes a description of a referring row.
  public init(reference: RowReference, rank: Int64) {
    self.reference = reference
    self.rank = rank
  }
}

extension ReferringRow: Comparable {
  public static func < (lhs: ReferringRow, rhs: ReferringRow) -> Bool {
    lhs.rank != rhs.rank ? lhs.rank < rhs.rank : lhs.reference < rhs.reference
  }
}
