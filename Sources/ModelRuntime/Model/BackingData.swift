/// A model's values, by key path.
///
/// Here the values are in the model itself; this is the view of them that Apple's documentation
/// describes, created on demand. A property's type selects the overload:
/// a model, an optional model, a list of models, or any other `Codable` type.
public protocol BackingData<Model> {
  /// The class of the model.
  associatedtype Model: PersistentModel

  /// Makes backing data of a new model, without values.
  init(for modelType: Model.Type)

  /// The identifier of the model; `nil` before it has one. Setting it has no effect here.
  var persistentModelID: PersistentIdentifier? { get set }
  /// The properties of the class, as `@Model` describes them.
  var metadata: Any { get }

  /// Returns the value of an attribute.
  @_disfavoredOverload
  func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value where Value: Decodable
  /// Returns the model that a to-one relationship leads to.
  func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value where Value: PersistentModel
  /// Returns the model that an optional to-one relationship leads to.
  func getValue<Value>(forKey key: KeyPath<Model, Value?>) -> Value? where Value: PersistentModel
  /// Returns the members of a to-many relationship.
  func getValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>) -> Value
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// Returns the members of a to-many relationship whose models are `Codable`.
  func getValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>) -> Value
  where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// Returns the value of an attribute whose type is not `Codable`.
  func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value

  /// Sets the value of an attribute.
  @_disfavoredOverload
  mutating func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value)
  where Value: Encodable
  /// Sets the model that a to-one relationship leads to.
  mutating func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel
  /// Sets the model that an optional to-one relationship leads to.
  mutating func setValue<Value>(forKey key: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel
  /// Sets the members of a to-many relationship.
  mutating func setValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>, to newValue: Value)
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// Sets the members of a to-many relationship whose models are `Codable`.
  mutating func setValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>, to newValue: Value)
  where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement
  /// Sets the value of an attribute whose type is not `Codable`.
  mutating func setTransformableValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value)
}

extension BackingData {
  /// The same values as those of a subclass.
  public func _generateCurrentClassBackingData<CurrentClass>() -> any BackingData<CurrentClass>
  where CurrentClass: PersistentModel {
    view(as: CurrentClass.self)
  }

  /// The same values as those of a superclass.
  public func _superClassBackingData<SuperClass>(
    of givenType: any PersistentModel.Type
  ) -> any BackingData<SuperClass> where SuperClass: PersistentModel {
    view(as: SuperClass.self)
  }

  private func view<Other: PersistentModel>(as _: Other.Type) -> any BackingData<Other> {
    guard let model = (self as? any ModelBackedData)?.anyModel as? Other else {
      return _EmptyBackingData<Other>()
    }
    return _LiveBackingData(model)
  }
}

/// Backing data that reads and writes a property of any type alike.
public protocol _UniformBackingData<Model>: BackingData {
  func _read<Value>(_ key: KeyPath<Model, Value>) -> Value
  mutating func _write<Value>(_ key: KeyPath<Model, Value>, _ newValue: Value)
}

extension _UniformBackingData {
  @_disfavoredOverload
  public func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value where Value: Decodable {
    _read(key)
  }
  public func getValue<Value>(forKey key: KeyPath<Model, Value>) -> Value
  where Value: PersistentModel { _read(key) }
  public func getValue<Value>(forKey key: KeyPath<Model, Value?>) -> Value?
  where Value: PersistentModel { _read(key) }
  public func getValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>) -> Value
  where Value: RelationshipCollection, OtherModel == Value.PersistentElement { _read(key) }
  public func getValue<Value, OtherModel>(forKey key: KeyPath<Model, Value>) -> Value
  where Value: Decodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    _read(key)
  }
  public func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value {
    _read(key)
  }

  @_disfavoredOverload
  public mutating func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value)
  where Value: Encodable { _write(key, newValue) }
  public mutating func setValue<Value>(forKey key: KeyPath<Model, Value>, to newValue: Value)
  where Value: PersistentModel { _write(key, newValue) }
  public mutating func setValue<Value>(forKey key: KeyPath<Model, Value?>, to newValue: Value?)
  where Value: PersistentModel { _write(key, newValue) }
  public mutating func setValue<Value, OtherModel>(
    forKey key: KeyPath<Model, Value>,
    to newValue: Value
  ) where Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    _write(key, newValue)
  }
  public mutating func setValue<Value, OtherModel>(
    forKey key: KeyPath<Model, Value>,
    to newValue: Value
  )
  where Value: Encodable, Value: RelationshipCollection, OtherModel == Value.PersistentElement {
    _write(key, newValue)
  }
  public mutating func setTransformableValue<Value>(
    forKey key: KeyPath<Model, Value>,
    to newValue: Value
  ) { _write(key, newValue) }
}

/// Backing data that is a model of any class.
protocol ModelBackedData {
  var anyModel: any PersistentModel { get }
}

/// The backing data of a live model: every access goes to the model's own properties.
public struct _LiveBackingData<Model: PersistentModel>: _UniformBackingData, ModelBackedData {
  let model: Model

  public init(_ model: Model) { self.model = model }

  public init(for modelType: Model.Type) {
    model = Model(backingData: _EmptyBackingData<Model>())
  }

  var anyModel: any PersistentModel { model }

  public var persistentModelID: PersistentIdentifier? {
    get { model.persistentModelID }
    set {}  // A model's identifier comes from its store, and from nowhere else.
  }

  public var metadata: Any { Model.schemaMetadata }

  public func _read<Value>(_ key: KeyPath<Model, Value>) -> Value { model[keyPath: key] }

  public mutating func _write<Value>(_ key: KeyPath<Model, Value>, _ newValue: Value) {
    // A property that cannot be set has no writable key path: then there is nothing to do.
    if let writable = key as? ReferenceWritableKeyPath<Model, Value> {
      model[keyPath: writable] = newValue
    }
  }
}

/// The backing data a context passes to a model it creates; the row comes through the state.
public struct _EmptyBackingData<Model: PersistentModel>: _UniformBackingData {
  public var persistentModelID: PersistentIdentifier?

  public init() {}
  public init(for modelType: Model.Type) {}

  public var metadata: Any { Model.schemaMetadata }

  public func _read<Value>(_ key: KeyPath<Model, Value>) -> Value {
    preconditionFailure("\(key) was read from backing data that belongs to no model yet")
  }

  public mutating func _write<Value>(_ key: KeyPath<Model, Value>, _ newValue: Value) {}
}

extension PersistentModel {
  /// Makes backing data for a new model.
  public static func createBackingData<P>() -> some BackingData<P> where P: PersistentModel {
    _EmptyBackingData<P>()
  }

  /// Reads a property by key path.
  public func getValue<Value>(forKey key: KeyPath<Self, Value>) -> Value { self[keyPath: key] }

  /// Sets a property by key path; a property that cannot be set is left alone.
  public func setValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
    if let writable = key as? ReferenceWritableKeyPath<Self, Value> {
      self[keyPath: writable] = newValue
    }
  }

  /// Reads a transformable property by key path.
  public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value {
    self[keyPath: key]
  }

  /// Sets a transformable property by key path; a property that cannot be set is left alone.
  public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to newValue: Value) {
    setValue(forKey: key, to: newValue)
  }
}

extension _ModelState {
  /// Takes over backing data; called by every generated `init(backingData:)`.
  ///
  /// The values of another model are not copied here: only a model itself can set them, so
  /// `init(backingData:)` of a model's own backing data leaves an empty model.
  public func adopt<M: PersistentModel>(_ backingData: any BackingData<M>) {}
}
