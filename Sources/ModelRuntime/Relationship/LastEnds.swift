import RowFormat

/// Where the to-one relationships of an object lead that was deleted, and has left its context.
///
/// The ends are in the object's row, which it keeps, but for those that were set after the row was read. They are found in the
/// context that it left, as long as there is one, and keep neither that nor the models at their other ends.
final class LastEnds {
  fileprivate let home: ContextReference
  /// The position of the store.
  fileprivate let store: Int
  /// The ends that were set, by ordinal; ``RowReference/none`` for those that are nil.
  fileprivate var others = OrdinalMap<RowReference>()

  fileprivate init(_ home: ContextReference, store: Int) {
    self.home = home
    self.store = store
  }
}

/// Leads to a context without keeping it.
///
/// A weak reference would make every other reference to the context slower to count.
final class ContextReference {
  // Cleared by the context's deinitializer, or set to its successor.
  @safe @exclusivity(unchecked) unowned(unsafe) var context: ModelContext?

  init(_ context: ModelContext) { self.context = context }
}

extension _ModelState {
  /// Remembers the to-one ends of an object that is deleted and about to leave its context.
  func keepEnds() {
    guard let context else { return }
    var ends: LastEnds?
    for property in descriptor.relationships where !property.isToMany {
      let end = lastEnd(property)
      guard let store = end.store else { continue }
      ends = ends ?? LastEnds(context.reference, store: store)
      if let other = end.other { ends?.others[property.ordinal] = other }
    }
    lastEnds = ends
  }

  /// The row at a to-one end, if it was set; and the store of both, if there may be a model.
  private func lastEnd(_ property: ModelProperty) -> (store: Int?, other: RowReference?) {
    switch relation(property) {
    case .one(let other?):
      let state = other._$state
      if state.isKnownGone || !state.flags.contains(.stored) {
        return (connection?.index, RowReference.none)
      }
      return (state.connection?.index, state.reference)
    case .one(nil): return (connection?.index, RowReference.none)
    case .unloaded, .many: return (connection?.index, nil)
    }
  }

  /// The model at the other end of a to-one relationship of an object that has left its context, unless it is deleted as well.
  func lastDestination(_ property: ModelProperty) -> (any PersistentModel)? {
    guard let ends = lastEnds, let context = ends.home.context else { return nil }
    let connection = context.coordinator.connections[ends.store]
    guard let reference = ends.others[property.ordinal] ?? storedReference(property),
      reference != .none, property.canLead(to: connection.descriptor(of: reference)),
      let model = context.model(at: reference, in: connection)
    else { return nil }
    // It may have been deleted since.
    return model._$state.isKnownGone || !model._$state.exists() ? nil : model
  }
}

extension ModelContext {
  /// The reference by which deleted objects find the context.
  var reference: ContextReference {
    if let known = ownReference { return known }
    let made = ContextReference(self)
    ownReference = made
    return made
  }

  /// Hands the reference over to a successor; without one it leads nowhere.
  func handOverReference(to next: ModelContext?) {
    guard let ownReference else { return }
    ownReference.context = next
    next?.ownReference = ownReference
    self.ownReference = nil
  }
}
