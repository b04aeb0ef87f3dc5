extension ModelContext {
  /// Adds an object to the context.
  // Without a label, as in `notes.forEach(context.insert)`, today's spelling is meant.
  @_disfavoredOverload
  @available(*, deprecated, renamed: "insert(_:)")
  public func insert<T>(object model: T) where T: PersistentModel { insert(model) }

  /// Deletes a model.
  @_disfavoredOverload
  @available(*, deprecated, renamed: "delete(_:)")
  public func delete<T>(object model: T) where T: PersistentModel { delete(model) }

  /// Returns the model of an identifier.
  @available(*, deprecated, renamed: "model(for:)")
  public func object(with identifier: PersistentIdentifier) -> any PersistentModel {
    model(for: identifier)
  }

  /// Returns the model of an identifier, if the context has it.
  @available(*, deprecated, renamed: "registeredModel(for:)")
  public func registeredObject<T>(for identifier: PersistentIdentifier) -> T?
  where T: PersistentModel { registeredModel(for: identifier) }
}

extension PersistentModel {
  /// The identifier of the model.
  @available(*, deprecated, renamed: "persistentModelID")
  public var objectID: PersistentIdentifier { persistentModelID }
}
