import RowFormat

// The visible ends of relationships of a model that was deleted, and is inserted again or restored by an undo
// before the delete is saved.

extension _ModelState {
  /// Marks lists outdated to which a model was added while it was deleted: now they show it.
  func showInLists(_ model: any PersistentModel) {
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

  /// Marks lists of a formerly deleted object outdated: they still showed the members that its delete
  /// cascaded to or detached, and whose ends no longer lead here, wherever these members are now.
  func outdateListsOfReturned(_ model: any PersistentModel) {
    if relations.isEmpty { return }
    for property in descriptor.relationships where property.isToMany {
      guard let inverse = property.inverse, case .many(let list) = relation(property) else {
        continue
      }
      if !inverse.isToMany {
        // Those that no row records.
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

  /// Makes the other ends follow those of an object that is inserted again: an object removed from lists by its delete is a
  /// member again, and a one-to-one that its delete has ended stays ended.
  func settleEnds(of model: any PersistentModel) {
    for property in descriptor.relationships {
      guard let inverse = property.inverse else { continue }
      if inverse.isToMany {
        for owner in owners(through: property) {
          if isStored(property, at: owner) {
            owner._$state.forgetRemoval(of: model, from: inverse)
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
    outdateListsOfOwners(of: model)
  }

  /// Marks lists outdated that still show an object whose insertion was undone, or do not show one whose
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

  /// The models that have this one in their lists, if its end is in memory.
  private func owners(through property: ModelProperty) -> [any PersistentModel] {
    if case .many(let list) = relation(property) {
      return list.isLoaded ? list.models : list.added.elements
    }
    return property.isToMany ? [] : linkedModel(property).map { [$0] } ?? []
  }

  /// Whether the store has this end's reference to one model.
  private func isStored(_ property: ModelProperty, at owner: any PersistentModel) -> Bool {
    if case .many(let list) = relation(property) { return !list.added.contains(owner) }
    let state = owner._$state
    return state.flags.contains(.stored) && storedReference(property) == state.reference
  }

  /// Forgets that a member left because of its delete.
  private func forgetRemoval(of member: any PersistentModel, from property: ModelProperty) {
    guard case .many(let list) = relation(property) else { return }
    list.removed.remove(member)
  }

  private func outdateList(_ property: ModelProperty, without member: any PersistentModel) {
    guard case .many(let list) = relation(property), list.isLoaded, list.added.contains(member),
      !list.contains(member)
    else { return }
    list.isOutdated = true
  }
}
