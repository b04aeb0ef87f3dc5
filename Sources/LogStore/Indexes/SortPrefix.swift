import Foundation
import ModelRuntime
import RowFormat

/// The first eight bytes of a value's order: a number that never falls from a value to one that comes later.
///
/// Integers, doubles, dates and booleans are told apart by it; texts and UUIDs share it with others that
/// begin alike. Nil comes first, and NaN comes after all numbers. A text that is not in normal form is brought to
/// it, because Swift compares texts by canonical equivalence.
enum SortPrefix {
  /// The prefix of every NaN: greater than that of every number.
  static let notANumber = UInt64.max
  static let infinity = prefix(of: Double.infinity)
  static let negativeInfinity = prefix(of: -Double.infinity)

  /// Whether values of a kind have an order that rows can be kept in.
  static func isOrdered(_ kind: QueryKind) -> Bool {
    switch kind {
    case .bool, .integer, .unsigned, .double, .float, .date, .uuid, .text: true
    case .url, .bytes, .identifier: false
    }
  }

  /// The prefix of a column of a row.
  ///
  /// - Parameters:
  ///   - column: The column.
  ///   - kind: The kind of its values, which must be ordered.
  ///   - isOptional: Whether null is a value of its own.
  ///   - row: The row.
  ///   - layout: Its layout.
  /// - Returns: The prefix.
  static func prefix(
    of column: Int,
    _ kind: QueryKind,
    isOptional: Bool,
    in row: RawSpan,
    _ layout: RowLayout
  ) -> UInt64 {
    if isOptional, layout.isNull(column, in: row) { return 0 }
    switch kind {
    case .bool: return layout.bool(column, in: row) ? 1 : 0
    case .integer: return UInt64(bitPattern: layout.integer(column, in: row) ^ .min)
    case .unsigned: return UInt64(bitPattern: layout.integer(column, in: row))
    case .double, .float, .date: return prefix(of: layout.double(column, in: row))
    case .uuid: return layout.uuid(column, in: row).0.byteSwapped
    case .text:
      let range = layout.range(column, in: row)
      return unsafe row.withUnsafeBytes {
        unsafe prefix(ofText: UnsafeRawBufferPointer(rebasing: $0[range]))
      }
    case .url, .bytes, .identifier: preconditionFailure("values of kind \(kind) have no order")
    }
  }

  /// The prefixes of texts that begin with a text.
  static func prefixes(ofTextsBeginning text: String) -> ClosedRange<UInt64>? {
    let bytes = Array(text.utf8)
    // Any other text may come out changed when what follows it is in normal form.
    guard bytes.allSatisfy({ $0 < 0xCC }) else { return nil }
    let lower = leadingBytes(of: bytes)
    let open = bytes.count >= 8 ? 0 : UInt64.max >> UInt64(8 * bytes.count)
    return lower...(lower | open)
  }

  /// The bits of doubles are ordered like integers, but for negative ones, which run backwards, for the two
  /// zeros, which are equal, and for NaN, which has many forms and one place.
  static func prefix(of value: Double) -> UInt64 {
    if value.isNaN { return notANumber }
    let bits = (value + 0).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  /// The double that has a prefix.
  static func double(_ prefix: UInt64) -> Double {
    Double(bitPattern: prefix >> 63 == 1 ? prefix & ~(1 << 63) : ~prefix)
  }

  /// The prefix of a text, given as UTF-8.
  static func prefix(ofText bytes: RawSpan) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe prefix(ofText: $0) }
  }

  static func prefix(ofText text: String) -> UInt64 {
    var text = text
    return text.withUTF8 { unsafe prefix(ofText: UnsafeRawBufferPointer($0)) }
  }

  static func prefix(ofText utf8: UnsafeRawBufferPointer) -> UInt64 {
    if unsafe utf8.allSatisfy({ $0 < 0xCC }) { return unsafe leadingBytes(of: utf8) }
    let text = unsafe String(decoding: utf8, as: UTF8.self)
    return leadingBytes(of: text.precomposedStringWithCanonicalMapping.utf8)
  }

  private static func leadingBytes(of bytes: some Sequence<UInt8>) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 64
    for byte in bytes.prefix(8) {
      shift -= 8
      result |= UInt64(byte) << shift
    }
    return result
  }
}
