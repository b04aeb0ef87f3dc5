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

  /// Whether the key path is `persistentModelID`, or `id` where that is the same.
  private var namesIdentifier: Bool {
    guard let model = Root.Output.self as? any PersistentModel.Type else { return false }
    return isIdentifier(of: model)
  }

  private func isIdentifier<M: PersistentModel>(of _: M.Type) -> Bool {
    if keyPath == \M.persistentModelID { return true }
    // `id` is found under two names: the one that models have, and, in generic code, Identifiable's.
    let own: KeyPath<M, PersistentIdentifier> = \.id
    return keyPath == own || M.ID.self == PersistentIdentifier.self && keyPath == \M.id
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
      // Such a column is read as its raw value anyway.
      if namesRawValue { return value }
      throw .property("\(keyPath)")
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

  private var namesRawValue: Bool {
    guard let type = Root.Output.self as? any RawRepresentable.Type else { return false }
    return keyPath == rawValueKeyPath(of: type)
  }

  private func rawValueKeyPath<R: RawRepresentable>(of _: R.Type) -> AnyKeyPath { \R.rawValue }

  private func mapped<Input: QueryScalar>(
    _ value: QueryExpression,
    _: Input.Type
  ) throws(Untranslatable) -> QueryExpression {
    guard queryKind(of: Output.self) != nil,
      let typed = keyPath as AnyKeyPath as? Swift.KeyPath<Input, Output>
    else { throw .property("\(keyPath)") }
    // The node's own key path is Sendable; only the cast forgot it.
    nonisolated(unsafe) let path = typed
    return .mapped(
      value,
      .init(name: "\(keyPath)") { value in
        guard let input = Input(queryValue: value) else { return .null }
        return (input[keyPath: path] as? any QueryScalar)?.queryValue ?? .null
      }
    )
  }
}
