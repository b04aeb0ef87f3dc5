import Foundation
package import RowFormat

/// Moves the values of one attribute between a row, a keyed archive, and `Any`.
///
/// The slow path, for stores that use `Codable` and for reflection; generated code does not use it.
package protocol AttributeCodec: Sendable {
  var columnType: ColumnType { get }
  var isOptional: Bool { get }
  /// Whether a value may be in a side file, if its attribute asks for external storage.
  var mayUseSideFiles: Bool { get }

  /// Writes the column's value into an archive; null is written as an explicit nil.
  func archive(
    _ row: _RowView,
    _ column: Int,
    into container: inout KeyedEncodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey
  ) throws

  /// Reads a value from an archive into the row being encoded.
  ///
  /// - Returns: `false`, with nothing written, if it is nil there.
  func unarchive(
    from container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey,
    into encoder: inout _RowEncoder,
    _ column: Int
  ) throws -> Bool

  /// The column's value, or `nil` for null.
  func value(_ row: _RowView, _ column: Int) throws -> Any?

  /// The readable part of a value whose shape differs from the attribute's type; without a row, of no value.
  func readableValue(_ row: _RowView?, _ column: Int) -> Any?

  /// Writes a value into the row being encoded, if it has the attribute's type.
  func write(_ value: Any, into encoder: inout _RowEncoder, _ column: Int)
}

extension AttributeCodec {
  package func readableValue(_ row: _RowView?, _ column: Int) -> Any? { nil }
  package var mayUseSideFiles: Bool { false }
}

/// The codec of a value that has its own column type.
struct ColumnCodec<Value: _ColumnValue>: AttributeCodec {
  var columnType: ColumnType { Value._columnType }
  var isOptional: Bool { Value._isOptional }
  var mayUseSideFiles: Bool { Value._columnType == .bytes }

  func archive(
    _ row: _RowView,
    _ column: Int,
    into container: inout KeyedEncodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey
  ) throws {
    try container.encode(Value._decode(row, column), forKey: key)
  }

  func unarchive(
    from container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey,
    into encoder: inout _RowEncoder,
    _ column: Int
  ) throws -> Bool {
    guard let value = try container.decodeIfPresent(Value.self, forKey: key) else { return false }
    value._encode(into: &encoder, column)
    return true
  }

  func value(_ row: _RowView, _ column: Int) -> Any? {
    row.isNull(column) ? nil : Value._decodePresent(row, column)
  }

  func write(_ value: Any, into encoder: inout _RowEncoder, _ column: Int) {
    (value as? Value)?._encode(into: &encoder, column)
  }
}

/// The codec of an enumeration, or any other type, that is stored by its raw value.
///
/// `Raw` is `Value.RawValue`: two parameters, because a constraint on an associated type cannot be
/// added to a metatype that was opened from an existential.
struct RawValueCodec<Value: RawRepresentable & Codable, Raw: _ColumnValue>: AttributeCodec {
  let isOptional: Bool
  var columnType: ColumnType { Raw._columnType }

  func archive(
    _ row: _RowView,
    _ column: Int,
    into container: inout KeyedEncodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey
  ) throws {
    if row.isNull(column) { return try container.encodeNil(forKey: key) }
    try container.encode(Raw._decode(row, column), forKey: key)
  }

  func unarchive(
    from container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey,
    into encoder: inout _RowEncoder,
    _ column: Int
  ) throws -> Bool {
    guard let raw = try container.decodeIfPresent(Raw.self, forKey: key) else { return false }
    raw._encode(into: &encoder, column)
    return true
  }

  func value(_ row: _RowView, _ column: Int) -> Any? {
    guard !row.isNull(column), let raw = Raw._decode(row, column) as? Value.RawValue else {
      return nil
    }
    return Value(rawValue: raw)
  }

  func write(_ value: Any, into encoder: inout _RowEncoder, _ column: Int) {
    ((value as? Value)?.rawValue as? Raw)?._encode(into: &encoder, column)
  }
}

/// The codec of every other `Codable` value.
struct StructuredCodec<Value: Codable>: AttributeCodec {
  let isOptional: Bool
  var columnType: ColumnType { .structured }

  func archive(
    _ row: _RowView,
    _ column: Int,
    into container: inout KeyedEncodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey
  ) throws {
    if row.isNull(column) { return try container.encodeNil(forKey: key) }
    try container.encode(decode(row, column), forKey: key)
  }

  func unarchive(
    from container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey,
    into encoder: inout _RowEncoder,
    _ column: Int
  ) throws -> Bool {
    if let value = try container.decodeIfPresent(Value.self, forKey: key) {
      encoder.set(column, structured: value)
    } else if !isOptional, let value = try? container.decode(Value.self, forKey: key) {
      // A type may encode a value as nil, and decode it from nil again.
      encoder.set(column, structured: value)
    } else {
      return false
    }
    return true
  }

  func value(_ row: _RowView, _ column: Int) throws -> Any? {
    row.isNull(column) ? nil : try decode(row, column)
  }

  func readableValue(_ row: _RowView?, _ column: Int) -> Any? {
    guard let row, !row.isNull(column) else { return try? NeutralValue.make(Value.self) }
    return unsafe row.withBytes(column) {
      unsafe StructuredCoding.decodeReadable(Value.self, from: $0.bytes)
    }
  }

  func write(_ value: Any, into encoder: inout _RowEncoder, _ column: Int) {
    guard let value = value as? Value else { return }
    if isOptional {
      // As the property has it: a value that encodes itself as null then becomes nil.
      encoder.set(column, structured: Optional(value))
    } else {
      encoder.set(column, structured: value)
    }
  }

  private func decode(_ row: _RowView, _ column: Int) throws -> Value {
    try unsafe row.withBytes(column) {
      try unsafe StructuredCoding.decode(Value.self, from: $0.bytes)
    }
  }
}

// MARK: Choosing the codec of a type

/// Finds the codec of a property's type, or `nil` when values of the type cannot be stored.
///
/// The same choice that overload resolution makes for the property's slot, made at run time.
func attributeCodec(for type: any Any.Type) -> (any AttributeCodec)? {
  if let column = columnType(type) { return columnCodec(column) }
  if let wrapped = TypeMetadata.wrappedType(of: type) {
    return codec(of: wrapped, isOptional: true)
  }
  return codec(of: type, isOptional: false)
}

private func codec(of type: any Any.Type, isOptional: Bool) -> (any AttributeCodec)? {
  if let type = type as? any (RawRepresentable & Codable).Type,
    let codec = rawValueCodec(type, isOptional: isOptional)
  {
    return codec
  }
  return (type as? any Codable.Type).map { structuredCodec($0, isOptional: isOptional) }
}

private func columnCodec<Value: _ColumnValue>(_: Value.Type) -> any AttributeCodec {
  ColumnCodec<Value>()
}

private func rawValueCodec<Value: RawRepresentable & Codable>(
  _: Value.Type,
  isOptional: Bool
) -> (any AttributeCodec)? {
  guard let rawType = columnType(Value.RawValue.self) else { return nil }
  return rawValueCodec(Value.self, rawType, isOptional: isOptional)
}

private func rawValueCodec<Value: RawRepresentable & Codable, Raw: _ColumnValue>(
  _: Value.Type,
  _: Raw.Type,
  isOptional: Bool
) -> any AttributeCodec {
  RawValueCodec<Value, Raw>(isOptional: isOptional)
}

private func structuredCodec<Value: Codable>(
  _: Value.Type,
  isOptional: Bool
) -> any AttributeCodec {
  StructuredCodec<Value>(isOptional: isOptional)
}
