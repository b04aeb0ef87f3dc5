// Decoding of values that have no neutral value of their own.

/// Reads a value that is stored by its raw value.
///
/// A raw value unknown to the type (a case that was removed, or that a newer version of the app wrote)
/// reads as the property's default.
@usableFromInline
func _decodeRaw<Value: RawRepresentable & Codable, M: PersistentModel>(
  _ row: _RowView,
  _ ordinal: Int,
  of model: M
) -> Value where Value.RawValue: _ColumnValue {
  if !row.isNull(ordinal),
    let value = Value(rawValue: Value.RawValue._decodePresent(row, ordinal))
  {
    return value
  }
  return fallback(ordinal, of: model) {
    row.isNull(ordinal)
      ? "there is no value" : "\(Value.RawValue._decodePresent(row, ordinal)) is no \(Value.self)"
  }
}

/// Reads a composite value.
func _decodeStructured<Value: Codable, M: PersistentModel>(
  _ row: _RowView,
  _ ordinal: Int,
  of model: M
) -> Value {
  if row.isNull(ordinal) { return fallback(ordinal, of: model) { "there is no value" } }
  let state = model._$state
  do {
    return try unsafe state.withValue(row, ordinal) { bytes -> Value in
      do {
        return try unsafe StructuredCoding.decode(Value.self, from: bytes.bytes)
      } catch {
        state.deferUnreadableValue(ordinal, of: model, because: error)
        let property = state.descriptor(of: model).properties[ordinal]
        // If there is a default, the app wants to read it here; without one, the readable part is kept.
        if let value = property.neutralValue(of: Value.self) { return value }
        if let value = unsafe StructuredCoding.decodeReadable(Value.self, from: bytes.bytes) {
          return value
        }
        throw error
      }
    }
  } catch {
    return fallback(ordinal, of: model) { "\(error)" }
  }
}

/// The value a property has when its row has none: nil, the default, the first case, or an empty value.
///
/// A getter cannot throw, so a property of a type without any of these traps.
func fallback<Value, M: PersistentModel>(
  _ ordinal: Int,
  of model: M,
  because reason: () -> String
) -> Value {
  let property = model._$state.descriptor(of: model).properties[ordinal]
  if let value = property.neutralValue(of: Value.self) { return value }
  if let type = Value.self as? any Decodable.Type, let value = makeNeutral(type) as? Value {
    return value
  }
  preconditionFailure(
    "\(M.self).\(property.name) of \(model.persistentModelID) cannot be read: \(reason()), and the decoder of "
      + "\(Value.self) accepts no neutral values; give the property a default, or make it optional"
  )
}

private func makeNeutral<T: Decodable>(_ type: T.Type) -> Any? { try? NeutralValue.make(type) }

extension ModelProperty {
  /// The value of the property without a stored value, if it needs no decoding.
  func neutralValue<Value>(of type: Value.Type) -> Value? {
    if let optional = type as? any ExpressibleByNilLiteral.Type,
      let value = NeutralValue.simple(optional) as? Value
    {
      return value
    }
    if let value = defaultValue as? Value { return value }
    return NeutralValue.simple(type) as? Value
  }
}

extension _ModelState {
  /// Makes the context's next save or fetch throw the error of a stored value that cannot be read.
  fileprivate func deferUnreadableValue(
    _ ordinal: Int,
    of model: some PersistentModel,
    because error: any Error
  ) {
    guard let context, context.deferredError == nil else { return }
    context.deferredError = SwiftDataError.unreadableValue(
      of: model.persistentModelID,
      property: descriptor(of: model).properties[ordinal].name,
      causedBy: error
    )
  }
}

extension StructuredCoding {
  /// Decodes the readable part of a value with another shape; the rest is neutral.
  ///
  /// - Returns: `nil` for bytes that are damaged, or a type whose decoder accepts no neutral values.
  static func decodeReadable<T: Decodable>(_ type: T.Type, from bytes: RawSpan) -> T? {
    unsafe bytes.withUnsafeBytes { buffer in
      let reader = unsafe StructuredReader(buffer)
      defer { reader.invalidate() }
      guard (try? reader.validate()) != nil else { return nil }
      return try? NeutralValue.make(
        type,
        from: StructuredDecoder(reader: reader, offset: 0, place: nil)
      )
    }
  }
}
