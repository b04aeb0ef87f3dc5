import RowFormat
import SchedulePoints

// A model that is changed or deleted here may have been deleted elsewhere meanwhile. Then there is nothing left
// to delete, and nobody to have relationships; only other changes would be lost, so those are refused.

extension ModelContext {
  /// What a save does next that has met rows that are gone.
  enum AfterVanishing {
    /// It goes on without their models.
    case goOn
    /// One of them was to become that of a new model, which is inserted after all.
    case insertReplacement
  }

  /// Takes leave of the models of a save whose rows are gone.
  ///
  /// - Returns: What the save does next.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if one of them has changes that would be lost, or if it
  ///   is none of these models that is in the way.
  func forgetVanished(
    among changes: ChangeSet,
    in connection: StoreConnection,
    because vanished: VanishedRow
  ) throws -> AfterVanishing {
    // Lists that hold the models are put together again.
    noticeCommits(to: connection)
    let models = changes.deleted + changes.updated
    let rows = try connection.store.rows(
      at: models.map { $0._$state.reference },
      for: editingState
    )
    // The commit that deleted the row in the way may have its number already and not be visible yet.
    let gone = zip(models, rows)
      .filter { $1 == nil || $0._$state.reference == vanished.reference }
      .map(\.0)
    if gone.contains(where: { $0._$state.mergeMemory?.replaces == true }) {
      return .insertReplacement
    }
    for model in gone
    where model._$state.hasChangedAttributes && !model._$state.isDeleted
      && !PlantedFault.lostEdit.isPlanted
    {
      throw SwiftDataError.modelDeletedElsewhere(model.persistentModelID)
    }
    guard !gone.isEmpty else {
      let identifier = connection.identifier(of: vanished.reference)
      throw SwiftDataError.modelDeletedElsewhere(identifier, vanished)
    }
    let objects = Set(gone.map { ObjectIdentifier($0) })
    deletedModels.removeAll { objects.contains(ObjectIdentifier($0)) }
    changedModels.removeAll { objects.contains(ObjectIdentifier($0)) }
    for model in gone { takeLeave(of: model) }
    return .goOn
  }

  /// Cuts off a model whose row was deleted elsewhere; it keeps its last values.
  func takeLeave(of model: any PersistentModel) {
    let state = model._$state
    // Lists that hold it are put together again.
    listEpoch &+= 1
    state.flags.insert([.deleted, .vanished])
    state.flags.remove(.listed)
    state.context = nil
    observers?.went(model)
    state.notifyOtherEnds()
  }
}

extension _ModelState {
  /// Records that the store does not have the row any more.
  func vanish() {
    if flags.contains(.vanished) { return }
    flags.insert(.vanished)
    // Lists that it came to here are put together again, without it.
    if flags.contains(.isHeld) { context?.listEpoch &+= 1 }
    notifyOtherEnds()
  }

  /// Tells the observers of models that were related to the object here that they do not show it any more.
  fileprivate func notifyOtherEnds() {
    if relations.isEmpty { return }
    for property in descriptor.relationships {
      guard let inverse = property.inverse else { continue }
      switch relation(property) {
      case .unloaded, .one(nil): break
      case .one(let other?): inverse.notify(other)
      case .many(let list): for other in list.added.elements { inverse.notify(other) }
      }
    }
  }

  /// Whether more has changed than relationships.
  var hasChangedAttributes: Bool {
    descriptor.properties.contains { !$0.isRelationship && changed.contains($0.ordinal) }
  }
}
