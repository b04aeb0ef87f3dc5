import RowFormat
import SchedulePoints

// A one-to-one is stored at both ends. Two contexts may set it at once, each at its own end, or to different
// models: the second save reads the rows that the first has stored, and dissolves the pairs that its own replace.

extension ModelContext {
  /// Makes nil the ends of stored pairs that the pairs of a save replace; nobody else may write pairs meanwhile.
  ///
  /// - Parameters:
  ///   - changes: The changes that are about to be saved.
  ///   - connection: The store. A store that neither counts its changes nor takes turns is not asked.
  /// - Returns: Whether any had to be changed; these are then among the pending changes.
  /// - Throws: An error of reading rows.
  func settlePairs(of changes: ChangeSet, in connection: StoreConnection) throws -> Bool {
    guard connection.hasPairs, connection.changeCount != nil || connection.takesTurns,
      !PlantedFault.unsettledPairs.isPlanted
    else { return false }
    // The previous holder of the lock may have committed since this save began.
    noticeCommits(to: connection)
    var ends: [PairEnd] = []
    for model in [changes.inserted, changes.updated].joined() {
      let state = model._$state
      for property in state.descriptor.relationships where state.sets(pair: property) {
        if let inverse = property.inverse {
          ends.append(PairEnd(model: model, property: property, inverse: inverse))
        }
      }
    }
    if ends.isEmpty { return false }
    try readRows(
      of: ends.flatMap { end in
        [end.model, end.model._$state.linkedModel(end.property)].compactMap { $0?._$state }
      },
      in: connection
    )
    var isChanged = dissolveContradictions(among: ends)
    var former: [(model: any PersistentModel, property: ModelProperty, of: RowReference)] = []
    for end in ends {
      let (property, inverse) = (end.property, end.inverse)
      let state = end.model._$state
      let partner = state.linkedModel(property)?._$state
      if let reference = state.storedReference(property), reference != partner?.reference,
        let other = self.model(at: reference, in: connection)
      {
        former.append((other, inverse, state.reference))
      }
      if let partner, let reference = partner.storedReference(inverse),
        reference != state.reference, let other = self.model(at: reference, in: connection)
      {
        former.append((other, property, partner.reference))
      }
    }
    if former.isEmpty { return isChanged }
    try readRows(of: former.map { $0.model._$state }, in: connection)
    for (model, property, reference) in former {
      let state = model._$state
      guard !state.isDeleted, !state.changed.contains(property.ordinal),
        state.storedReference(property) == reference
      else { continue }
      state.clear(property, of: model)
      isChanged = true
    }
    return isChanged
  }

  /// An end of a pair that a save sets.
  private struct PairEnd {
    let model: any PersistentModel
    let property: ModelProperty
    let inverse: ModelProperty
  }

  /// Makes nil the ends that lead to models whose own end was set to something else: an undo restores each end as it was here, and
  /// another context may have saved one of them before it was set.
  ///
  /// - Returns: Whether there were any.
  private func dissolveContradictions(among ends: [PairEnd]) -> Bool {
    var isChanged = false
    for end in ends {
      guard let partner = end.model._$state.linkedModel(end.property),
        partner._$state.changed.contains(end.inverse.ordinal),
        partner._$state.linkedModel(end.inverse) !== end.model
      else { continue }
      end.model._$state.clear(end.property, of: end.model)
      isChanged = true
    }
    return isChanged
  }

  /// Reads the rows of models that have none in memory, or one older than the context's knowledge of the store.
  func readRows(of states: [_ModelState], in connection: StoreConnection) throws {
    let stored = states.filter { $0.flags.contains(.stored) && $0.connection === connection }
    loadRows(of: stored, from: connection)
    refreshRows(
      of: stored.filter { unsafe $0.row != nil && hasOutdatedRow($0) },
      from: connection
    )
    try throwDeferredError()
  }
}

extension PersistentModel {
  /// Whether an end of a one-to-one was set since the last save.
  var setsPair: Bool {
    let state = _$state
    return state.descriptor.relationships.contains(where: state.sets(pair:))
  }
}

extension _ModelState {
  /// Whether a one-to-one was set since the last save.
  fileprivate func sets(pair property: ModelProperty) -> Bool {
    property.isPaired && changed.contains(property.ordinal) && !isDeleted
  }
}

extension ModelProperty {
  /// Whether the relationship is a to-one whose inverse is a to-one, too.
  var isPaired: Bool {
    guard !isToMany, let inverse else { return false }
    return !inverse.isToMany
  }
}
