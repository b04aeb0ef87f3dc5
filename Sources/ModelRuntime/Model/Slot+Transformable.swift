import Foundation
import RowFormat

// `@Attribute(.transformable(by:))`: the value, of any type, is stored as the output of a
// `ValueTransformer`. The type determines nothing here, so these methods have names of their own,
// which the macro calls.

extension _Slot {
  public mutating func _getTransformable<M: PersistentModel>(_ model: M, _ ordinal: Int) -> Value {
    if let value { return value }
    let decoded: Value = decodeTransformable(
      model.rowForReading(),
      ordinal,
      of: model
    )
    value = decoded
    return decoded
  }

  public mutating func _setTransformable<M: PersistentModel>(
    _ newValue: Value,
    _ model: M,
    _ ordinal: Int
  ) {
    model._$stateReference.willChange(ordinal)
    value = newValue
  }

  public func _encodeTransformable(into encoder: inout _RowEncoder, _ ordinal: Int) {
    guard let value, encoder.writesValue(ordinal) else { return encoder.keepValue(ordinal) }
    guard let codec = encoder.state?.descriptor.properties[ordinal].transformableCodec else {
      return
    }
    codec.write(value, into: &encoder, ordinal)
  }
}

/// Reads a value through its transformer; one that cannot be read falls back to the property's default.
private func decodeTransformable<Value, M: PersistentModel>(
  _ row: _RowView,
  _ ordinal: Int,
  of model: M
) -> Value {
  guard !row.isNull(ordinal) else {
    return fallback(ordinal, of: model) { "there is no value" }
  }
  let codec = model._$state.descriptor(of: model).properties[ordinal].transformableCodec
  do {
    let bytes = try unsafe model._$state.withValue(row, ordinal) { unsafe Data($0) }
    if let value = codec?.value(of: bytes) as? Value { return value }
  } catch {
    return fallback(ordinal, of: model) { "\(error)" }
  }
  return fallback(ordinal, of: model) {
    "transformer \(codec?.transformerName ?? "(none)") makes no \(Value.self) of its bytes"
  }
}
