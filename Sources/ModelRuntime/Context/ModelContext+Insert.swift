import Foundation
import RowFormat

extension ModelContext {
  /// Adds an object, and every object that can be reached from it, to the context.
  ///
  /// An object already in the context stays as it is; an unsaved delete of it is cancelled. One whose row others have deleted
  /// becomes a new model, with the values that it has.
  public func insert<T>(_ model: T) where T: PersistentModel {
    checked {
      leaveIfDeletedElsewhere(model)
      insertWithGraph(model)
    }
  }

  /// Inserts a model whose delete was saved, as an undo does.
  ///
  /// - Parameters:
  ///   - model: The object.
  ///   - gone: Models that it leads to and that stay deleted.
  func insertAgain(_ model: any PersistentModel, without gone: [any PersistentModel]) {
    checked {
      leaveIfDeletedElsewhere(model)
      insertWithGraph(model, without: gone)
    }
  }

  /// Detaches a model that is about to be inserted if others have deleted its row: it becomes a new one.
  private func leaveIfDeletedElsewhere(_ model: any PersistentModel) {
    let state = model._$state
    guard state.context === self, state.flags.contains(.stored), !state.isDeleted,
      let connection = state.connection
    else { return }
    if !state.flags.contains(.vanished) {
      // For a remote or another store, the next fetch finds out.
      guard connection.store.keepsRows, !connection.loadsSiblings,
        let found = try? connection.store.rows(at: [state.reference], for: editingState),
        case nil = found[0]
      else { return }
    }
    changedModels.removeAll { $0 === model }
    takeLeave(of: model)
  }

  private func insertWithGraph(
    _ model: any PersistentModel,
    without gone: [any PersistentModel] = []
  ) {
    if isInserting { return insertionQueue.append(model) }
    isInserting = true
    defer { isInserting = false }
    insertOne(model, without: gone)
    // In the order of arrival: the children of a graph get their rows in the order of its lists.
    var next = 0
    while next < insertionQueue.count {
      insertOne(insertionQueue[next])
      next += 1
    }
    insertionQueue.removeAll()
  }

  private func insertOne(_ model: any PersistentModel, without gone: [any PersistentModel] = []) {
    let state = model._$state
    if let context = state.context {
      if context !== self {
        deferredError = deferredError ?? SwiftDataError.modelInOtherContext(state.identifier)
      } else if state.flags.contains(.deleted) {
        registerUndoOfInserting(model)
        undelete(model)
        state.settleEnds(of: model)
      }
      return
    }
    describe(state, model)
    state.model = model
    state.context = self
    state.lastEnds = nil
    if state.isKnownGone { deletions.recordReturn() }
    state.flags.remove([.deleted, .vanished, .mayReturn])
    // A failed save, here or elsewhere, may have given it a row; each store has its own keys.
    state.reference = .none
    if state.flags.contains(.stored) {
      // An object whose delete was saved comes back as a new row: keys are never used twice.
      state.flags.remove(.stored)
      if coordinator.hasSharedClasses, let former = state.identifierIfKnown?.storeIdentifier {
        formerStores[ObjectIdentifier(state)] = coordinator.connections.first {
          $0.identifier == former
        }
      }
      state.connection = nil
      state.setIdentifier(nil)
    }
    state.flags.insert(.inserted)
    // Its position in a former context means nothing here.
    state.isListedByValue = false
    state.updateIsObserved()
    appendInserted(model)
    if let identifier = state.identifierIfKnown { registerTemporary(identifier, of: model) }
    registerUndoOfInserting(model)
    scheduleAutosave()
    state.adoptInitialRelationships(of: model)
    for property in state.descriptor.relationships {
      switch state.relation(property) {
      case .unloaded: break
      case .one(let other):
        guard let other else { break }
        state.hold(other)
        if gone.contains(where: { $0 === other }) { break }
        insertionQueue.append(other)
        joinOtherEnds(of: property, [other], to: model)
      case .many(let list):
        // Nothing of it is stored with, or at, the new row.
        if !list.isLoaded { list.rebase(on: []) }
        let members = list.models + list.added.elements.filter { $0._$state.isKnownGone }
        list.added = OrderedModels(members)
        list.removed.removeAll()
        list.returned.removeAll()
        // Its members are inserted after it, and none of them stays deleted.
        list.deletionCount = deletions.count
        for other in members { state.hold(other) }
        insertionQueue.append(contentsOf: members)
        joinOtherEnds(of: property, members, to: model)
      }
    }
    state.showInLists(model)
    observers?.came(model)
  }

  /// Takes a new model in at the other ends of a relationship that was set before either was in a context: an end that is declared
  /// with another version's class could not do so then.
  private func joinOtherEnds(
    of property: ModelProperty,
    _ others: [any PersistentModel],
    to model: any PersistentModel
  ) {
    guard let inverse = property.inverse, !inverse.isDeclaredSo else { return }
    for other in others { other._$state.insertOther(model, inverse, of: other) }
  }

  /// Tells a state its object's class, with one look-up for consecutive objects of one class.
  private func describe(_ state: _ModelState, _ model: any PersistentModel) {
    let type = type(of: model)
    if let last = lastInserted, last.type == type { return state.setDescriptor(last) }
    let descriptor = coordinator.descriptor(of: type)
    lastInserted = descriptor
    state.setDescriptor(descriptor)
  }

  func undelete(_ model: any PersistentModel) {
    let state = model._$state
    detachModelsTakenAlong()
    state.flags.remove([.deleted, .mayReturn])
    if state.isListedByValue { unsaved.invalidateValue(nil, of: state) }
    deletions.recordReturn()
    deletedModels.remove(model)
    if !state.flags.contains(.stored), !insertedModels.contains(model) { appendInserted(model) }
    // A deleted object takes over nothing from other contexts' saves.
    if let connection = state.connection, state.flags.contains(.stored) {
      refreshRow(of: state, from: connection)
    }
    state.showInLists(model)
    state.outdateListsOfReturned(model)
    keepLists(state.listedMemberCount, of: state)
    retryAutosave()
    observers?.came(model)
  }

  /// Puts a model behind all other models that were never saved.
  private func appendInserted(_ model: any PersistentModel) {
    insertedModels.append(model)
    observers?.numberInsertion(of: model)
  }
}
