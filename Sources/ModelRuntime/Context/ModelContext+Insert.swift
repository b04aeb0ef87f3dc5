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
    // First come, first served: the children of a graph get their rows in the order of its lists.
    var next = 0
    while next < insertionQueue.count {
      insertOne(insertionQueue[next])
      next += 1
    }
    insertionQueue.removeAll()
  }

  private func insertOne(_ model: any PersistentModel) {
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
    if state.isKnownGone { deletionCount &+= 1 }
    state.flags.remove([.deleted, .vanished, .mayReturn])
    if state.flags.contains(.stored) {
      // An object whose delete was saved comes back as a new row: keys are never used twice.
      state.flags.remove(.stored)
      state.reference = .none
      state.connection = nil
      state.setIdentifier(nil)
    }
    state.flags.insert(.inserted)
    // Where it was before it left a context says nothing here.
    state.isListedByValue = false
    state.updateIsObserved()
    insertedModels.append(model)
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
        insertionQueue.append(other)
      case .many(let list):
        // Nothing of it is stored with, or at, the new row.
        if !list.isLoaded { list.rebase(on: []) }
        let members = list.models + list.added.elements.filter { $0._$state.isKnownGone }
        list.added = OrderedModels(members)
        list.removed.removeAll()
        list.returned.removeAll()
        for other in members { state.hold(other) }
        insertionQueue.append(contentsOf: members)
      }
    }
    state.showInLists(model)
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
    detachModelsTakenAlong()
    state.flags.remove([.deleted, .mayReturn])
    deletionCount &+= 1
    deletedModels.remove(model)
    if !state.flags.contains(.stored), !insertedModels.contains(model) {
      insertedModels.append(model)
    }
    state.showInLists(model)
    state.outdateListsOfReturned(model)
    observers?.came(model)
  }
}

extension _ModelState {
  /// Has the lists put together again that a model came to while it was deleted: now they show it.
  fileprivate func showInLists(_ model: any PersistentModel) {
    if relations.isEmpty { return }
    for property in descriptor.relationships {
      guard let inverse = property.inverse, inverse.isToMany else { continue }
      switch relation(property) {
      case .unloaded, .one(nil): break
      case .one(let owner?): owner._$state.outdateList(inverse, without: model)
      case .many(let list):
        for owner in list.added.elements { owner._$state.outdateList(inverse, without: model) }
      }
    }
  }

  /// Has the lists put together again of an object that was deleted: they went on showing the members that its delete
  /// took along or let go, and whose ends lead here no more, wherever these members are now.
  fileprivate func outdateListsOfReturned(_ model: any PersistentModel) {
    if relations.isEmpty { return }
    for property in descriptor.relationships where property.isToMany {
      guard let inverse = property.inverse, case .many(let list) = relation(property) else {
        continue
      }
      if !inverse.isToMany {
        // Those that no row says anything of.
        let unsaved = list.added.elements + (flags.contains(.stored) ? [] : list.models)
        for member in unsaved where member._$state.linkedModel(inverse) !== model {
          list.recordRemoval(of: member, property)
          if list.isLoaded, list.contains(member) { list.remove(member) }
        }
      }
      guard list.isLoaded else { continue }
      list.isOutdated = true
      property.notify(model)
    }
  }

  /// Lets the other ends follow those of an object that is inserted again: what deleting it took out of their lists is a
  /// member again, and a one-to-one that its delete has ended stays so.
  fileprivate func settleEnds(of model: any PersistentModel) {
    for property in descriptor.relationships {
      guard let inverse = property.inverse else { continue }
      if inverse.isToMany {
        for owner in owners(through: property) {
          if isStored(property, at: owner) {
            owner._$state.takeBack(model, inverse, of: owner)
          } else if !owner._$state.hasAdded(model, to: inverse) {
            owner._$state.insertOther(model, inverse, of: owner)
          }
        }
      } else if !property.isToMany, let other = linkedModel(property),
        !other._$state.isLinked(to: model, inverse)
      {
        removeOther(other, property, of: model)
      }
    }
  }

  /// Has the lists put together again that still show an object whose insertion was undone, or do not show one whose
  /// insertion was redone.
  func outdateListsOfOwners(of model: any PersistentModel) {
    for property in descriptor.relationships {
      guard let inverse = property.inverse, inverse.isToMany else { continue }
      for owner in owners(through: property) {
        guard case .many(let list) = owner._$state.relation(inverse), list.isLoaded,
          list.contains(model) == isDeleted
        else { continue }
        list.isOutdated = true
        inverse.notify(owner)
      }
    }
  }

  private func hasAdded(_ member: any PersistentModel, to property: ModelProperty) -> Bool {
    guard case .many(let list) = relation(property) else { return false }
    return list.added.contains(member)
  }

  /// The models that have this one in their lists, as far as its end is in memory.
  private func owners(through property: ModelProperty) -> [any PersistentModel] {
    if case .many(let list) = relation(property) {
      return list.isLoaded ? list.models : list.added.elements
    }
    return property.isToMany ? [] : linkedModel(property).map { [$0] } ?? []
  }

  /// Whether the store has what this end says of one model.
  private func isStored(_ property: ModelProperty, at owner: any PersistentModel) -> Bool {
    if case .many(let list) = relation(property) { return !list.added.contains(owner) }
    let state = owner._$state
    return state.flags.contains(.stored) && storedReference(property) == state.reference
  }

  /// Has a list put together again that a member left because it was deleted.
  private func takeBack(
    _ member: any PersistentModel,
    _ property: ModelProperty,
    of owner: any PersistentModel
  ) {
    guard case .many(let list) = relation(property) else { return }
    list.removed.remove(member)
    if !list.isLoaded || list.contains(member) { return }
    list.isOutdated = true
    property.notify(owner)
  }

  private func outdateList(_ property: ModelProperty, without member: any PersistentModel) {
    guard case .many(let list) = relation(property), list.isLoaded, list.added.contains(member),
      !list.contains(member)
    else { return }
    list.isOutdated = true
  }
}
