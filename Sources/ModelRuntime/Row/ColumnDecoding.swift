// Reading what has no neutral value of its own to fall back on.

/// Reads a value that is stored by its raw value.
///
/// A raw value the type does not know (a case that was removed, or that a newer version of the app wrote)
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
  var reason = "there is no value"
  if !row.isNull(ordinal) {
    do {
      return try model._$state.withValue(row, ordinal) {
        try StructuredCoding.decode(Value.self, from: $0.bytes)
      }
    } catch {
      reason = "\(error)"
    }
  }
  return fallback(ordinal, of: model) { reason }
}

/// The value a property has when its row has none: nil, the default, the first case, or an empty value.
///
/// A getter cannot throw, so a property of a type without any of these has nothing to answer with.
func fallback<Value, M: PersistentModel>(
  _ ordinal: Int,
  of model: M,
  because reason: () -> String
) -> Value {
  if let optional = Value.self as? any ExpressibleByNilLiteral.Type,
    let value = makeNil(optional) as? Value
  {
    return value
  }
  let property = model._$state.descriptor(of: model).properties[ordinal]
  if let value = property.defaultValue as? Value { return value }
  if let enumeration = Value.self as? any CaseIterable.Type,
    let value = firstCase(enumeration) as? Value
  {
    return value
  }
  if let collection = Value.self as? any RangeReplaceableCollection.Type,
    let value = makeEmpty(collection) as? Value
  {
    return value
  }
  preconditionFailure(
    "\(M.self).\(property.name) of \(model.persistentModelID) cannot be read: \(reason()), and \(Value.self) "
      + "has no default; give the property one"
  )
}

private func makeNil<T: ExpressibleByNilLiteral>(_: T.Type) -> Any { T(nilLiteral: ()) }
private func firstCase<T: CaseIterable>(_: T.Type) -> Any? { T.allCases.first }
private func makeEmpty<T: RangeReplaceableCollection>(_: T.Type) -> Any { T() }
