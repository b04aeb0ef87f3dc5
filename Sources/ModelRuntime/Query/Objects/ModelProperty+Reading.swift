import Foundation

extension ModelProperty {
  /// Makes a reader of an attribute of objects, which returns the value that a row would hold.
  ///
  /// Types and key path are inspected once, here: a read is a call of the property's getter.
  func makeReader() -> (any PersistentModel) -> QueryValue {
    guard let model = type(of: keyPath).rootType as? any PersistentModel.Type,
      let read = reader(in: model, type(of: keyPath).valueType)
    else { return { _ in .null } }
    return read
  }

  private func reader<Root: PersistentModel>(
    in _: Root.Type,
    _ declared: any Any.Type
  ) -> ((any PersistentModel) -> QueryValue)? {
    let type = TypeMetadata.unwrapped(declared)
    if let scalar = queryScalar(type) {
      return scalarReader(in: Root.self, scalar)
    }
    if let raw = type as? any (RawRepresentable & Codable).Type, rawValueKind(of: type) != nil {
      return rawReader(in: Root.self, raw)
    }
    func open<Value>(_: Value.Type) -> ((any PersistentModel) -> QueryValue)? {
      guard let keyPath = keyPath as? KeyPath<Root, Value> else { return nil }
      let make = QueryValue.maker(of: Value.self)
      return { make($0.cast(to: Root.self)[keyPath: keyPath]) }
    }
    return _openExistential(declared, do: open)
  }

  private func scalarReader<Root: PersistentModel, Value: QueryScalar>(
    in _: Root.Type,
    _: Value.Type
  ) -> ((any PersistentModel) -> QueryValue)? {
    if let keyPath = keyPath as? KeyPath<Root, URL> {
      return { .text($0.cast(to: Root.self)[keyPath: keyPath].absoluteString) }
    }
    if let keyPath = keyPath as? KeyPath<Root, URL?> {
      return { $0.cast(to: Root.self)[keyPath: keyPath].map { .text($0.absoluteString) } ?? .null }
    }
    if let keyPath = keyPath as? KeyPath<Root, Value> {
      return { $0.cast(to: Root.self)[keyPath: keyPath].queryValue ?? .null }
    }
    if let keyPath = keyPath as? KeyPath<Root, Value?> {
      return { $0.cast(to: Root.self)[keyPath: keyPath]?.queryValue ?? .null }
    }
    return nil
  }

  private func rawReader<Root: PersistentModel, Value: RawRepresentable>(
    in _: Root.Type,
    _: Value.Type
  ) -> ((any PersistentModel) -> QueryValue)? {
    if let keyPath = keyPath as? KeyPath<Root, Value> {
      return { rawQueryValue($0.cast(to: Root.self)[keyPath: keyPath]) ?? .null }
    }
    if let keyPath = keyPath as? KeyPath<Root, Value?> {
      return { $0.cast(to: Root.self)[keyPath: keyPath].flatMap(rawQueryValue) ?? .null }
    }
    return nil
  }
}

extension PersistentModel {
  /// The object, cast to a class that it is known to be of.
  @inline(__always)
  fileprivate func cast<Model: PersistentModel>(to _: Model.Type) -> Model {
    assert(self is Model, "a \(type(of: self)) read as a \(Model.self)")
    return unsafe unsafeDowncast(self, to: Model.self)
  }
}
