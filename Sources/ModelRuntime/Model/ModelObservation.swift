@_exported public import Observation

// Observation, in the accessors that `@Model` generates.
//
// A registrar costs more than a small model does, so a model gets one when it is first read under
// `withObservationTracking`. Until then a read tests whether anybody is tracking, and a write whether
// the model was ever read so: one test each.

/// The registrar of Observation, under a name that no model called `Observation` can hide.
public typealias _Registrar = ObservationRegistrar

/// The protocol of Observation, likewise.
public typealias _Observable = Observable

/// A placeholder for Apple's generated storage; nothing is stored in it.
public struct _SwiftDataNoType {
  public init() {}
}

/// The observers of one model, once there is one.
public final class _ObservationBox {
  let registrar = ObservationRegistrar()
}

/// The registrar of a model, created on first use.
public func _registrar(of state: _ModelState) -> _Registrar {
  if let box = state.observation { return box.registrar }
  let box = _ObservationBox()
  state.observation = box
  state.isObserved = true
  return box.registrar
}

/// Records the read of a property, if reads are tracked.
public func _noteAccess<M: PersistentModel, Value>(_ model: M, _ keyPath: KeyPath<M, Value>) {
  guard isTracking else { return }
  _registrar(of: model._$state).access(model, keyPath: keyPath)
}

/// Tells observers that a property is about to change.
public func _willSet<M: PersistentModel, Value>(_ model: M, _ keyPath: KeyPath<M, Value>) {
  let state = model._$state
  if let context = state.context, context.undo.manager != nil {
    context.registerUndo(of: keyPath, in: model)
  }
  state.observation?.registrar.willSet(model, keyPath: keyPath)
}

/// Tells observers that a property has changed.
public func _didSet<M: PersistentModel, Value>(_ model: M, _ keyPath: KeyPath<M, Value>) {
  let state = model._$state
  notifyContext(ofChangeIn: model, state, keyPath)
  state.observation?.registrar.didSet(model, keyPath: keyPath)
}

/// Tells the model's context, and the context's observers, that a property has changed.
private func notifyContext<M: PersistentModel>(
  ofChangeIn model: M,
  _ state: _ModelState,
  _ keyPath: PartialKeyPath<M>
) {
  guard let context = state.context else { return }
  context.retryAutosave()
  guard context.observers != nil || state.isListedByValue,
    let property = state.descriptor(of: model).property(for: keyPath)
  else { return }
  if state.isListedByValue { context.unsaved.invalidateValue(property.ordinal, of: state) }
  context.observers?.propertyChanges(property.ordinal, of: model)
}

/// Changes state that depends on a property, and notifies its observers.
public func _withMutation<M: PersistentModel, Value, Result>(
  of model: M,
  _ keyPath: KeyPath<M, Value>,
  _ mutation: () throws -> Result
) rethrows -> Result {
  _willSet(model, keyPath)
  defer { _didSet(model, keyPath) }
  return try mutation()
}

/// Tells observers that a property has changed without its accessor: through the other end of a
/// relationship, or a save of another context.
func _notifyChange<M: PersistentModel>(of model: M, _ keyPath: PartialKeyPath<M>) {
  guard model._$state.isObserved else { return }
  notifyContext(ofChangeIn: model, model._$state, keyPath)
  func open<Value>(_: Value.Type) {
    guard let keyPath = keyPath as? KeyPath<M, Value> else { return }
    guard let registrar = model._$state.observation?.registrar else { return }
    registrar.willSet(model, keyPath: keyPath)
    registrar.didSet(model, keyPath: keyPath)
  }
  _openExistential(type(of: keyPath).valueType, do: open)
}
