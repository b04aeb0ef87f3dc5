/// The properties of an enumeration stored by its raw value that an expression needs.
struct RawValueFacts {
  let kind: QueryKind
  let values: any RawValues
  private let type: any Any.Type

  /// Makes the facts of a type, optional or not, that is stored by its raw value; `nil` for other types.
  init?(of type: any Any.Type) {
    let type = TypeMetadata.unwrapped(type)
    guard let enumeration = type as? any (RawRepresentable & Codable).Type,
      let (kind, values) = rawValues(of: enumeration)
    else { return nil }
    self.kind = kind
    self.values = values
    self.type = type
  }

  /// The raw value of a property without a readable value: its default, or the first case.
  func fallback(_ property: ModelProperty) -> QueryValue {
    if let value = property.defaultValue.flatMap(rawQueryValue) { return value }
    return NeutralValue.simple(type).flatMap(rawQueryValue) ?? .null
  }
}

/// The raw values of an enumeration, through its type.
package protocol RawValues: Sendable {
  /// Whether the enumeration has a case for a raw value.
  func contains(_ rawValue: QueryValue) -> Bool
  /// The raw values of all cases; `nil` for an enumeration that does not list them.
  var all: [QueryValue]? { get }
}

private struct EnumerationValues<Value: RawRepresentable, Raw: QueryScalar>: RawValues {
  func contains(_ rawValue: QueryValue) -> Bool {
    guard let raw = Raw(queryValue: rawValue) as? Value.RawValue else { return false }
    return Value(rawValue: raw) != nil
  }

  var all: [QueryValue]? {
    func values<E: CaseIterable>(_: E.Type) -> [QueryValue] { E.allCases.compactMap(rawQueryValue) }
    return (Value.self as? any CaseIterable.Type).map { values($0) }
  }
}

/// The raw value of an enumeration's case, in the form of an expression.
func rawQueryValue(_ value: Any) -> QueryValue? {
  guard let value = value as? any RawRepresentable else { return nil }
  return (value.rawValue as? any QueryScalar)?.queryValue
}

/// The kind of a type's raw values, optional or not; `nil` if it has none.
func rawValueKind(of type: any Any.Type) -> QueryKind? {
  let type = TypeMetadata.unwrapped(type)
  guard let type = type as? any RawRepresentable.Type else { return nil }
  return rawValues(of: type)?.0
}

private func rawValues<T: RawRepresentable>(of _: T.Type) -> (QueryKind, any RawValues)? {
  guard let raw = queryScalar(T.RawValue.self) else { return nil }
  return (raw.queryKind, makeValues(T.self, raw))
}

// Two parameters, because a constraint on an associated type cannot be added to an opened metatype.
private func makeValues<T: RawRepresentable, Raw: QueryScalar>(
  _: T.Type,
  _: Raw.Type
) -> any RawValues {
  EnumerationValues<T, Raw>()
}
