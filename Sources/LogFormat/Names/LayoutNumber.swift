/// The number of one order of a table's columns; assigned once, from 1, and never reused.
public struct LayoutNumber: RawRepresentable, Hashable, Sendable, Comparable {
  public let rawValue: UInt16

  @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// Creates the number of a layout.
  @inlinable public init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// No layout: rows of a table without columns, or a deletion that preserves nothing.
  @inlinable public static var none: LayoutNumber { LayoutNumber(0) }

  @inlinable public static func < (lhs: LayoutNumber, rhs: LayoutNumber) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}
