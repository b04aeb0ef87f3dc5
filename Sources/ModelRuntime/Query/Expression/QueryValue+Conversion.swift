import Foundation

extension QueryValue {
  /// Converts a value of any type to the form of an expression.
  init(of value: Any) {
    if let known = QueryValue(known: value) {
      self = known
    } else {
      self = .opaque(OpaqueValue((value as? any AnyOptional)?.wrappedValue ?? value))
    }
  }

  /// Converts a value of a type that an expression understands; otherwise `nil`.
  init?(known value: Any) {
    if let scalar = value as? any QueryScalar {
      guard let value = scalar.queryValue else { return nil }
      self = value
    } else if let optional = value as? any AnyOptional {
      guard let wrapped = optional.wrappedValue else {
        self = .null
        return
      }
      self.init(known: wrapped)
    } else if comparesByRawValue(value), let raw = rawQueryValue(value) {
      self = raw
    } else {
      return nil
    }
  }

  /// The value as one of a type, or `nil` if it is of another.
  func typed<T>(as type: T.Type) -> T? {
    let type = TypeMetadata.unwrapped(type)
    switch self {
    case .null: return (T.self as? any ExpressibleByNilLiteral.Type).flatMap { makeNil($0) as? T }
    case .opaque(let box): return box.value as? T
    default:
      if let scalar = queryScalar(type) { return scalar.init(queryValue: self) as? T }
      return (type as? any RawRepresentable.Type).flatMap { makeCase($0, self) as? T }
    }
  }
}

extension QueryValue {
  /// A function that does what ``typed(as:)`` does, without finding out for each value what the type is.
  static func conversion<T>(to type: T.Type) -> (QueryValue) -> T? {
    let known =
      if let scalar = queryScalar(type) {
        scalarConversion(scalar) as? (QueryValue) -> T?
      } else if let optional = type as? any ConvertedOptional.Type {
        optional.conversion as? (QueryValue) -> T?
      } else if let raw = type as? any RawRepresentable.Type {
        rawConversion(raw) as? (QueryValue) -> T?
      } else { nil as ((QueryValue) -> T?)? }
    guard let known else { return { $0.typed(as: type) } }
    return { known($0) ?? $0.typed(as: type) }
  }
}

extension QueryValue {
  /// A function that converts values of a type as ``init(of:)`` does, without finding out for each what it is.
  static func maker<T>(of type: T.Type) -> (T) -> QueryValue {
    if isOpaque(type) { return { .opaque(OpaqueValue($0)) } }
    let known =
      if let scalar = queryScalar(type) {
        scalarMaker(scalar) as? (T) -> QueryValue
      } else if let optional = type as? any ConvertedOptional.Type {
        optional.maker as? (T) -> QueryValue
      } else if TypeMetadata.isEnumeration(type), !(type is any CustomReflectable.Type),
        let raw = type as? any RawRepresentable.Type
      {
        rawMaker(raw) as? (T) -> QueryValue
      } else { nil as ((T) -> QueryValue)? }
    return known ?? { QueryValue(of: $0) }
  }

  /// Whether no value of a type is one that an expression understands: of a structure or a collection.
  static func isOpaque(_ type: any Any.Type) -> Bool {
    if TypeMetadata.elementType(of: type) != nil || !TypeMetadata.memberTypes(of: type).isEmpty {
      return true
    }
    return TypeMetadata.isStruct(type) && queryScalar(type) == nil && !(type is any OptionSet.Type)
      && !(type is any CustomReflectable.Type)
  }
}

private func scalarMaker<S: QueryScalar>(_: S.Type) -> Any {
  { (value: S) -> QueryValue in value.queryValue ?? .opaque(OpaqueValue(value)) }
}

private func scalarConversion<S: QueryScalar>(_: S.Type) -> Any {
  { (value: QueryValue) -> S? in S(queryValue: value) }
}

private func rawMaker<R: RawRepresentable>(_: R.Type) -> Any {
  { (value: R) -> QueryValue in rawQueryValue(value) ?? .opaque(OpaqueValue(value)) }
}

private func rawConversion<R: RawRepresentable>(_: R.Type) -> Any {
  let raw = QueryValue.conversion(to: R.RawValue.self)
  return { (value: QueryValue) -> R? in raw(value).flatMap(R.init(rawValue:)) }
}

private func makeNil<T: ExpressibleByNilLiteral>(_: T.Type) -> Any { T(nilLiteral: ()) }

private func makeCase<T: RawRepresentable>(_: T.Type, _ raw: QueryValue) -> Any? {
  raw.typed(as: T.RawValue.self).flatMap(T.init(rawValue:))
}

/// Whether two values of the type are equal exactly if their raw values are.
///
/// True for enumerations and option sets; a structure may compare itself differently.
private func comparesByRawValue(_ value: Any) -> Bool {
  if value is any OptionSet { return true }
  return Mirror(reflecting: value).displayStyle == .enum
}

/// An optional as the type of values.
private protocol ConvertedOptional {
  /// The conversion of values to the type, a `(QueryValue) -> Self?`.
  static var conversion: Any { get }
  /// The conversion of the type's values, a `(Self) -> QueryValue`.
  static var maker: Any { get }
}

extension Optional: ConvertedOptional {
  fileprivate static var conversion: Any {
    let wrapped = QueryValue.conversion(to: Wrapped.self)
    return { (value: QueryValue) -> Wrapped?? in
      if case .null = value { return .some(.none) }
      return wrapped(value).map(Optional.some)
    }
  }

  fileprivate static var maker: Any {
    let wrapped = QueryValue.maker(of: Wrapped.self)
    return { (value: Wrapped?) -> QueryValue in value.map(wrapped) ?? .null }
  }
}
