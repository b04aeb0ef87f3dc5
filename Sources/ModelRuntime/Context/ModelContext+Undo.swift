import Foundation
import RowFormat

// Undo. While the context has an undo manager, each change registers how to revert it, at the moment
// it is made: the old value of an attribute, the old ends of a relationship, an insertion or a delete.
// Reverting it is a change of the same kind, so it registers the redo.

/// A context's undo manager and the save counts that its actions compare.
struct ContextUndo {
  var manager: UndoManager?
  /// Number of complete saves of the context.
  private var saveCount = 0
  /// Number of saves that wrote to a store and threw at another; by the store's position.
  private var partialSaveCounts: [Int: Int] = [:]
  /// The models that saves have put in the place of others; undo actions registered before refer to the replaced ones only.
  private var replacements: [ObjectIdentifier: Replacement] = [:]
  /// The number of replacements at which those of released models are dropped.
  private var replacementLimit = ContextUndo.leastReplacementLimit
  private static let leastReplacementLimit = 64

  private struct Replacement {
    weak var model: (any PersistentModel)?
    /// The save count that changes of the others had.
    let saveCount: Int
  }

  mutating func countSave() { saveCount += 1 }

  mutating func countPartialSave(in connection: StoreConnection) {
    partialSaveCounts[connection.index, default: 0] += 1
  }

  /// Number of saves of models of a class; a change that was saved since cannot be undone by forgetting it.
  func saveCount(of descriptor: ModelDescriptor, _ coordinator: StoreCoordinator) -> Int {
    if partialSaveCounts.isEmpty { return saveCount }
    return coordinator.connections(for: descriptor).reduce(saveCount) {
      $0 + (partialSaveCounts[$1.index] ?? 0)
    }
  }
}

extension ContextUndo {
  /// Records that a save puts a model in the place of others.
  ///
  /// - Parameters:
  ///   - model: The model that stays.
  ///   - saveCount: The save count that changes of the others had.
  mutating func recordReplacement(by model: any PersistentModel, at saveCount: Int) {
    if replacements.count >= replacementLimit {
      replacements = replacements.filter { $0.value.model != nil }
      replacementLimit = max(Self.leastReplacementLimit, 2 * replacements.count)
    }
    replacements[ObjectIdentifier(model)] = Replacement(model: model, saveCount: saveCount)
  }

  /// Whether a save has put a model in the place of others.
  func hasReplacedOthers(_ model: any PersistentModel) -> Bool {
    replacements[ObjectIdentifier(model)]?.model === model
  }

  /// Whether a model has been put in the place of others since a change.
  func hasReplacedOthers(_ model: any PersistentModel, since mark: ChangeMark) -> Bool {
    guard let known = replacements[ObjectIdentifier(model)] else { return false }
    return known.model === model && mark.wasMade(upTo: known.saveCount)
  }

  mutating func forgetReplacements() {
    replacements = [:]
    replacementLimit = Self.leastReplacementLimit
  }
}

extension ModelContext {
  /// Records how to revert the changes of the context; nil unless it is set.
  ///
  /// Inserting, deleting and setting properties then register their undo actions by themselves. A group ends
  /// where the undo manager ends it, with ``processPendingChanges()``, and with ``save()``. Undoing an
  /// unsaved change leaves the model without that change; undoing a saved one is a change
  /// itself, also for a delete: the model comes back as a new row. ``rollback()`` removes the
  /// context's actions from the undo manager.
  public var undoManager: UndoManager? {
    get { undo.manager }
    set {
      makeModelsTakenAlong()
      undo.manager?.removeAllActions(withTarget: self)
      undo.forgetReplacements()
      undo.manager = newValue
      for map in maps {
        // The states record whether their objects keep the context, so each needs one.
        map.makeStates()
        for state in map.states {
          state.updateIsObserved()
          if !state.flags.contains(.listed), !state.isDeleted { beKept(by: state) }
        }
      }
      for model in inserted { model._$state.updateIsObserved() }
    }
  }

  /// The undo manager, if it is recording.
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

  func saveCount(of descriptor: ModelDescriptor) -> Int {
    undo.saveCount(of: descriptor, coordinator)
  }

  // MARK: What is registered

  /// Registers how to revert the change of an attribute that is about to happen.
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

