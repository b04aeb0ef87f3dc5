/// One end of a relationship as it was.
struct RelationImage {
  private enum Content {
    /// Not in memory: the other ends decide.
    case unloaded
    case one((any PersistentModel)?)
    case many(RelatedModels)
  }

  private let property: ModelProperty
  private let content: Content
  /// The ranks of the members, if they are deleted with their owner.
  private var ranks: [ObjectIdentifier: Int64] = [:]

  init(_ property: ModelProperty, of state: _ModelState) {
    self.property = property
    switch state.relation(property) {
    case .many(let list): content = .many(list.copy())
    case .one(let model): content = .one(model)
    case .unloaded: content = property.isToMany ? .unloaded : .one(state.linkedModel(property))
    }
  }

  /// Keeps the places that members have in the store: other members, which an undo restores later, are put among
  /// them.
  mutating func keepRanks(of owner: _ModelState) {
    guard case .many(let list) = content, list.isLoaded, let inverse = property.inverse,
      property.isDerivable, let context = owner.context, let connection = owner.connection
    else { return }
    let members = list.models
    do {
      try context.readRows(of: members.map { $0._$state }, in: connection)
    } catch {
      context.deferredError = context.deferredError ?? error
    }
    for member in members {
      ranks[ObjectIdentifier(member)] = list.rank(of: member, at: owner, inverse)
    }
  }

  /// Whether the end leads to a model, or did when the image was made.
  func leads(to model: any PersistentModel) -> Bool {
    if case .one(let destination?) = content { destination === model } else { false }
  }

  func restore(_ state: _ModelState) {
    switch content {
    case .unloaded: state.setRelation(.unloaded, property)
    case .one(let model): state.setRelation(.one(model), property)
    case .many(let list): state.setRelation(.many(list.copy()), property)
    }
  }

  /// Restores the end after a save, so that all of it counts as a change.
  ///
  /// - Parameters:
  ///   - state: The object.
  ///   - change: The members that came and went with what is undone, if it is known: those that others have added since stay.
  func restoreSaved(_ state: _ModelState, undoing change: MembershipChange?) {
    if case .one(let model?) = content, model._$state.staysAway {
      return state.setRelation(.one(nil), property)
    }
    guard case .many(let list) = content else {
      if let change, case .many(let current) = state.currentRelation(property) {
        // The list was not in memory, as an empty one that was saved: what is there now is all that is known of it.
        return state.setRelation(.many(current.taken(back: change, property)), property)
      }
      return restore(state)
    }
    let restored = list.copy()
    restored.ranksInFormerList.merge(ranks) { _, new in new }
    // Before the members are looked through: those that others have deleted turn out to be so when the list is read.
    let currentRelation = list.isLoaded ? state.currentRelation(property) : nil
    for member in list.isLoaded ? restored.models : restored.added.elements
    where member._$state.staysAway { restored.leave(member, property) }
    if case .many(let current) = currentRelation {
      // The store's members, without those added since, as by other steps of this undo.
      let former = current.models
      let members = Set(former.lazy.map { ObjectIdentifier($0) })
      let known = members.subtracting(current.added.elements.lazy.map { ObjectIdentifier($0) })
      // A member that others have removed reports it itself: nothing that was undone here has restored it.
      var wanted = restored.models.filter {
        known.contains(ObjectIdentifier($0)) || $0._$state.leads(to: state, property)
      }
      if let change {
        let own = Set((restored.models + change.added).lazy.map { ObjectIdentifier($0) })
        wanted += former.filter { !own.contains(ObjectIdentifier($0)) }
      }
      let kept = Set(wanted.lazy.map { ObjectIdentifier($0) })
      for member in restored.models where !kept.contains(ObjectIdentifier(member)) {
        restored.expected[ObjectIdentifier(member)] = restored.place(of: member)
      }
      restored.replace(with: wanted)
      restored.added = OrderedModels(wanted.filter { !known.contains(ObjectIdentifier($0)) })
      restored.removed.removeAll()
      if !property.isDerivable {
        let left = current.removed.elements.filter { !members.contains(ObjectIdentifier($0)) }
        restored.removed = OrderedModels(
          (former + left).filter { !kept.contains(ObjectIdentifier($0)) }
        )
      }
      restored.isReordered = true
      restored.epoch = current.epoch
    }
    state.setRelation(.many(restored), property)
  }
}

/// The members that come and go when a list is changed as a whole.
struct MembershipChange {
  let added: [any PersistentModel]
  let removed: [any PersistentModel]

  /// What undoing it does.
  var reversed: MembershipChange { MembershipChange(added: removed, removed: added) }
}

extension RelatedModels {
  /// The list without the members that a change has added, and with those that it has removed.
  fileprivate final func taken(
    back change: MembershipChange,
    _ property: ModelProperty
  ) -> RelatedModels {
    let restored = copy()
    for member in change.added where restored.contains(member) { restored.leave(member, property) }
    for member in change.removed where !member._$state.staysAway && !restored.contains(member) {
      restored.removed.remove(member)
      restored.enter(member)
    }
    return restored
  }
}

extension _ModelState {
  /// Whether the other end of a list that is being restored has the owner, as it is here.
  fileprivate func leads(to owner: _ModelState, _ property: ModelProperty) -> Bool {
    guard let inverse = property.inverse, let model = owner.model else { return true }
    // One that was taken out, or whose delete was saved, is inserted again by this step, which then restores its own end.
    if context == nil, !flags.contains(.stored) || flags.contains(.mayReturn) { return true }
    guard inverse.isToMany else { return linkedModel(inverse) === model }
    guard flags.contains(.stored) else { return true }
    guard case .many(let list) = relation(inverse) else { return false }
    return list.added.contains(model)
  }

  /// The current value of a relationship: a list is put together if it is not in memory.
  fileprivate func currentRelation(_ property: ModelProperty) -> Relation {
    if property.isToMany { _ = relatedModels(property) }
    return relation(property)
  }
}
