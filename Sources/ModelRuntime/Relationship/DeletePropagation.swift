import RowFormat
import SchedulePoints

/// The effects of deleting an object on the objects related to it.
enum DeletePropagation {
  /// Deletes an object and applies its rules; the objects it cascades to are handled the same way, one after
  /// the other, so neither long chains nor cycles are a problem.
  static func delete(_ model: any PersistentModel, from context: ModelContext) {
    for connection in context.coordinator.connections {
      context.noticeCommitsIfCounted(to: connection)
    }
    var pending = [Followers([model])]
    while let last = pending.indices.last {
      guard let next = pending[last].takeLast() else {
        pending.removeLast()
        continue
      }
      let state = next._$state
      guard !state.isDeleted, state.context === context else { continue }
      // Includes references that others have set, or moved, since its row was read.
      if let connection = state.connection { context.refreshRow(of: state, from: connection) }
      let way = pending[last].way
      if let way, state.descriptor.isLeaf(at: way) {
        context.markDeleted(next)
        continue
      }
      // Read while the object is still an ordinary owner: once it is marked, no model refers to it.
      var ends: [(property: ModelProperty, others: RelatedToDeleted)] = []
      for property in state.descriptor.relationships where property.ordinal != way?.ordinal {
        ends.append((property, related(property, of: state, in: context)))
      }
      if context.recordingUndoManager != nil {
        for (property, others) in ends { state.readPlaces(in: others.models, at: property) }
      }
      context.markDeleted(next)
      for (property, others) in ends {
        if let followers = apply(property, of: next, to: others, in: context) {
          pending.append(followers)
        }
      }
    }
  }

  /// Deletes an object because its saved insertion is undone.
  ///
  /// The models that were related to it with its insertion have been given back by the same undo. Those that are related to it
  /// now have come since: they are no part of the insertion, and lose the object, but stay, even if the rule is to cascade.
  static func undoInsertion(of model: any PersistentModel, in context: ModelContext) {
    let state = model._$state
    if let connection = state.connection {
      context.noticeCommitsIfCounted(to: connection)
      context.refreshRow(of: state, from: connection)
    }
    // Read before it is deleted, as in a delete: a save takes its own ends from memory.
    let ends = state.descriptor.relationships.map { ($0, state.related($0)) }
    for (property, others) in ends { state.readPlaces(in: others, at: property) }
    context.markDeleted(model)
    for (property, others) in ends {
      // Inserting it again needs them.
      state.registerUndo(of: property, in: model)
      switch property.deleteRule {
      case .cascade, .nullify:
        state.readCurrentRows(of: others, at: property)
        for other in others where !other._$state.wasTakenFrom(model, property) {
          detach(model, from: other, property)
        }
      case .deny, .noAction: break
      }
    }
  }

  /// Models to be deleted along with their owner, the last of them first.
  private struct Followers {
    private let models: [any PersistentModel]
    /// Number of those left. (The list may be shared: removing models would copy it.)
    private var rest: Int
    /// The end at which they go with their owner without notification; `nil` if they already know.
    let way: ModelProperty?

    init(_ models: [any PersistentModel], way: ModelProperty? = nil) {
      self.models = models
      self.way = way
      rest = models.count
    }

    mutating func takeLast() -> (any PersistentModel)? {
      if rest == 0 { return nil }
      rest -= 1
      return models[rest]
    }
  }

  /// The models at the other end of a relationship of a model that is about to be deleted.
  private struct RelatedToDeleted {
    var models: [any PersistentModel] = []
    /// The rows of those that have no objects, and need none to be deleted or to lose the model.
    var rows: [RowReference] = []
    /// The context's list epoch when the rows were found.
    var epoch: UInt32 = 0
  }

  private static func related(
    _ property: ModelProperty,
    of state: _ModelState,
    in context: ModelContext
  ) -> RelatedToDeleted {
    if !state.isFollowed(property) { return RelatedToDeleted() }
    if context.takesRowsAlong(property, of: state), let connection = state.connection,
      let members = context.membersAndRows(of: state, property, in: connection)
    {
      return RelatedToDeleted(models: members.models, rows: members.rows, epoch: members.epoch)
    }
    return RelatedToDeleted(models: state.related(property))
  }