  /// Registers how to revert an addition to a number that is about to happen.
  ///
  /// - Parameters:
  ///   - keyPath: The number.
  ///   - property: The same as a property.
  ///   - model: The object.
  ///   - former: The earlier addition.
  ///   - redo: Adds the amount again.
  ///   - undoSaved: Subtracts the amount.
  func registerUndo<M: PersistentModel, Value>(
    ofAddingTo keyPath: ReferenceWritableKeyPath<M, Value>,
    _ property: ModelProperty,
    in model: M,
    _ former: Increment?,
    redo: @escaping (M) -> Void,
    undoSaved: @escaping (M) -> Void
  ) {
    guard recordingUndoManager != nil else { return }
    let state = model._$state
    let old = model[keyPath: keyPath]
    let mark = ChangeMark(property.ordinal, of: state, in: self)
    register { context in
      // A saved amount is in the store, where others add, too: it is subtracted there.
      guard mark.isUnsaved(in: context) else { return undoSaved(model) }
      context.register { _ in redo(model) }
      context.withoutUndo { model[keyPath: keyPath] = old }
      state.setIncrement(former, property.ordinal)
      mark.restore(state, in: context)
    }
  }

  /// Changes something without registering an undo.
  func withoutUndo<R>(_ body: () throws -> R) rethrows -> R {
    guard let manager = recordingUndoManager else { return try body() }
    manager.disableUndoRegistration()
    defer { manager.enableUndoRegistration() }
    return try body()
  }

  /// Registers how to restore one end of a relationship.
  ///
  /// - Parameters:
  ///   - property: The end.
  ///   - model: The object.
  ///   - change: The members that come and go, if a list is about to be changed as a whole.
  ///   - isDeleting: Whether the object is about to be deleted.
  func registerUndo(
    of property: ModelProperty,
    in model: any PersistentModel,
    as change: MembershipChange? = nil,
    beforeDeleting isDeleting: Bool = false
  ) {
    guard recordingUndoManager != nil else { return }
    let state = model._$state
    var image = RelationImage(property, of: state)
    if isDeleting { image.keepRanks(of: state) }
    let mark = ChangeMark(property.ordinal, of: state, in: self)
    register { [image] context in
      if state.staysAway, !mark.isUnsaved(in: context) { return }
      context.registerUndo(of: property, in: model, as: change?.reversed)
      state.leaveReplacement(property, model, changedAt: mark, returningTo: image)
      // Others may have set it to a model here, whose list has no other notice of it.
      if mark.isOutdated(in: context) { state.outdateList(property, with: model) }
      state.recordChange(property.ordinal)
      if mark.isUnsaved(in: context) {
        image.restore(state)
        state.decideOnList(property, of: model)
      } else {
        image.restoreSaved(state, undoing: change)
        if !property.isToMany {
          state.linkedModel(property)?._$state.admit(model, property.inverse)
        }
      }
      mark.restore(state, in: context)
      let isOfOlderLists = mark.isOutdated(in: context) && mark.isUnsaved(in: context)
      if isOfOlderLists || context.undo.hasReplacedOthers(model) { state.outdateList(property) }
      property.notify(model)
    }
  }

  /// Registers how to remove a model that is about to be added to a list.
  func registerUndo(
    ofAdding other: any PersistentModel,
    to property: ModelProperty,
    _ list: RelatedModels,
    in model: any PersistentModel
  ) {
    guard recordingUndoManager != nil else { return }
    let state = model._$state
    let wasReordered = list.isReordered
    let wasRemoved = list.removed.contains(other)
    let mark = ChangeMark(property.ordinal, of: state, in: self)
    register { context in
      if state.staysAway || other._$state.staysAway, !mark.isUnsaved(in: context) { return }
      let list = state.listToChange(property)
      context.registerUndo(ofRemoving: other, from: property, list, in: model)
      state.recordChange(property.ordinal)
      list.leave(other, property)
      if mark.isUnsaved(in: context) {
        // A member that came back beside others since is not at its place among the added ones: only the order of the
        // list tells its place.
        let hasOwnOrder = list.isReordered && !list.added.isEmpty && !mark.isCurrent(in: context)
        list.isReordered = wasReordered || hasOwnOrder
        if !wasRemoved { list.removed.remove(other) }
      }
      if mark.isUnsaved(in: context), mark.isOutdated(in: context) { list.isOutdated = true }
      context.outdate(list, of: model, property, with: other)
      mark.restore(state, in: context)
      property.notify(model)
    }
  }

