/// The type of a column's values; raw values are on disk, so add, never renumber.
public enum ColumnType: UInt8, Sendable, CaseIterable {
  /// A signed 64-bit integer; every narrower integer is widened to it.
  case integer = 1
  /// An IEEE 754 double; `Float` is widened to it.
  case double = 2
  /// One byte, 0 or 1.
  case bool = 3
  /// Seconds since 2001-01-01T00:00:00Z as a double: exactly the value of Foundation's `Date`.
  case date = 4
  /// The sixteen bytes of a UUID, in the order they are printed.
  case uuid = 5
  /// A ``RowReference`` to another row.
  case reference = 6
  /// UTF-8 text.
  case text = 7
  /// Arbitrary bytes.
  case bytes = 8
  /// An ordered set of ``RowReference``s, eight bytes each.
  case references = 9
  /// A value of a composite type in CBOR, field by field and by name (the layer above defines it).
  case structured = 10
  /// Bytes, in the row or in a file of their own: in the latter case, that file's number, and the length and checksum of the
  /// bytes.
  case blob = 11

  /// The size of a value in the fixed section of a row, in bytes; 0 for a type of variable width.
  @inlinable public var fixedWidth: Int {
    switch self {
    case .integer, .double, .date, .reference: 8
    case .bool: 1
    case .uuid: 16
    case .text, .bytes, .references, .structured, .blob: 0
    }
  }

  /// Whether a value is in the variable section of a row.
  @inlinable public var isVariable: Bool { fixedWidth == 0 }
}
