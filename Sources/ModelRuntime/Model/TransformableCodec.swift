import Foundation
import RowFormat

/// The codec of a `.transformable` attribute: bytes in the row, and in an archive too.
struct TransformableCodec: AttributeCodec {
  /// The name the transformer is registered under, or its class's.
  let transformerName: String
  let isOptional: Bool
  var columnType: ColumnType { .bytes }
  var mayUseSideFiles: Bool { true }

  func archive(
    _ row: _RowView,
    _ column: Int,
    into container: inout KeyedEncodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey
  ) throws {
    if row.isNull(column) { return try container.encodeNil(forKey: key) }
    try unsafe container.encode(row.withBytes(column) { unsafe Data($0) }, forKey: key)
  }

  func unarchive(
    from container: KeyedDecodingContainer<DataStoreSnapshotCodingKey>,
    forKey key: DataStoreSnapshotCodingKey,
    into encoder: inout _RowEncoder,
    _ column: Int
  ) throws -> Bool {
    guard let bytes = try container.decodeIfPresent(Data.self, forKey: key) else { return false }
    bytes._encode(into: &encoder, column)
    return true
  }

  func value(_ row: _RowView, _ column: Int) -> Any? {
    unsafe row.isNull(column) ? nil : value(of: row.withBytes(column) { unsafe Data($0) })
  }

  /// Returns the transformer's value for stored bytes.
  func value(of bytes: Data) -> Any? {
    guard let transformer = TransformerNames.transformer(named: transformerName) else { return nil }
    return transformer.isOfBytes
      ? transformer.transformedValue(bytes) : transformer.reverseTransformedValue(bytes)
  }

  func write(_ value: Any, into encoder: inout _RowEncoder, _ column: Int) {
    guard let value = unwrapped(value) else { return }
    guard let transformer = TransformerNames.transformer(named: transformerName) else {
      return fail("no transformer of the name \"\(transformerName)\" is registered", in: &encoder)
    }
    let transformed =
      transformer.isOfBytes
      ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
    guard let bytes = transformed as? Data else {
      return fail(
        "transformer \(transformerName) makes no Data of a \(type(of: value))",
        in: &encoder
      )
    }
    bytes._encode(into: &encoder, column)
  }

  /// Returns the wrapped value of an optional, or the value itself.
  private func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any AnyOptional else { return value }
    return optional.wrappedValue
  }

  private func fail(_ reason: String, in encoder: inout _RowEncoder) {
    let name = encoder.state?.descriptor.entityName
    encoder.failure =
      encoder.failure
      ?? SwiftDataError.modelValidationFailure.explained(
        "a value of \(name ?? "a model") cannot be stored: \(reason)",
        entity: name
      )
  }
}

extension ValueTransformer {
  /// Whether the transformer makes objects of bytes, and is used the other way round: that is how Foundation's own one for archives
  /// works, and its subclasses, which say what an archive may hold.
  fileprivate var isOfBytes: Bool { self is NSSecureUnarchiveFromDataTransformer }
}

extension ModelProperty {
  /// Whether the column has a transformer's output.
  ///
  /// The types of column and property do not tell: those of `Data` are the same with a transformer and without.
  var isTransformed: Bool { transformableCodec != nil }
}

extension Schema.Attribute {
  /// The name of the transformer that its values pass through, if any.
  var transformerName: String? { options.lazy.compactMap(\.transformerName).first }
}