  /// Applies one relationship's rule.
  ///
  /// - Returns: The models that have to be deleted in turn, if there are any.
  private static func apply(
    _ property: ModelProperty,
    of model: any PersistentModel,
    to related: RelatedToDeleted,
    in context: ModelContext
  ) -> Followers? {
    var related = related
    if let connection = model._$state.connection {
      context.findObjects(of: &related.rows, in: connection, into: &related.models)
    }
    // A saved delete takes the model's own end from memory, and undoing it needs that end.
    model._$state.registerUndo(of: property, in: model, beforeDeleting: true)
    switch property.deleteRule {
    case .cascade, .nullify: model._$state.readCurrentRows(of: related.models, at: property)
    case .deny, .noAction: break
    }
    switch property.deleteRule {
    case .cascade:
      if PlantedFault.missedCascade.isPlanted {
        for other in related.models { detach(model, from: other, property) }
        return nil
      }
      return cascade(property, of: model, to: related, in: context)
    case .nullify:
      for other in related.models { detach(model, from: other, property) }
      if let connection = model._$state.connection, !related.rows.isEmpty {
        context.takeAlong(
          TakenAlong(related.models, related.rows, of: model, property, in: connection),
          epoch: related.epoch
        )
      }
      return nil
    case .deny, .noAction:
      // Deny is checked when saving: by then the models in the way may be gone.
      return nil
    }
  }

  private static func cascade(
    _ property: ModelProperty,
    of model: any PersistentModel,
    to related: RelatedToDeleted,
    in context: ModelContext
  ) -> Followers? {
    let owner = model._$state
    guard context.takesAlong(property, of: owner), let inverse = property.inverse,
      let connection = owner.connection
    else {
      for other in related.models { detach(model, from: other, property) }
      return related.models.isEmpty ? nil : Followers(related.models)
    }
    for other in related.models where !other._$state.goesAlong(with: owner, at: inverse) {
      detach(model, from: other, property)
    }
    if related.models.isEmpty, related.rows.isEmpty { return nil }
    context.takeAlong(
      TakenAlong(related.models, related.rows, of: model, property, in: connection),
      epoch: related.epoch
    )
    return related.models.isEmpty ? nil : Followers(related.models, way: inverse)
  }

  private static func detach(
    _ model: any PersistentModel,
    from other: any PersistentModel,
    _ property: ModelProperty
  ) {
    guard let inverse = property.inverse, !other._$state.isDeleted else { return }
    let state = other._$state
    let wasSet = state.changed.contains(inverse.ordinal)
    state.removeOther(model, inverse, of: other)
    if !wasSet, !inverse.isToMany, state.changed.contains(inverse.ordinal) {
      state.recordNullification(inverse)
    }
  }

  /// Throws if a deleted model must stay because others are related to it.
  ///
  /// - Throws: An error that names the model, the relationship and one of the models in the way.
  static func checkDenials(_ deleted: [any PersistentModel]) throws {
    for model in deleted {
      for property in model._$state.descriptor.relationships where property.deleteRule == .deny {
        let blocking = try models(blocking: property, of: model)
        if let first = blocking.first {
          throw SwiftDataError.deleteDenied(
            model.persistentModelID,
            property: property.name,
            by: first.persistentModelID,
            count: blocking.count
          )
        }
      }
    }
  }
}

extension DeletePropagation {
  /// Returns the models in the way of a delete, except those that others have deleted by now.
  private static func models(
    blocking property: ModelProperty,
    of model: any PersistentModel
  ) throws -> [any PersistentModel] {
    let state = model._$state
    let related = state.related(property).filter { other in
      !other._$state.isDeleted && !other._$state.wasTakenFrom(model, property)
    }
    guard !related.isEmpty, let context = state.context, let connection = state.connection else {
      return related
    }
    // The models related here may have been read before they were deleted elsewhere.
    try context.readRows(of: related.map { $0._$state }, in: connection)
    return related.filter { !$0._$state.isGone }
  }
}

extension _ModelState {
  /// Whether the end of the model leads elsewhere since it was set, whatever the list of its former owner shows.
  ///
  /// Undoing the insertion of an owner gives the models back to others that its list had before it was inserted.
  fileprivate func wasTakenFrom(_ owner: any PersistentModel, _ property: ModelProperty) -> Bool {
    guard let inverse = property.inverse, changed.contains(inverse.ordinal) else { return false }
    switch relation(inverse) {
    case .unloaded: return false
    case .one(let current): return current !== owner
    case .many(let list): return list.removed.contains(owner) && !list.added.contains(owner)
    }
  }
}

// MARK: Changes between the delete and its save

extension DeletePropagation {
  /// A model that is, in the store, at the end of a deleted model's relationship.
  private struct Related {
    let owner: any PersistentModel
    let property: ModelProperty
    let inverse: ModelProperty
    let other: any PersistentModel
  }

