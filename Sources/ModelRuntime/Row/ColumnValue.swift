public import Foundation
public import RowFormat

/// A type whose values have a column of their own, in a form the store can compare.
///
/// Its methods are the hot path of every generated accessor and encoder, and inline there.
public protocol _ColumnValue: Codable, Sendable {
  static var _columnType: ColumnType { get }
  static var _isOptional: Bool { get }
  /// The value read if the row is gone, or the column is null.
  static var _absent: Self { get }
  /// Reads a column that is not null.
  static func _decodePresent(_ row: _RowView, _ column: Int) -> Self
  func _encode(into encoder: inout _RowEncoder, _ column: Int)
}

extension _ColumnValue {
  @inlinable public static var _isOptional: Bool { false }

  @inlinable @inline(__always)
  public static func _decode(_ row: _RowView, _ column: Int) -> Self {
    row.isNull(column) ? _absent : _decodePresent(row, column)
  }
}

extension Bool: _ColumnValue {
  @inlinable public static var _columnType: ColumnType { .bool }
  @inlinable public static var _absent: Bool { false }
  @inlinable public static func _decodePresent(_ row: _RowView, _ column: Int) -> Bool {
    row.bool(column)
  }
  @inlinable public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    encoder.writer.set(column, bool: self)
  }
}

/// An integer, widened to 64 bits; the bits of a `UInt64` above `Int64.max` are kept as they are.
public protocol _IntegerColumnValue: _ColumnValue, FixedWidthInteger {}

extension _IntegerColumnValue {
  @inlinable public static var _columnType: ColumnType { .integer }
  @inlinable public static var _absent: Self { 0 }
  @inlinable public static func _decodePresent(_ row: _RowView, _ column: Int) -> Self {
    Self(truncatingIfNeeded: row.integer(column))
  }
  @inlinable public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    encoder.writer.set(column, integer: Int64(truncatingIfNeeded: self))
  }
}

extension Int: _IntegerColumnValue {}
extension Int8: _IntegerColumnValue {}
extension Int16: _IntegerColumnValue {}
extension Int32: _IntegerColumnValue {}
extension Int64: _IntegerColumnValue {}
extension UInt: _IntegerColumnValue {}
extension UInt8: _IntegerColumnValue {}
extension UInt16: _IntegerColumnValue {}
extension UInt32: _IntegerColumnValue {}
extension UInt64: _IntegerColumnValue {}

extension Double: _ColumnValue {
  @inlinable public static var _columnType: ColumnType { .double }
  @inlinable public static var _absent: Double { 0 }
  @inlinable public static func _decodePresent(_ row: _RowView, _ column: Int) -> Double {
    row.double(column)
  }
  @inlinable public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    encoder.writer.set(column, double: self)
  }
}

extension Float: _ColumnValue {
  @inlinable public static var _columnType: ColumnType { .double }
  @inlinable public static var _absent: Float { 0 }
  @inlinable public static func _decodePresent(_ row: _RowView, _ column: Int) -> Float {
    Float(row.double(column))
  }
  @inlinable public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    encoder.writer.set(column, double: Double(self))
  }
}

extension String: _ColumnValue {
  @inlinable public static var _columnType: ColumnType { .text }
  @inlinable public static var _absent: String { "" }
  @inlinable public static func _decodePresent(_ row: _RowView, _ column: Int) -> String {
    row.text(column)
  }
  @inlinable public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    encoder.writer.append(column, text: self)
  }
}

extension Date: _ColumnValue {
  @inlinable public static var _columnType: ColumnType { .date }
  @inlinable public static var _absent: Date { Date(timeIntervalSinceReferenceDate: 0) }
  @inlinable public static func _decodePresent(_ row: _RowView, _ column: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: row.double(column))
  }
  @inlinable public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    encoder.writer.set(column, double: timeIntervalSinceReferenceDate)
  }
}

extension UUID: _ColumnValue {
  @inlinable public static var _columnType: ColumnType { .uuid }
  @inlinable public static var _absent: UUID {
    unsafe unsafeBitCast((0, 0) as (UInt64, UInt64), to: UUID.self)
  }
  @inlinable public static func _decodePresent(_ row: _RowView, _ column: Int) -> UUID {
    let words = row.uuid(column)
    return unsafe unsafeBitCast((words.0.littleEndian, words.1.littleEndian), to: UUID.self)
  }
  @inlinable public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    let words = unsafe unsafeBitCast(self, to: (UInt64, UInt64).self)
    encoder.writer.set(column, uuid: (UInt64(littleEndian: words.0), UInt64(littleEndian: words.1)))
  }
}

extension Data: _ColumnValue {
  public static var _columnType: ColumnType { .bytes }
  public static var _absent: Data { Data() }
  public static func _decodePresent(_ row: _RowView, _ column: Int) -> Data {
    unsafe row.withBytes(column) { unsafe Data($0) }
  }
  public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    unsafe withUnsafeBytes { unsafe encoder.set(column, bytes: $0.bytes) }
  }
}

extension URL: _ColumnValue {
  public static var _columnType: ColumnType { .text }
  public static var _absent: URL { URL(fileURLWithPath: "/") }
  public static func _decodePresent(_ row: _RowView, _ column: Int) -> URL {
    URL(string: row.text(column)) ?? _absent
  }
  public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    encoder.writer.append(column, text: absoluteString)
  }
}

extension Optional: _ColumnValue where Wrapped: _ColumnValue {
  @inlinable public static var _columnType: ColumnType { Wrapped._columnType }
  @inlinable public static var _isOptional: Bool { true }
  @inlinable public static var _absent: Wrapped? { nil }
  @inlinable public static func _decodePresent(_ row: _RowView, _ column: Int) -> Wrapped? {
    Wrapped._decodePresent(row, column)
  }
  @inlinable public func _encode(into encoder: inout _RowEncoder, _ column: Int) {
    // A column that is not written is null.
    self?._encode(into: &encoder, column)
  }
}