  /// Registers how to restore a model that is about to leave a list to its place.
  func registerUndo(
    ofRemoving other: any PersistentModel,
    from property: ModelProperty,
    _ list: RelatedModels,
    in model: any PersistentModel
  ) {
    guard recordingUndoManager != nil else { return }
    let state = model._$state
    let wasReordered = list.isReordered
    let wasAdded = list.added.contains(other)
    let wasRemoved = list.removed.contains(other)
    let wasReturned = list.returned.contains(ObjectIdentifier(other))
    // A list that is stored with its owner is put together for its order; any other has ranks for that.
    let isOrderedByOwner = !property.isDerivable || state.connection?.keepsLists == true
    if !list.isLoaded, isOrderedByOwner { _ = state.relatedModels(property) }
    // A member that is being deleted is in no list that is put together now.
    let place = list.isLoaded && list.contains(other) ? list.place(of: other) : nil
    let rank = property.inverse.flatMap { list.rank(of: other, at: state, $0) }
    let mark = ChangeMark(property.ordinal, of: state, in: self)
    register { context in
      if state.staysAway || other._$state.staysAway, !mark.isUnsaved(in: context) { return }
      // Its place is beside other members: a list that a save has released is put together again.
      // A list in memory suffices if the store tells afterwards whether the model is a member.
      if place != nil, !mark.isUnsaved(in: context) || !state.listToChange(property).isLoaded {
        _ = state.relatedModels(property)
      }
      let list = state.listToChange(property)
      context.registerUndo(ofAdding: other, to: property, list, in: model)
      state.recordChange(property.ordinal)
      state.hold(other)
      if !mark.isUnsaved(in: context), property.inverse?.isToMany == true {
        other._$state.admit(model, property.inverse)
      }
      if !mark.isUnsaved(in: context) || wasAdded {
        list.added.append(other)
        if let place, case .end = place {} else { list.isReordered = true }
      } else {
        // Members added since, and members restored beside others, have a place only by the order of the list.
        let hasOwnOrder = list.isReordered && !list.added.isEmpty && !mark.isCurrent(in: context)
        list.isReordered = wasReordered || hasOwnOrder
      }
      if mark.isUnsaved(in: context) {
        if !wasRemoved { list.removed.remove(other) }
        if wasReturned { list.returned.insert(ObjectIdentifier(other)) }
      }
      if list.isLoaded {
        if let place {
          if !list.contains(other) { list.insert(other, at: place) }
        } else if list.isReordered {
          let isHidden = list.added.contains(other) && other._$state.isKnownGone
          if !isHidden, !list.contains(other) { list.append(other) }
        } else if other._$state.isKnownElsewhere(than: list, property, of: state) {
          list.undecided.insert(ObjectIdentifier(other))
        } else {
          list.unload()
        }
      }
      if mark.isUnsaved(in: context), mark.isOutdated(in: context) { list.isOutdated = true }
      if let rank {
        if place == nil, !mark.isUnsaved(in: context) {
          list.formerRanks[ObjectIdentifier(other)] = rank
          // The next access puts the list together again.
          list.isOutdated = true
        } else {
          list.ranksInFormerList[ObjectIdentifier(other)] = rank
        }
      }
      context.outdate(list, of: model, property, with: other)
      mark.restore(state, in: context)
      property.notify(model)
    }
  }

  /// Registers how to forget that a model was set to be a member of a list.
  ///
  /// - Parameters:
  ///   - other: The model.
  ///   - property: The list.
  ///   - list: The same in memory.
  ///   - model: The list's owner.
  ///   - wasRelated: Whether the other end was set to what it was; else the list in memory was older than it.
  func registerUndo(
    ofKeeping other: any PersistentModel,
    in property: ModelProperty,
    _ list: RelatedModels,
    of model: any PersistentModel,
    wasRelated: Bool
  ) {
    guard recordingUndoManager != nil else { return }
    let state = model._$state
    let wasReordered = list.isReordered
    let mark = ChangeMark(property.ordinal, of: state, in: self)
    register { context in
      // After a save, the model is kept once more: it was a member before, too, whatever others have done since.
      guard mark.isUnsaved(in: context) else {
        if state.staysAway || other._$state.staysAway { return }
        if wasRelated { return state.keepOther(other, property, of: model) }
        let list = state.listToChange(property)
        context.registerUndo(ofRemoving: other, from: property, list, in: model)
        state.recordChange(property.ordinal)
        list.leave(other, property)
        return property.notify(model)
      }
      context.register { _ in
        state.keepOther(other, property, of: model, wasRelated: wasRelated)
      }
      state.recordChange(property.ordinal)
      let list = state.listToChange(property)
      list.added.remove(other)
      let hasOwnOrder = list.isReordered && !list.added.isEmpty && !mark.isCurrent(in: context)
      list.isReordered = wasReordered || hasOwnOrder
      // The store decides whether it is a member.
      if list.isReordered { list.isOutdated = true } else if list.isLoaded { list.unload() }
      mark.restore(state, in: context)
      property.notify(model)
    }
  }

