/// The eight bytes by which one row names another: a table number and a key.
///
///     bits 63 ..< 48   table   1 ... 32,767; bit 63 marks a reference that is not final yet
///     bits 47 ...  0   key     sequential per table, from 1, never reused
///
/// Zero refers to nothing.
public struct RowReference: RawRepresentable, Hashable, Sendable, Comparable {
  public let rawValue: UInt64

  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The greatest key in a reference.
  public static let maximumKey: UInt64 = (1 << 48) - 1

  /// Creates a reference; traps if the key needs more than 48 bits.
  @inlinable public init(table: UInt16, key: UInt64) {
    precondition(key <= (1 << 48) - 1, "key \(key) needs more than 48 bits")
    rawValue = UInt64(table) << 48 | key
  }

  /// A reference to nothing.
  @inlinable public static var none: RowReference { RowReference(rawValue: 0) }

  /// The number of the table.
  @inlinable public var table: UInt16 { UInt16(truncatingIfNeeded: rawValue >> 48) }
  /// The key of the row in its table.
  @inlinable public var key: UInt64 { rawValue & ((1 << 48) - 1) }

  /// Whether the table number is marked as not final: the row has not been saved yet.
  @inlinable public var isProvisional: Bool { rawValue >> 63 == 1 }

  @inlinable public static func < (lhs: RowReference, rhs: RowReference) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}
