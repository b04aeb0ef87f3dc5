import Foundation
import RowFormat

// Undo. While the context has an undo manager, each change registers how to take it back, at the moment
// it is made: the old value of an attribute, the old ends of a relationship, what was inserted or deleted.
// Taking it back is a change of the same kind, so what it registers is the redo.

/// Where a context's undo manager stands in it.
struct ContextUndo {
  var manager: UndoManager?
  /// How often the context has saved; a change that was saved since is not taken back by forgetting it.
  var saveCount = 0
}

extension ModelContext {
  /// Remembers how to take the changes of the context back; nil unless it is set.
  ///
  /// Inserting, deleting and setting properties then register their undoing by themselves. A group ends
  /// where the undo manager ends it, with ``processPendingChanges()``, and with ``save()``. Undoing a
  /// change that is not saved yet leaves the model without that change; undoing a saved one is a change in
  /// its turn, also for a delete: the model comes back as a new row. ``rollback()`` empties the undo
  /// manager of the context's actions.
  public var undoManager: UndoManager? {
    get { undo.manager }
    set {
      undo.manager?.removeAllActions(withTarget: self)
      undo.manager = newValue
      for map in maps {
        // Which of its objects keep the context, a context tells their states.
        map.makeStates()
        for state in map.states {
          state.updateIsObserved()
          if !state.flags.contains(.listed), !state.isDeleted { beKept(by: state) }
        }
      }
      for model in inserted { model._$state.updateIsObserved() }
    }
  }

  /// The undo manager, if it wants to know of changes.
  var recordingUndoManager: UndoManager? {
    guard let manager = undo.manager, manager.isUndoRegistrationEnabled else { return nil }
    return manager
  }

  /// Ends the group of changes that the undo manager began by itself.
  func endUndoGroup() {
    #if !canImport(Darwin)
    undo.manager?.endEventGroup()
    #endif
  }

  private func register(_ action: @escaping (ModelContext) -> Void) {
    recordingUndoManager?.registerUndo(withTarget: self, handler: action)
  }

  // MARK: What is registered

  /// Registers how to take back the change of an attribute that is about to happen.
  func registerUndo<M: PersistentModel, Value>(of keyPath: KeyPath<M, Value>, in model: M) {
    guard recordingUndoManager != nil, let writable = keyPath as? ReferenceWritableKeyPath<M, Value>
    else { return }
    let state = model._$state
    guard let property = state.descriptor(of: model).property(for: keyPath),
      !property.isRelationship
    else { return }
    let old = model[keyPath: writable]
    let mark = ChangeMark(property.ordinal, of: state, in: self)
    register { context in
      model[keyPath: writable] = old
      mark.restore(state, in: context)
    }
  }

  /// Registers how to put one end of a relationship back to where it is now.
  func registerUndo(of property: ModelProperty, in model: any PersistentModel) {
    guard recordingUndoManager != nil else { return }
    let state = model._$state
    let image = RelationImage(property, of: state)
    let mark = ChangeMark(property.ordinal, of: state, in: self)
    register { context in
      context.registerUndo(of: property, in: model)
      state.noteChange(property.ordinal)
      image.restore(state)
      mark.restore(state, in: context)
      property.notify(model)
    }
  }

  /// Registers how to take an insertion back.
  func registerUndoOfInserting(_ model: any PersistentModel) {
    guard recordingUndoManager != nil else { return }
    register { context in
      let state = model._$state
      if state.flags.contains(.stored) {
        context.markDeleted(model)
      } else {
        context.takeOut(model)
        context.register { $0.insert(model) }
      }
    }
  }

  /// Registers how to take a delete back.
  func registerUndoOfDeleting(_ model: any PersistentModel) {
    guard recordingUndoManager != nil else { return }
    register { context in
      if model._$state.context === context {
        context.undelete(model)
        context.register { $0.markDeleted(model) }
      } else {
        context.insert(model)
      }
    }
  }

  /// Makes an object that was inserted and never saved an object of no context again.
  private func takeOut(_ model: any PersistentModel) {
    let state = model._$state
    inserted.removeAll { $0 === model }
    state.context = nil
    state.flags.remove([.inserted, .deleted])
    state.updateIsObserved()
    observers?.went(model)
  }
}

/// Whether a property counted as changed before a change that may be taken back.
private struct ChangeMark {
  private let ordinal: Int
  private let wasClean: Bool
  private let saveCount: Int

  init(_ ordinal: Int, of state: _ModelState, in context: ModelContext) {
    self.ordinal = ordinal
    // Properties from 63 on share a mark, which one of them cannot take back for the others.
    wasClean = !state.changed.contains(ordinal) && ordinal < 63
    saveCount = context.undo.saveCount
  }

  /// Forgets the change, if it is as if it had never been.
  func restore(_ state: _ModelState, in context: ModelContext) {
    guard wasClean, saveCount == context.undo.saveCount else { return }
    state.changed.remove(ordinal)
    state.reordered.remove(ordinal)
    if state.changed.isEmpty, state.flags.contains(.listed) {
      state.flags.remove(.listed)
      if !state.isDeleted { context.beKept(by: state) }
      context.changed.removeAll { $0._$state === state }
    }
  }
}

/// One end of a relationship as it was.
private struct RelationImage {
  private enum Content {
    /// Not in memory: whatever the other ends say.
    case unloaded
    case one((any PersistentModel)?)
    case many([any PersistentModel], added: [any PersistentModel])
  }

  private let property: ModelProperty
  private let content: Content

  init(_ property: ModelProperty, of state: _ModelState) {
    self.property = property
    switch state.relation(property) {
    case .many(let list): content = .many(list.models, added: list.added)
    case .one(let model): content = .one(model)
    case .unloaded: content = property.isToMany ? .unloaded : .one(state.linkedModel(property))
    }
  }

  func restore(_ state: _ModelState) {
    switch content {
    case .unloaded: state.setRelation(.unloaded, property)
    case .one(let model): state.setRelation(.one(model), property)
    case .many(let models, let added):
      let list = property.makeList(models)
      list.added = added
      state.setRelation(.many(list), property)
      state.reordered.insert(property.ordinal)
    }
  }
}

extension _ModelState {
  /// Sees to it that setters call for whoever wants to know: observers, or an undo manager.
  func updateIsObserved() {
    isObserved =
      observation != nil || context?.undo.manager != nil || context?.observers != nil
      || isListedByValue
  }

  /// Tells the undo manager that one end of a relationship is about to change.
  func registerUndo(of property: ModelProperty, in model: any PersistentModel) {
    context?.registerUndo(of: property, in: model)
  }
}
