import RowFormat
import SchedulePoints

// A model may become related to a model that this context deletes after it was deleted here, or the other may have been
// deleted elsewhere after it was related here. The store finds out at the commit; delete rules decide the outcome.

extension ModelContext {
  /// Applies the delete rules to the dangling references that the store found in a save.
  ///
  /// - Parameters:
  ///   - dangling: The references that the store found.
  ///   - connection: The store, which has written nothing.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if a rule is in the way, or if nothing can be done.
  func mend(_ dangling: DanglingReferences, in connection: StoreConnection) throws {
    // Commits that others made meanwhile are then no longer new.
    noticeCommits(to: connection)
    for reference in dangling.toDeletedRows {
      guard let owner = maps[connection.index][reference.target]?.model, owner._$state.isDeleted,
        let member = model(at: reference.row, in: connection),
        let inverse = member._$state.descriptor.properties[safe: reference.column],
        let property = inverse.inverse
      else { throw SwiftDataError.referenceToNothing(dangling, in: connection) }
      // Its row may have been read before the reference was set.
      refreshRows(of: [member._$state], from: connection)
      try throwDeferredError()
      try DeletePropagation.follow(property, of: owner, to: member, in: self)
    }
    if dangling.toMissingRows.isEmpty { return }
    let new = Dictionary(
      inserted.lazy.map { ($0._$state.reference, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    for reference in dangling.toMissingRows {
      guard let member = new[reference.row] ?? model(at: reference.row, in: connection),
        let inverse = member._$state.descriptor.properties[safe: reference.column],
        nullify(inverse, of: member)
      else { throw SwiftDataError.referenceToNothing(dangling, in: connection) }
    }
  }

  /// Applies the delete rules to relationships that a save would write and that lead to models deleted by others.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if a rule is in the way.
  func mend(_ dangling: DanglingModels, in connection: StoreConnection) throws {
    noticeCommits(to: connection)
    for link in dangling.links where !nullify(link.property, of: link.model) {
      throw SwiftDataError.referenceToNothing(
        link.property,
        of: link.model,
        to: connection.identifier(of: link.target)
      )
    }
  }

  /// Nullifies a relationship to a model that others have deleted, if the delete rule allows it: the same as if their save had
  /// come later.
  private func nullify(_ inverse: ModelProperty, of member: any PersistentModel) -> Bool {
    guard inverse.isOptional, inverse.inverse?.deleteRule == .nullify else { return false }
    if let owner = member._$state.linkedModel(inverse), owner._$state.context === self,
      owner._$state.flags.contains(.stored)
    {
      let state = owner._$state
      if !state.hasChangedAttributes || state.isDeleted {
        changedModels.remove(owner)
        deletedModels.remove(owner)
        takeLeave(of: owner)
      }
    }
    member._$state.clear(inverse, of: member)
    return true
  }
}

extension ModelContext {
  /// Reads again the rows of models whose references a save is to nullify because of changes of other models.
  ///
  /// - Returns: Whether one of them is related to another model in the store by now: then fewer changes are pending.
  /// - Throws: An error of reading rows.
  func readNullified(among changes: ChangeSet, in connection: StoreConnection) throws -> Bool {
    if !connection.hasRelationships || connection.changeCount == nil { return false }
    let nullified = changes.updated.filter { $0._$state.hasNullified }
    if nullified.isEmpty { return false }
    noticeCommits(to: connection)
    let states = nullified.map { $0._$state }
    let former = states.map { $0.nullified.count }
    try readRows(of: states, in: connection)
    return zip(states, former).contains { $0.nullified.count != $1 }
  }
}

extension ModelContext {
  /// Keeps a reference that another save has set since a rule made it nil here.
  ///
  /// - Throws: `moved`, if no rule of this context made the reference nil.
  func keep(_ moved: MovedReference, in connection: StoreConnection) throws {
    noticeCommits(to: connection)
    guard let model = maps[connection.index][moved.row]?.model,
      let property = model._$state.descriptor.properties[safe: moved.column],
      model._$state.nullified[moved.column] != nil
    else { throw moved }
    let state = model._$state
    state.nullified[moved.column] = nil
    state.setRelation(.unloaded, property)
    // The commit has its number, but may not be visible yet: a read now may return the former owner, which is
    // deleted here. The next access reads again.
    state.dropShownRow()
    model._$reset(keeping: state.changed)
    beginEpoch()
    state.forgetChange(moved.column)
    property.notify(model)
  }
}

extension _ModelState {
  /// Records that a to-one end, not set since the last save, is nil because another model was changed or deleted.
  func recordNullification(_ property: ModelProperty) {
    guard let reference = storedReference(property) else { return }
    nullified[property.ordinal] = reference
  }

  /// Keeps references that others have set to another model meanwhile.
  func keepReattached() {
    if !hasNullified || PlantedFault.lostReattachment.isPlanted { return }
    for (ordinal, former) in nullified.elements {
      let property = descriptor.properties[ordinal]
      guard let reference = storedReference(property), reference != former else { continue }
      nullified[ordinal] = nil
      setRelation(.unloaded, property)
      // Lists without the model are put together again.
      context?.beginEpoch()
      forgetChange(ordinal)
    }
  }
}

extension _ModelState {
  /// Makes a to-one relationship nil, and leaves the other end as it is.
  func clear(_ property: ModelProperty, of model: some PersistentModel) {
    recordChange(property.ordinal)
    setRelation(.one(nil), property)
    property.notify(model)
  }
}
