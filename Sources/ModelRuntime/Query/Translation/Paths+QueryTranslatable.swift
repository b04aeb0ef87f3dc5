import Foundation

extension PredicateExpressions.Variable: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try translation.value(of: key)
  }
}

extension PredicateExpressions.KeyPath: QueryTranslatable where Root: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    switch try root.translate(translation) {
    case .row(let path): try property(of: path)
    case .list(let list): try property(of: list)
    case .castRow: throw .combination("a property of a cast that may fail")
    case let value: try property(of: value)
    }
  }

  /// A property of a model.
  private func property(of path: RowPath) throws(Untranslatable) -> QueryExpression {
    guard let property = path.descriptor.property(for: keyPath) else {
      if namesIdentifier { return .identifier(path) }
      throw .property("\(path.descriptor.entityName): \(keyPath)")
    }
    switch property.kind {
    case .toOne(let destination): return .row(path.appending(property, to: .of(destination)))
    case .toMany(let element):
      return .list(.init(owner: path, property: property, element: .of(element)))
    case .attribute:
      guard let reading = ColumnReading(property) else { throw .value("\(property.name)") }
      return .column(path, reading)
    }
  }

  private var namesIdentifier: Bool {
    guard let model = Root.Output.self as? any PersistentModel.Type else { return false }
    return isIdentifier(keyPath, of: model)
  }

  private func property(
    of list: QueryExpression.MemberList
  ) throws(Untranslatable) -> QueryExpression {
    switch kind {
    case .collectionCount: return .count(list)
    case .collectionIsEmpty: return .not(.exists(list, where: .bool(true)))
    default: throw .combination("\(keyPath) of a to-many relationship")
    }
  }

  /// A property of a value: of a text, a date, a raw enumeration.
  private func property(of value: QueryExpression) throws(Untranslatable) -> QueryExpression {
    if case .column(_, let reading) = value, reading.enumeration != nil {
      return try property(ofEnumeration: value)
    }
    guard let input = Root.Output.self as? any QueryScalar.Type else {
      throw .value("\(Root.Output.self)")
    }
    if input == String.self, let kind {
      switch kind {
      case .collectionCount: return .mapped(value, .textCount)
      case .collectionIsEmpty: return .mapped(value, .textIsEmpty)
      default: throw .property("\(keyPath)")
      }
    }
    return try mapped(value, input)
  }

  /// A property of an enumeration that is stored, and read, by its raw value.
  private func property(
    ofEnumeration value: QueryExpression
  ) throws(Untranslatable) -> QueryExpression {
    guard queryKind(of: Output.self) != nil,
      let type = Root.Output.self as? any RawRepresentable.Type
    else { throw .property("\(keyPath)") }
    return namesRawValue ? value : .mapped(value, property(of: type))
  }

  /// Whether the key path gives every case its raw value.
  ///
  /// An enumeration's `rawValue` has another key path here than in the user's code, so it is known by what
  /// it does; without a list of the cases it is called like any other property.
  private var namesRawValue: Bool {
    guard let type = Root.Output.self as? any CaseIterable.Type else { return false }
    return allCases(type).allSatisfy { value in
      guard let value = value as? Root.Output else { return false }
      return (value[keyPath: keyPath] as? any QueryScalar)?.queryValue == rawQueryValue(value)
    }
  }

  private func allCases<T: CaseIterable>(_: T.Type) -> [Any] { T.allCases.map { $0 } }

  private func property<T: RawRepresentable>(of _: T.Type) -> QueryExpression.ValueMap {
    let keyPath = keyPath as Swift.KeyPath<Root.Output, Output>
    return .init(name: "\(keyPath)") { value in
      guard let raw = value.scalar(T.RawValue.self),
        let value = T(rawValue: raw) as? Root.Output
      else { return .null }
      return (value[keyPath: keyPath] as? any QueryScalar)?.queryValue ?? .null
    }
  }

  private func mapped<Input: QueryScalar>(
    _ value: QueryExpression,
    _: Input.Type
  ) throws(Untranslatable) -> QueryExpression {
    guard queryKind(of: Output.self) != nil,
      let typed = keyPath as AnyKeyPath as? Swift.KeyPath<Input, Output>
    else { throw .property("\(keyPath)") }
    return .mapped(
      value,
      .init(name: "\(keyPath)") { value in
        guard let input = Input(queryValue: value) else { return .null }
        return (input[keyPath: typed] as? any QueryScalar)?.queryValue ?? .null
      }
    )
  }
}
