import RowFormat

/// Turns new models whose unique values are taken into updates, and reverts that if the save fails.
///
/// The result of merging a new model with the one that has its values:
/// - The row keeps its identifier, and gets all attributes of the new model.
/// - A to-one relationship is the new model's, unless that is nil: then it stays as it was.
/// - A list keeps its members, followed by those that the new model's list adds.
///
/// While the save runs the new object represents the row, so that the store sees an ordinary update.
/// Afterwards the object the context had for the row stays, with the new values, and the new object leaves the
/// context; only if the context had none does the new object stay. Of several new models with the same values
/// the one inserted last stays, and the others are merged into it by the same rules.
final class Upsert {
  private let context: ModelContext
  private let connection: StoreConnection
  private let inserted: [any PersistentModel]
  private let changed: [any PersistentModel]
  private let mementos: [StateMemento]
  private var takeovers: [Takeover] = []
  private var saved: [any PersistentModel] = []
  private var absorbed: [(loser: any PersistentModel, winner: any PersistentModel)] = []
  /// The objects that others must refer to instead of the keys.
  private var replacements: [ObjectIdentifier: any PersistentModel] = [:]

  /// A new object that takes over a row.
  private struct Takeover {
    let winner: any PersistentModel
    /// The object the row had, or one made to read the row.
    let former: any PersistentModel
    let row: RowReference
    /// Whether the context knew the former object before.
    let wasRegistered: Bool
  }

  /// Records everything that a failed save must restore.
  init(_ context: ModelContext, _ connection: StoreConnection) {
    self.context = context
    self.connection = connection
    inserted = context.inserted
    changed = context.changed
    // An error may name them: then they keep these names.
    for model in inserted { _ = model.persistentModelID }
    mementos = (inserted + changed).map { StateMemento($0._$state) }
  }

  /// Changes the context's objects so that the clashes are gone.
  ///
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a clash that cannot be settled; call ``undo()``.
  func settle(_ clashes: [ModelClash]) throws {
    var groups = ClashGroups(connection)
    for clash in clashes { try groups.add(clash) }
    for group in groups.sorted(by: context.inserted) { try merge(group) }
    leaveLists()
    redirectRelationships()
    // What other stores are to save keeps its changes.
    saved = (context.inserted + context.changed).filter {
      context.store(of: $0._$state) === connection
    }
  }

  private func merge(_ group: ClashGroup) throws {
    guard let winner = group.members.last else { return }
    let losers = Array(group.members.dropLast())
    MergedRelationships(of: winner, over: losers, survivor).apply(to: winner._$state)
    for loser in losers {
      absorbed.append((loser, winner))
      replacements[ObjectIdentifier(loser)] = winner
    }
    if let row = group.row { takeOver(row, by: winner) }
  }

  /// Makes a new object take over a row.
  private func takeOver(_ row: RowReference, by winner: any PersistentModel) {
    let known = context.maps[connection.index][row]?.model
    guard let former = known ?? context.model(at: row, in: connection) else { return }
    former._$state.loadRow()
    let merged = MergedRelationships(of: winner, over: [former], survivor)
    context.maps[connection.index].insert(winner._$state, at: row)
    winner._$state.standFor(former._$state, in: connection)
    merged.apply(to: winner._$state)
    context.changedModels.append(winner)
    takeovers.append(
      Takeover(winner: winner, former: former, row: row, wasRegistered: known != nil)
    )
    replacements[ObjectIdentifier(former)] = winner
  }

  /// Takes the models that were replaced out of the context's lists: also those of which an end was moved afterwards.
  private func leaveLists() {
    for model in absorbed.map(\.loser) + takeovers.map(\.former) {
      model._$state.flags.subtract([.inserted, .listed])
    }
    context.inserted.removeAll { !$0._$state.flags.contains(.inserted) }
    context.changed.removeAll { !$0._$state.flags.contains(.listed) }
  }

  /// The object that stands for another: itself, or the one that has replaced it.
  private func survivor(_ model: any PersistentModel) -> any PersistentModel {
    var model = model
    while let next = replacements[ObjectIdentifier(model)] { model = next }
    return model
  }

  /// Makes everything to be written refer to the objects that stay.
  private func redirectRelationships() {
    // A new object was in no stored list, so its removal from one must not remove the row that it now represents.
    let new = Set(inserted.map { ObjectIdentifier($0) })
    for model in context.inserted + context.changed {
      let state = model._$state
      for property in state.descriptor.relationships {
        switch state.relation(property) {
        case .unloaded, .one(nil): break
        case .one(let other?): state.setRelation(.one(survivor(other)), property)
        case .many(let list):
          let redirected = list.redirected(to: survivor, forgettingRemovalsOf: new)
          state.setRelation(.many(redirected), property)
        }
      }
    }
  }

