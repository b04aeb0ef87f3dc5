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
    guard let property = path.descriptor.ownOrInheritedProperty(for: keyPath) else {
      if namesIdentifier { return .identifier(path) }
      throw .property("\(path.descriptor.entityName): \(keyPath)")
    }
    switch property.kind {
    case .toOne(let destination): return .row(path.appending(property, to: .of(destination)))
    case .toMany(let element):
      return .list(.init(owner: path, property: property, element: .of(element)))
    case .attribute:
      if let reading = ColumnReading(property) { return .column(path, reading) }
      guard let reading = StructuredReading(property) else { throw .value("\(property.name)") }
      return .structured(path, reading)
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

  /// A property of a value: of a text, a date, an enumeration, a composite.
  private func property(of value: QueryExpression) throws(Untranslatable) -> QueryExpression {
    // A column of an enumeration is read as its raw value anyway.
    if case .column(_, let reading) = value, reading.enumeration != nil, namesRawValue {
      return value
    }
    if Root.Output.self == String.self {
      switch kind {
      case .collectionCount: return .mapped(value, .textCount)
      case .collectionIsEmpty: return .mapped(value, .textIsEmpty)
      default: break
      }
    }
    try QueryExpression.checkIsTyped(Root.Output.self)
    let keyPath = keyPath as Swift.KeyPath<Root.Output, Output>
    let root = QueryValue.conversion(to: Root.Output.self)
    let result = QueryValue.maker(of: Output.self)
    return .mapped(
      try value.asValue(),
      .init(name: "\(keyPath)", takesNull: TypeMetadata.isOptional(Root.Output.self)) { value in
        root(value).map { result($0[keyPath: keyPath]) } ?? .null
      }
    )
  }

  /// Whether the key path maps every case of an enumeration to its raw value.
  ///
  /// `rawValue` has another key path here than in the user's code, so it is recognized by its results; without a
  /// list of the cases it is called like any other property.
  private var namesRawValue: Bool {
    guard let type = Root.Output.self as? any CaseIterable.Type else { return false }
    return allCases(type).allSatisfy { value in
      guard let value = value as? Root.Output else { return false }
      return QueryValue(of: value[keyPath: keyPath]) == rawQueryValue(value)
    }
  }

  private func allCases<T: CaseIterable>(_: T.Type) -> [Any] { T.allCases.map { $0 } }
}
