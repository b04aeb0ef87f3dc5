import Foundation
import RowFormat

/// The conversion of a column whose values only their Swift type understands: a composite, an
/// array, a transformer's output.
///
/// Unchecked, because codecs and defaults are constants.
package struct StructuredReading: @unchecked Sendable {
  package let column: Int
  private let codec: any AttributeCodec
  private let isOptional: Bool
  /// Whether the value may be in a side file.
  private let isBlob: Bool
  /// Whether an expression passes all values on.
  private let isOpaque: Bool
  /// The value of the property without a stored value; `nil` if there is none.
  private let absent: QueryValue?
  /// The value for stored bytes that cannot be decoded; if `nil`, their readable part is used.
  private let neutral: QueryValue?

  /// Makes the reading of a property, or `nil` if its bytes are not in its column.
  init?(_ property: ModelProperty) {
    guard case .attribute(let codec) = property.kind else { return nil }
    switch codec.columnType {
    case .structured, .bytes: break
    default: return nil
    }
    column = property.ordinal
    isOptional = property.isOptional
    isBlob = property.columnType == .blob
    self.codec = codec
    isOpaque = QueryValue.isOpaque(TypeMetadata.unwrapped(type(of: property.keyPath).valueType))
    neutral =
      property.isOptional
      ? .null
      : (property.defaultValue ?? NeutralValue.simple(type(of: property.keyPath).valueType))
        .map(QueryValue.init(of:))
    absent = neutral ?? codec.readableValue(nil, property.ordinal).map(QueryValue.init(of:))
  }

  /// Whether the null bit alone tells whether there is a value, so that no side file must be read.
  package var isNullWhereColumnIs: Bool { isBlob && isOptional }

  /// Reads the column of a row.
  ///
  /// - Throws: The error of the resolver if a side file cannot be read.
  func value(
    _ slot: ColumnSlot,
    in row: RawSpan,
    _ reference: RowReference,
    _ resolver: any RowResolver
  ) throws -> QueryValue {
    if slot.isNull(in: row) { return try valueIfAbsent() }
    if isBlob, let blob = slot.layout.blob(column, in: row)?.reference {
      guard let bytes = try resolver.readBlob(blob, of: reference, column: column) else {
        return try valueIfAbsent()
      }
      return try value(slot, of: bytes)
    }
    return try inlineValue(slot, in: row)
  }

  /// The value of a side file's bytes, as if they were in the row.
  private func value(_ slot: ColumnSlot, of bytes: Data) throws -> QueryValue {
    var writer = RowWriter(capacity: bytes.count + 256)
    writer.begin(slot.layout)
    unsafe bytes.withUnsafeBytes { unsafe writer.append(column, inlineBlob: $0.bytes) }
    _ = writer.finish()
    return try inlineValue(slot, in: writer.bytes)
  }

  private func inlineValue(_ slot: ColumnSlot, in row: RawSpan) throws -> QueryValue {
    let value = unsafe row.withUnsafeBytes { bytes -> QueryValue? in
      let view = unsafe _RowView(
        base: bytes.baseAddress,
        byteCount: bytes.count,
        layout: slot.layout
      )
      if let value = try? codec.value(view, column) {
        return isOpaque ? .opaque(OpaqueValue(value)) : QueryValue(of: value)
      }
      return neutral ?? codec.readableValue(view, column).map(QueryValue.init(of:))
    }
    return try value ?? valueIfAbsent()
  }

  func value(whenMissing absence: RowPath.Absence) throws -> QueryValue {
    switch absence {
    case .null: .null
    case .neutral: try valueIfAbsent()
    case .failure: throw QueryFailure.unwrappedNil
    }
  }

  private func valueIfAbsent() throws -> QueryValue {
    guard let absent else { throw QueryFailure.unreadable }
    return absent
  }
}

/// A value that an expression passes on without looking into it.
///
/// Two are equal if their values are; a value whose type is not equatable is equal to itself alone.
///
/// Unchecked, because it is a value decoded for one evaluation, or a captured constant.
package final class OpaqueValue: Hashable, @unchecked Sendable {
  let value: Any

  init(_ value: Any) { self.value = value }

  private var hashable: AnyHashable? { value as? AnyHashable }

  package static func == (lhs: OpaqueValue, rhs: OpaqueValue) -> Bool {
    if lhs === rhs { return true }
    guard let lhs = lhs.hashable, let rhs = rhs.hashable else { return false }
    return lhs == rhs
  }

  package func hash(into hasher: inout Hasher) {
    if let hashable { hasher.combine(hashable) } else { hasher.combine(ObjectIdentifier(self)) }
  }
}
