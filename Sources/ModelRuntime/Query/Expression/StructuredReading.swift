import RowFormat

/// How a column whose values only their Swift type understands becomes one of them: a composite, an
/// array, what a transformer makes.
///
/// Unchecked, because codecs and defaults are constants.
package struct StructuredReading: @unchecked Sendable {
  package let column: Int
  private let codec: any AttributeCodec
  /// What the property reads as without a value, or with one that cannot be decoded; `nil` if there is
  /// nothing it could read as.
  private let absent: QueryValue?

  /// How a property is read, or `nil` if its bytes are not in its column.
  init?(_ property: ModelProperty) {
    guard case .attribute(let codec) = property.kind else { return nil }
    switch codec.columnType {
    case .structured, .bytes: break
    default: return nil
    }
    column = property.ordinal
    self.codec = codec
    absent =
      property.isOptional
      ? .null : (property.defaultValue ?? neutralValue(of: property)).map(QueryValue.init(of:))
  }

  /// Reads the column of a row.
  func value(_ slot: ColumnSlot, in row: RawSpan) throws -> QueryValue {
    if slot.isNull(in: row) { return try valueIfAbsent() }
    let value = row.withUnsafeBytes { bytes in
      let view = _RowView(base: bytes.baseAddress, byteCount: bytes.count, layout: slot.layout)
      return try? codec.value(view, column)
    }
    return try value.map(QueryValue.init(of:)) ?? valueIfAbsent()
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
/// Unchecked, because it is a value that was decoded for one evaluation, or a captured constant.
package final class OpaqueValue: Hashable, @unchecked Sendable {
  let value: Any

  init(_ value: Any) { self.value = value }

  package static func == (lhs: OpaqueValue, rhs: OpaqueValue) -> Bool { lhs === rhs }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What a property without a default reads as when its row has no value: an empty collection, or the
/// first case.
private func neutralValue(of property: ModelProperty) -> Any? {
  let type = type(of: property.keyPath).valueType
  if let collection = type as? any RangeReplaceableCollection.Type { return makeEmpty(collection) }
  return (type as? any CaseIterable.Type).flatMap { firstCase(of: $0) }
}

private func makeEmpty<T: RangeReplaceableCollection>(_: T.Type) -> Any { T() }