  /// Has a list be put together again from its members' own ends after a step of an undo, if a save has put its owner or the
  /// member in the place of another model: the steps that change the other one's ends change nothing any more.
  private func outdate(
    _ list: RelatedModels,
    of model: any PersistentModel,
    _ property: ModelProperty,
    with other: any PersistentModel
  ) {
    guard property.isDerivable else { return }
    if undo.hasReplacedOthers(model) || undo.hasReplacedOthers(other) { list.isOutdated = true }
  }

  /// Registers how to undo an insertion.
  func registerUndoOfInserting(_ model: any PersistentModel) {
    guard recordingUndoManager != nil else { return }
    register { context in
      let state = model._$state
      // A model that a save turned into an update of another one is no longer here: its values are the other's.
      guard state.context === context, !state.staysAway else { return }
      if state.flags.contains(.stored) {
        DeletePropagation.undoInsertion(of: model, in: context)
        state.outdateListsOfOwners(of: model)
      } else {
        if context.undo.hasReplacedOthers(model) { context.leaveStoredEnds(of: model) }
        context.takeOut(model)
        context.register { $0.insert(model) }
      }
    }
  }

  /// Takes a model that is about to be taken out from the ends of stored models: those that were set here have been restored by the
  /// same undo, but not those that a save has moved to it from models merged into it.
  private func leaveStoredEnds(of model: any PersistentModel) {
    let state = model._$state
    for property in state.descriptor.relationships {
      guard let inverse = property.inverse else { continue }
      for other in state.related(property) {
        let end = other._$state
        guard end.flags.contains(.stored), end.context === self, !end.isDeleted,
          inverse.isToMany ? end.relatedModels(inverse)?.contains(model) == true : true
        else { continue }
        end.removeOther(model, inverse, of: other)
      }
    }
  }

  /// Registers how to undo a delete.
  func registerUndoOfDeleting(_ model: any PersistentModel) {
    guard recordingUndoManager != nil else { return }
    model._$state.flags.insert(.mayReturn)
    let saveCount = saveCount(of: model._$state.descriptor)
    let gone = model._$state.goneDestinations
    register { context in
      if model._$state.context === context {
        context.undelete(model)
        model._$state.outdateListsOfOwners(of: model)
        context.register { $0.markDeleted(model) }
      } else if saveCount != context.saveCount(of: model._$state.descriptor) {
        context.insertAgain(model, without: gone)
      } else {
        // Others have deleted it meanwhile, so it would be deleted even without the delete that is undone.
        model._$state.flags.remove(.mayReturn)
      }
    }
  }

  /// Detaches an object that was inserted and never saved from its context.
  private func takeOut(_ model: any PersistentModel) {
    let state = model._$state
    insertedModels.remove(model)
    state.context = nil
    state.forgetFormerMembers()
    state.flags.remove([.inserted, .deleted, .mayReturn])
    state.updateIsObserved()
    retryAutosave()
    observers?.went(model)
  }
}

extension _ModelState {
  /// Counts a property as unchanged again, and the object if it was the last one.
  func forgetChange(_ ordinal: Int) {
    changed.remove(ordinal)
    context?.forgetRepeatedFetches()
    if mergeMemory != nil { forgetBase(ordinal) }
    guard changed.isEmpty, flags.contains(.listed), let model else { return }
    flags.remove(.listed)
    if !isDeleted { context?.beKept(by: self) }
    context?.changedModels.remove(model)
    context?.observers?.unsavedChangesBeginOrEnd(of: model)
  }

