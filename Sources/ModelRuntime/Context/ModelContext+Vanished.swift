import RowFormat
import SchedulePoints

// A model that is changed or deleted here may have been deleted elsewhere meanwhile. Then nothing is left
// to delete or to relate; only other changes would be lost, so those are refused.

extension ModelContext {
  /// The next step of a save that has met deleted rows.
  enum AfterVanishing {
    /// Continue without their models.
    case goOn
    /// Insert a new model that was to update one of the rows.
    case insertReplacement
  }

  /// Drops the models of a save whose rows are gone.
  ///
  /// - Returns: The next step of the save.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` if one of them has changes that would be lost, or if the row
  ///   in the way belongs to none of these models.
  func forgetVanished(
    among changes: ChangeSet,
    in connection: StoreConnection,
    because vanished: VanishedRow
  ) throws -> AfterVanishing {
    // Lists with the models are put together again.
    noticeCommits(to: connection)
    var models = changes.deleted + changes.updated
    // Members that only get another place are not among the changes before a save has begun.
    if let moved = maps[connection.index][vanished.reference]?.model,
      !models.contains(where: { $0 === moved })
    {
      models.append(moved)
    }
    let rows = try connection.store.rows(
      at: models.map { $0._$state.reference },
      for: editingState
    )
    // The commit that deleted the row in the way may already have its number without being visible.
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

  /// Detaches a model whose row was deleted elsewhere; it keeps its last values.
  func takeLeave(of model: any PersistentModel) {
    let state = model._$state
    // Lists with it are put together again.
    beginEpoch()
    state.flags.insert([.deleted, .vanished])
    state.flags.remove(.listed)
    state.keepEnds()
    state.context = nil
    observers?.went(model)
    state.notifyOtherEnds()
    // Models that it refers to may refer to it.
    state.settleUnwritten()
  }
}

extension _ModelState {
  /// Records that the store no longer has the row.
  func vanish() {
    if flags.contains(.vanished) { return }
    flags.insert(.vanished)
    context?.getAhead()
    if isListedByValue { context?.unsaved.invalidateValue(nil, of: self) }
    // Lists that it was added to here are put together again, without it.
    if flags.contains(.isHeld) { context?.beginEpoch() }
    notifyOtherEnds()
  }

  /// Notifies observers of models that were related to the object here that they no longer show it.
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

  /// Whether attributes have changed, not only relationships.
  var hasChangedAttributes: Bool {
    descriptor.properties.contains { !$0.isRelationship && changed.contains($0.ordinal) }
  }
}
