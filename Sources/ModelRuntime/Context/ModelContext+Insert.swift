import Foundation
import RowFormat

extension ModelContext {
  /// Adds an object, and every object that can be reached from it, to the context.
  ///
  /// An object that is in the context already stays as it is; one that was deleted and not yet saved
  /// is kept after all.
  public func insert<T>(_ model: T) where T: PersistentModel {
    checked { insertWithGraph(model) }
  }

  private func insertWithGraph(_ model: any PersistentModel) {
    if isInserting { return insertionQueue.append(model) }
    isInserting = true
    defer { isInserting = false }
    insertOne(model)
    while let next = insertionQueue.popLast() { insertOne(next) }
  }

  private func insertOne(_ model: any PersistentModel) {
    let state = model._$state
    if let context = state.context {
      if context !== self {
        deferredError = deferredError ?? SwiftDataError.modelInOtherContext(state.identifier)
      } else if state.flags.contains(.deleted) {
        registerUndoOfInserting(model)
        undelete(model)
      }
      return
    }
    describe(state, model)
    state.model = model
    state.context = self
    state.flags.remove([.deleted, .vanished])
    if state.flags.contains(.stored) {
      // An object whose delete was saved comes back as a new row: keys are never used twice.
      state.flags.remove(.stored)
      state.reference = .none
      state.connection = nil
      state.setIdentifier(nil)
    }
    state.flags.insert(.inserted)
    state.updateIsObserved()
    inserted.append(model)
    registerUndoOfInserting(model)
    noteUnsavedChange()
    state.adoptInitialRelationships(of: model)
    for relation in state.relations {
      switch relation {
      case .unloaded: break
      case .one(let other): if let other { insertionQueue.append(other) }
      case .many(let others): insertionQueue.append(contentsOf: others.models)
      }
    }
    observers?.came(model)
  }

  /// Tells a state its object's class: one look-up for many objects of one class that come together.
  private func describe(_ state: _ModelState, _ model: any PersistentModel) {
    let type = type(of: model)
    if let last = lastInserted, last.type == type { return state.setDescriptor(last) }
    let descriptor = ModelDescriptor.of(type)
    lastInserted = descriptor
    state.setDescriptor(descriptor)
  }

  func undelete(_ model: any PersistentModel) {
    let state = model._$state
    state.flags.remove(.deleted)
    deleted.removeAll { $0 === model }
    if !state.flags.contains(.stored), !inserted.contains(where: { $0 === model }) {
      inserted.append(model)
    }
    observers?.came(model)
  }
}