  /// Takes a model out of the list of its to-one destination, if a save has since put either of them in the place of another
  /// one: the undo manager's other actions change the ends of the replaced one.
  ///
  /// - Parameters:
  ///   - property: The to-one end; nothing happens for any other property.
  ///   - model: The object itself.
  ///   - mark: The change that is undone.
  ///   - image: The end to be restored: a destination that it leads to keeps the model.
  fileprivate func leaveReplacement(
    _ property: ModelProperty,
    _ model: any PersistentModel,
    changedAt mark: ChangeMark,
    returningTo image: RelationImage
  ) {
    guard !property.isToMany, let inverse = property.inverse, let end = linkedModel(property),
      !image.leads(to: end), let undo = context?.undo,
      undo.hasReplacedOthers(end, since: mark) || undo.hasReplacedOthers(model, since: mark)
    else { return }
    end._$state.removeOther(model, inverse, of: end)
  }

  /// Forgets the members that have left the lists of an object without a row: they would stay in memory as long as each other.
  fileprivate func forgetFormerMembers() {
    for property in descriptor.relationships {
      guard case .many(let list) = relation(property) else { continue }
      list.removed = OrderedModels()
      list.returned = []
    }
  }

  /// Makes the list at the other end of a to-one relationship be put together again.
  ///
  /// - Parameters:
  ///   - property: The to-one end; nothing happens for any other property.
  ///   - member: The object itself, if only a list that contains it is meant.
  fileprivate func outdateList(
    _ property: ModelProperty,
    with member: (any PersistentModel)? = nil
  ) {
    guard !property.isToMany, let inverse = property.inverse, inverse.isToMany,
      let owner = linkedModel(property)?._$state, case .many(let list) = owner.relation(inverse),
      list.isLoaded
    else { return }
    if let member, !list.contains(member) { return }
    list.isOutdated = true
  }

  /// Lets go of the list at the other end of a to-one relationship, if an earlier step of an undo has left open whether the object
  /// is a member.
  ///
  /// - Parameters:
  ///   - property: The to-one end, just restored; nothing happens for any other property.
  ///   - model: The object itself.
  fileprivate func decideOnList(_ property: ModelProperty, of model: any PersistentModel) {
    guard !property.isToMany, let inverse = property.inverse, inverse.isToMany,
      let owner = linkedModel(property)?._$state, case .many(let list) = owner.relation(inverse),
      list.undecided.remove(ObjectIdentifier(model)) != nil, list.isLoaded, !list.contains(model)
    else { return }
    list.unload()
  }

  /// Makes setters call their listeners: observers, or an undo manager.
  func updateIsObserved() {
    if observation != nil { context?.watch(self) }
    isObserved =
      observation != nil || context?.undo.manager != nil || context?.observers != nil
      || isListedByValue || context?.autosave.hasFailed == true
  }

  /// Tells the undo manager that one end of a relationship is about to change.
  func registerUndo(
    of property: ModelProperty,
    in model: any PersistentModel,
    as change: MembershipChange? = nil,
    beforeDeleting isDeleting: Bool = false
  ) {
    context?.registerUndo(of: property, in: model, as: change, beforeDeleting: isDeleting)
  }

  /// Tells the undo manager that a model is about to be added to a list.
  func registerUndo(
    ofAdding other: any PersistentModel,
    to property: ModelProperty,
    _ list: RelatedModels,
    in model: any PersistentModel
  ) {
    context?.registerUndo(ofAdding: other, to: property, list, in: model)
  }

  /// Tells the undo manager that a model is about to leave a list.
  func registerUndo(
    ofRemoving other: any PersistentModel,
    from property: ModelProperty,
    _ list: RelatedModels,
    in model: any PersistentModel
  ) {
    context?.registerUndo(ofRemoving: other, from: property, list, in: model)
  }

  /// Makes a model a member again of the list at its other end, if an undo has restored that before the model's own end.
  fileprivate func admit(_ model: any PersistentModel, _ property: ModelProperty?) {
    guard let property, property.isToMany, case .many(let list) = relation(property) else { return }
    if list.admit(model) { hold(model) }
  }

  /// The deleted models to which relationships without an inverse still lead.
  ///
  /// What an undo inserts again does not bring them along: their own deletes were earlier steps.
  fileprivate var goneDestinations: [any PersistentModel] {
    descriptor.relationships.compactMap { property in
      guard !property.isToMany, property.isOptional, property.inverse == nil,
        let destination = linkedModel(property), destination._$state.isKnownGone
      else { return nil }
      return destination
    }
  }

  /// Whether the object has no ends any more that an undo could restore: others have deleted it, or a save has put another in its
  /// place.
  ///
  /// Not if it was deleted here, too: the undo that restores its ends then inserts it again.
  var staysAway: Bool { isRetired || flags.contains(.vanished) && !flags.contains(.mayReturn) }
}
