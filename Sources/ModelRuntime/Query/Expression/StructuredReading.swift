import Foundation
import RowFormat

/// How a column whose values only their Swift type understands becomes one of them: a composite, an
/// array, what a transformer makes.
///
/// Unchecked, because codecs and defaults are constants.
package struct StructuredReading: @unchecked Sendable {
  package let column: Int
  private let codec: any AttributeCodec
  private let isOptional: Bool
  /// Whether the value may be in a side file.
  private let isBlob: Bool
  /// What the property reads as without a value; `nil` if there is nothing it could read as.
  private let absent: QueryValue?
  /// What it reads as with a value that cannot be decoded; if `nil`, what can be read of that.
  private let neutral: QueryValue?

  /// How a property is read, or `nil` if its bytes are not in its column.
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
    neutral =
      property.isOptional
      ? .null
      : (property.defaultValue ?? NeutralValue.simple(type(of: property.keyPath).valueType))
        .map(QueryValue.init(of:))
    absent = neutral ?? codec.readableValue(nil, property.ordinal).map(QueryValue.init(of:))
  }

  /// Whether the null bit alone says whether there is a value, so that no side file has to be read.
  package var isNullWhereColumnIs: Bool { isBlob && isOptional }

  /// Reads the column of a row.
  ///
  /// - Throws: What the resolver throws if a side file cannot be read.
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

  /// The value that bytes of a side file stand for, as if they were in the row.
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
      if let value = try? codec.value(view, column) { return QueryValue(of: value) }
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

/// A value that an expression hands on without knowing what is in it.
///
/// Two are equal if their values are; one whose type does not say what that means is equal to itself alone.
///
/// Unchecked, because it is a value that was decoded for one evaluation, or a captured constant.
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
