package import Foundation
import RowFormat

/// A composite value, or a part of one, in the form of its bytes: without its original type.
package enum StructuredValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer above `Int64.max`.
  case unsigned(UInt64)
  case double(Double)
  case text(String)
  case bytes([UInt8])
  case date(Date)
  case uuid(UUID)
  case array([StructuredValue])
  case map([Entry])
  /// A value under an unsupported tag.
  indirect case tagged(UInt64, StructuredValue)
  /// An item that no Swift value is encoded as, in diagnostic notation.
  case other(String)

  /// One entry of a map.
  package struct Entry: Hashable, Sendable {
    package let key: StructuredValue
    package let value: StructuredValue

    package init(key: StructuredValue, value: StructuredValue) {
      self.key = key
      self.value = value
    }
  }

  /// The value of a field, if this is a map that has it.
  package subscript(_ name: String) -> StructuredValue? {
    guard case .map(let entries) = self else { return nil }
    return entries.first { $0.key == .text(name) }?.value
  }

  /// Reads a whole value, or returns `nil` if the bytes are invalid.
  package init?(_ bytes: RawSpan) {
    guard StructuredExtent.end(of: 0, in: bytes) == bytes.byteCount else { return nil }
    self.init(at: 0, in: bytes)
  }
}

extension StructuredCoding {
  /// Finds one field of a composite value and reads it alone.
  ///
  /// - Parameters:
  ///   - path: The names of the fields that lead to it from the outermost value.
  ///   - bytes: The bytes that ``encode(_:into:)`` appended.
  /// - Returns: The field, or `nil` if there is none: a field before it is `nil`, or the bytes are
  ///   damaged on the way to it.
  package static func value(at path: [String], in bytes: RawSpan) -> StructuredValue? {
    var offset = 0
    for name in path {
      guard let field = field(name, at: offset, in: bytes) else { return nil }
      offset = field
    }
    return StructuredValue(at: offset, in: bytes)
  }

  private static func field(_ name: String, at offset: Int, in bytes: RawSpan) -> Int? {
    guard let head = StructuredHead(at: offset, in: bytes), head.major == .map else { return nil }
    var items = StructuredItems(of: head)
    while let key = items.next(in: bytes) {
      // The value of the field itself need not be walked to be found.
      if isText(name, at: key, in: bytes) { return items.position }
      guard items.next(in: bytes) != nil else { return nil }
    }
    return nil
  }

  private static func isText(_ name: String, at offset: Int, in bytes: RawSpan) -> Bool {
    guard let head = StructuredHead(at: offset, in: bytes), head.major == .text,
      !head.isIndefinite, head.argument == UInt64(name.utf8.count)
    else { return false }
    var position = head.end
    for byte in name.utf8 {
      guard bytes.load(UInt8.self, at: position) == byte else { return false }
      position += 1
    }
    return true
  }
}