  /// Applies the rules of deleted models to models related to them since, where the lists are stored
  /// with them; no other save may write these lists meanwhile.
  ///
  /// - Returns: Whether there were any.
  /// - Throws: An error that names the model in the way of a delete.
  static func catchUp(
    with deleted: [any PersistentModel],
    in connection: StoreConnection,
    of context: ModelContext
  ) throws -> Bool {
    let owners = deleted.filter { model in
      model._$state.descriptor.relationships.contains { connection.storesWithOwner($0) }
    }
    if owners.isEmpty { return false }
    context.refreshRows(of: owners.map { $0._$state }, from: connection)
    try context.throwDeferredError()
    var related: [Related] = []
    for owner in owners {
      let state = owner._$state
      for property in state.descriptor.relationships where connection.storesWithOwner(property) {
        let row = state.currentRow
        guard let inverse = property.inverse, !row.isNull(property.ordinal) else { continue }
        for reference in row.layout.references(property.ordinal, in: row.span) {
          guard let other = context.model(at: reference, in: connection) else { continue }
          related.append(Related(owner: owner, property: property, inverse: inverse, other: other))
        }
      }
    }
    // Their rows in memory may be older than the relationship. Many of the deleted models may be in one list, which is as
    // long as they are many.
    var others = Set<ObjectIdentifier>()
    let distinct = related.filter { others.insert(ObjectIdentifier($0.other)).inserted }
    context.refreshRows(of: distinct.map { $0.other._$state }, from: connection)
    try context.throwDeferredError()
    var found = false
    for end in related
    where end.other._$state.stillRefers(to: end.owner, through: end.inverse) {
      found = true
      try follow(end.property, of: end.owner, to: end.other, in: context)
      end.other._$state.recordRemoval(of: end.owner, from: end.inverse)
    }
    return found
  }

  /// Applies a rule to one model that became related to a deleted one after the delete.
  static func follow(
    _ property: ModelProperty,
    of owner: any PersistentModel,
    to other: any PersistentModel,
    in context: ModelContext
  ) throws {
    switch property.deleteRule {
    case .deny:
      throw SwiftDataError.deleteDenied(
        owner.persistentModelID,
        property: property.name,
        by: other.persistentModelID,
        count: 1
      )
    case .cascade:
      detach(owner, from: other, property)
      delete(other, from: context)
    case .nullify, .noAction:
      // Nothing may refer to a missing row: without an action, too, the reference reads as nil.
      detach(owner, from: other, property)
    }
  }
}

extension StoreConnection {
  /// Whether a list is stored with its owner, and the other ends must be notified.
  fileprivate func storesWithOwner(_ property: ModelProperty) -> Bool {
    property.isToMany && property.inverse != nil && (keepsLists || !property.isDerivable)
  }
}

extension _ModelState {
  /// The models at the other end of a relationship of any kind.
  func related(_ property: ModelProperty) -> [any PersistentModel] {
    property.isToMany ? destinations(property) : destination(property).map { [$0] } ?? []
  }

  /// Loads those lists at other ends that are stored with their owners and contain this object: undoing its
  /// delete restores its places, which a list loaded afterwards does not have.
  fileprivate func readPlaces(in others: [any PersistentModel], at property: ModelProperty) {
    guard let inverse = property.inverse, inverse.isToMany,
      !inverse.isDerivable || connection?.keepsLists == true
    else { return }
    for other in others { _ = other._$state.relatedModels(inverse) }
  }

  /// Whether a delete follows a relationship, or undoing it needs the other end.
  fileprivate func isFollowed(_ property: ModelProperty) -> Bool {
    switch property.deleteRule {
    case .cascade, .nullify: true
    case .deny, .noAction: context?.recordingUndoManager != nil
    }
  }

  /// Removes a model from the stored list at the next save, even if this context added it as well.
  fileprivate func recordRemoval(of owner: any PersistentModel, from property: ModelProperty) {
    guard property.isToMany, case .many(let list) = relation(property) else { return }
    list.recordRemoval(of: owner, property)
  }

  /// Whether a model that the store has at the other end exists, and was not removed here.
  fileprivate func stillRefers(to owner: any PersistentModel, through inverse: ModelProperty)
    -> Bool
  {
    if isDeleted || flags.contains(.vanished) { return false }
    guard inverse.isToMany else { return linkedModel(inverse) === owner }
    guard changed.contains(inverse.ordinal), case .many(let list) = relation(inverse) else {
      return exists()
    }
    return !list.removed.contains(owner) && exists()
  }
}
