import Foundation

/// The kind of an expression's values, independent of null.
///
/// The kind determines the comparison of two values; several Swift types share one, because rows widen them.
package enum QueryKind: Hashable, Sendable {
  case bool
  /// A signed integer of any width.
  case integer
  /// An unsigned 64-bit integer; rows and values hold its bits.
  case unsigned
  case double
  /// A `Float`, widened to a double.
  case float
  case date
  case uuid
  case text
  /// A `URL` without a base, as its text.
  case url
  case bytes
  /// The name of a row.
  case identifier
}

/// A type whose values an expression can hold, and compare as Swift does.
protocol QueryScalar: Hashable, Sendable {
  static var queryKind: QueryKind { get }
  /// The value in an expression, or `nil` if its kind cannot represent it.
  var queryValue: QueryValue? { get }
  init?(queryValue: QueryValue)
}

/// The kind of a type's values, if an expression can hold them.
///
/// Optional types have the kind of their wrapped type.
func queryKind(of type: any Any.Type) -> QueryKind? {
  if type == String.self { return .text }
  if type == Int.self { return .integer }
  return queryScalar(TypeMetadata.unwrapped(type))?.queryKind
}

/// The type, if an expression can hold its values; `nil` for optionals and other types.
///
/// Found without a cast; see ``TypeMetadata``.
func queryScalar(_ type: any Any.Type) -> (any QueryScalar.Type)? {
  queryScalars.first { $0 == type }
}

private let queryScalars: [any QueryScalar.Type] = [
  String.self, Int.self, Double.self, Bool.self, Date.self, UUID.self, PersistentIdentifier.self,
  Data.self, URL.self, Float.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self,
  UInt8.self, UInt16.self, UInt32.self, UInt64.self,
]

extension Bool: QueryScalar {
  static var queryKind: QueryKind { .bool }
  var queryValue: QueryValue? { .bool(self) }
  init?(queryValue: QueryValue) {
    guard case .bool(let value) = queryValue else { return nil }
    self = value
  }
}

/// An integer of any width, signed or unsigned.
protocol QueryInteger: QueryScalar, FixedWidthInteger {}

extension QueryInteger {
  static var queryKind: QueryKind { isSigned || bitWidth < 64 ? .integer : .unsigned }
  var queryValue: QueryValue? { .integer(Int64(truncatingIfNeeded: self)) }
  init?(queryValue: QueryValue) {
    guard case .integer(let value) = queryValue else { return nil }
    self.init(truncatingIfNeeded: value)
  }
}

extension Int: QueryInteger {}
extension Int8: QueryInteger {}
extension Int16: QueryInteger {}
extension Int32: QueryInteger {}
extension Int64: QueryInteger {}
extension UInt: QueryInteger {}
extension UInt8: QueryInteger {}
extension UInt16: QueryInteger {}
extension UInt32: QueryInteger {}
extension UInt64: QueryInteger {}

extension Double: QueryScalar {
  static var queryKind: QueryKind { .double }
  var queryValue: QueryValue? { .double(self) }
  init?(queryValue: QueryValue) {
    guard case .double(let value) = queryValue else { return nil }
    self = value
  }
}

extension Float: QueryScalar {
  static var queryKind: QueryKind { .float }
  var queryValue: QueryValue? { .double(Double(self)) }
  init?(queryValue: QueryValue) {
    guard case .double(let value) = queryValue else { return nil }
    self = Float(value)
  }
}

extension Date: QueryScalar {
  static var queryKind: QueryKind { .date }
  var queryValue: QueryValue? { .double(timeIntervalSinceReferenceDate) }
  init?(queryValue: QueryValue) {
    guard case .double(let value) = queryValue else { return nil }
    self.init(timeIntervalSinceReferenceDate: value)
  }
}

extension UUID: QueryScalar {
  static var queryKind: QueryKind { .uuid }
  var queryValue: QueryValue? {
    let words = unsafe unsafeBitCast(self, to: (UInt64, UInt64).self)
    return .uuid(QueryUUID(UInt64(littleEndian: words.0), UInt64(littleEndian: words.1)))
  }
  init?(queryValue: QueryValue) {
    guard case .uuid(let value) = queryValue else { return nil }
    self = unsafe unsafeBitCast((value.low.littleEndian, value.high.littleEndian), to: UUID.self)
  }
}

extension String: QueryScalar {
  static var queryKind: QueryKind { .text }
  var queryValue: QueryValue? { .text(self) }
  init?(queryValue: QueryValue) {
    guard case .text(let value) = queryValue else { return nil }
    self = value
  }
}

extension URL: QueryScalar {
  static var queryKind: QueryKind { .url }
  // A URL with a base never equals one without, even with the same text.
  var queryValue: QueryValue? { baseURL == nil ? .text(absoluteString) : nil }
  init?(queryValue: QueryValue) {
    guard case .text(let value) = queryValue else { return nil }
    self.init(string: value)
  }
}

extension Data: QueryScalar {
  static var queryKind: QueryKind { .bytes }
  var queryValue: QueryValue? { .bytes(self) }
  init?(queryValue: QueryValue) {
    guard case .bytes(let value) = queryValue else { return nil }
    self = value
  }
}

extension PersistentIdentifier: QueryScalar {
  static var queryKind: QueryKind { .identifier }
  var queryValue: QueryValue? { .identifier(self) }
  init?(queryValue: QueryValue) {
    guard case .identifier(let value) = queryValue else { return nil }
    self = value
  }
}
