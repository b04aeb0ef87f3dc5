/// A set of columns of one row, in one word: what a save changed.
///
/// Columns 0 to 62 have a bit each; bit 63 stands for *every* column from 63 on, so that the set
/// stays one register wide. A row of more than 64 columns thus may log a few columns too many in
/// a delta, never one too few.
public struct ColumnSet: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt64

  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
  @inlinable public init() { rawValue = 0 }

  /// Every column.
  @inlinable public static var all: ColumnSet { ColumnSet(rawValue: .max) }

  @inlinable public var isEmpty: Bool { rawValue == 0 }

  @inlinable public func contains(_ column: Int) -> Bool {
    rawValue & ColumnSet.bit(of: column) != 0
  }

  @inlinable public mutating func insert(_ column: Int) {
    rawValue |= ColumnSet.bit(of: column)
  }

  @inlinable public mutating func remove(_ column: Int) {
    rawValue &= ~ColumnSet.bit(of: column)
  }

  @inlinable public mutating func formUnion(_ other: ColumnSet) {
    rawValue |= other.rawValue
  }

  @inlinable public func isDisjoint(with other: ColumnSet) -> Bool {
    rawValue & other.rawValue == 0
  }

  @inlinable static func bit(of column: Int) -> UInt64 {
    1 &<< UInt64(truncatingIfNeeded: min(column, 63))
  }
}