  // MARK: After the save

  /// Leaves one object for each row, after the save.
  ///
  /// - Parameter changes: The saved changes.
  /// - Returns: The same changes, with the objects that stay.
  func finish(_ changes: ChangeSet) -> ChangeSet {
    // Lists that outlive the save may hold objects that leave now.
    for model in saved { model._$state.dropRelations() }
    // The objects of these rows are about to change.
    let touched = context.observers == nil ? [] : inserted + takeovers.map(\.former)
    defer { for model in touched { context.observers?.settled(model) } }
    for takeover in takeovers where takeover.wasRegistered {
      let former = takeover.former._$state
      context.maps[connection.index].insert(former, at: takeover.row)
      context.leave(takeover.winner._$state, to: former)
    }
    for takeover in takeovers where !takeover.wasRegistered {
      takeover.former._$state.retire(as: takeover.winner._$state.identifier)
    }
    for (loser, winner) in absorbed { loser._$state.retire(as: winner._$state.identifier) }
    var stay: [ObjectIdentifier: any PersistentModel] = [:]
    for takeover in takeovers where takeover.wasRegistered {
      stay[ObjectIdentifier(takeover.winner)] = takeover.former
    }
    if context.undo.manager != nil {
      for last in replacements.values.map(survivor) {
        context.undo.recordReplacement(
          by: stay[ObjectIdentifier(last)] ?? last,
          at: context.saveCount(of: last.descriptor)
        )
      }
    }
    var changes = changes
    changes.updated = changes.updated.map { stay[ObjectIdentifier($0)] ?? $0 }
    return changes
  }

  /// Restores everything to its state before the save.
  func undo() {
    for takeover in takeovers.reversed() {
      context.maps[connection.index].remove(takeover.winner._$state, at: takeover.row)
      if takeover.wasRegistered {
        context.maps[connection.index].insert(takeover.former._$state, at: takeover.row)
      }
    }
    let listed = Set((inserted + changed).map { ObjectIdentifier($0) })
    for model in context.changed + takeovers.map(\.former)
    where !listed.contains(ObjectIdentifier(model)) {
      // Only ends that were moved here have changed: the store has them as they were.
      model._$state.dropRelations()
      model._$state.settle()
    }
    for (model, memento) in zip(inserted + changed, mementos) { memento.restore(model._$state) }
    context.inserted = inserted
    context.changed = changed
  }
}

extension ModelContext {
  /// Removes an object from the context in favour of the row's object, which reads the row anew.
  func leave(_ state: _ModelState, to former: _ModelState) {
    let hasShownValues = former.mayHaveShownValues
    former.relations.removeAll()
    former.settle()
    former.dropRow()
    // As after any save, it is unknown what was read of the row.
    if hasShownValues { former.flags.insert(.hasMergedValues) }
    if let model = former.model {
      model._$reset()
      observers?.refreshed(model)
      for property in former.descriptor.properties { property.notify(model) }
    }
    state.retire(as: former.identifier)
  }
}

extension _ModelState {
  /// Takes the place of another object of the same class: its row becomes the one to be updated.
  fileprivate func standFor(_ other: _ModelState, in connection: StoreConnection) {
    // A model that was deleted and is inserted again has values in its former row.
    keepValues()
    reference = other.reference
    self.connection = connection
    row = other.row
    rowByteCount = other.rowByteCount
    arena = other.arena
    layout = other.layout
    setIdentifier(nil)
    flags.remove(.inserted)
    flags.insert([.stored, .listed])
    forgetChanges()
    mergeMemory = MergeMemory(replaces: true)
    dropRelations()
    for property in descriptor.properties where !property.isRelationship {
      changed.insert(property.ordinal)
    }
  }

  /// Leaves the context to another object: its former identity lives on under an identifier.
  fileprivate func retire(as identifier: PersistentIdentifier) {
    context = nil
    dropRelations()
    settle()
    dropRow()
    reference = .none
    flags = [.stored, .adopted]
    setIdentifier(identifier)
  }

  /// Whether a save has put another object in this one's place.
  var isRetired: Bool {
    context == nil && reference == .none && flags.isSuperset(of: [.stored, .adopted])
  }
}
