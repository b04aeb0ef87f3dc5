/// A set of columns of one row, in one word: the columns that a save changed.
///
/// Columns 0 to 62 have a bit each; bit 63 represents *every* column from 63 on, so that the set stays one register wide. So a
/// delta of a row with more than 64 columns may contain a few columns too many, never one too few.
public struct ColumnSet: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt64

  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// Creates an empty set.
  @inlinable public init() { rawValue = 0 }

  /// Every column.
  @inlinable public static var all: ColumnSet { ColumnSet(rawValue: .max) }

  /// Whether the set has no column.
  @inlinable public var isEmpty: Bool { rawValue == 0 }

  /// Whether the set has a column; from column 63 on, whether it has any of those.
  @inlinable public func contains(_ column: Int) -> Bool {
    rawValue & ColumnSet.bit(of: column) != 0
  }

  /// Adds a column; from column 63 on, all of those.
  @inlinable public mutating func insert(_ column: Int) {
    rawValue |= ColumnSet.bit(of: column)
  }

  /// Removes a column; from column 63 on, all of those.
  @inlinable public mutating func remove(_ column: Int) {
    rawValue &= ~ColumnSet.bit(of: column)
  }

  /// Adds the columns of another set.
  @inlinable public mutating func formUnion(_ other: ColumnSet) {
    rawValue |= other.rawValue
  }

  /// Whether no column is in both sets.
  @inlinable public func isDisjoint(with other: ColumnSet) -> Bool {
    rawValue & other.rawValue == 0
  }

  @inlinable static func bit(of column: Int) -> UInt64 {
    1 &<< UInt64(truncatingIfNeeded: min(column, 63))
  }
}
