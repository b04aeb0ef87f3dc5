import Foundation
import RowFormat

// A question that is answered by objects is about what these lead to as well: a context that does not merge what others save still
// holds former values of it.

extension ModelContext {
  /// Reads again the rows of other models that a fetch reads, if others have saved them since.
  ///
  /// - Parameters:
  ///   - reading: What the fetch reads; of code that may read anything, all objects of the context.
  ///   - models: The models from which it leads to others.
  ///   - connection: Their store. The commits to it were noticed.
  func refreshOthers(
    readBy reading: FetchReading,
    from models: [any PersistentModel],
    in connection: StoreConnection
  ) {
    // Whatever the context has read is as new as the store.
    if epochs.isFirst || models.isEmpty { return }
    if reading.isUnknown { return refreshAll(in: connection) }
    refreshEnds(of: reading.waysToOthers, from: models, in: connection)
  }

  private func refreshEnds(
    of ways: FetchReading.Ways,
    from models: [any PersistentModel],
    in connection: StoreConnection
  ) {
    for path in ways.paths.withoutPrefixes {
      _ = refreshEnds(of: path, from: models, in: connection)
    }
    for list in ways.lists {
      let owners = refreshEnds(of: list.owner, from: models, in: connection)
      let members = refreshMembers(of: list.property, from: owners, in: connection)
      refreshEnds(of: list.further, from: members, in: connection)
    }
  }

  private func refreshEnds(
    of path: RowPath,
    from models: [any PersistentModel],
    in connection: StoreConnection
  ) -> [any PersistentModel] {
    path.steps.reduce(models) { refreshEnds(of: $1.property, from: $0, in: connection) }
  }

  /// Reads again the rows of the members of lists that others have saved since.
  ///
  /// - Returns: The members, some of them more than once.
  private func refreshMembers(
    of property: ModelProperty,
    from owners: [any PersistentModel],
    in connection: StoreConnection
  ) -> [any PersistentModel] {
    let owners = owners.filter { $0.descriptor.has(property) }
    let members = owners.flatMap { $0.stateWithRelationships.destinations(property) }
    var outdated: [ObjectIdentifier: _ModelState] = [:]
    for state in members.lazy.map({ $0._$state })
    where state.rowEpoch != listEpoch && state.flags.contains(.stored) {
      outdated[ObjectIdentifier(state)] = state
    }
    refreshOutdatedRows(of: outdated.values, from: connection)
    return members
  }

  /// Reads again the rows of all objects that others have saved since.
  private func refreshAll(in connection: StoreConnection) {
    let map = maps[connection.index]
    map.makeStates()
    refreshOutdatedRows(of: map.states.filter { $0.flags.contains(.stored) }, from: connection)
  }

  /// Reads again the rows of the models at the other ends of a to-one relationship that others have saved since.
  ///
  /// - Returns: The models there, some of them more than once.
  private func refreshEnds(
    of property: ModelProperty,
    from models: [any PersistentModel],
    in connection: StoreConnection
  ) -> [any PersistentModel] {
    var ends: [any PersistentModel] = []
    ends.reserveCapacity(models.count)
    var outdated: [ObjectIdentifier: _ModelState] = [:]
    var known: (descriptor: ModelDescriptor, hasProperty: Bool)?
    for model in models {
      let descriptor = model.descriptor
      if known?.descriptor !== descriptor { known = (descriptor, descriptor.has(property)) }
      // A model that was reached by a cast may be of a class without the property.
      guard known?.hasProperty == true,
        let end = model.stateWithRelationships.destination(property)
      else { continue }
      ends.append(end)
      let state = end._$state
      if state.rowEpoch != listEpoch, state.flags.contains(.stored) {
        outdated[ObjectIdentifier(state)] = state
      }
    }
    refreshOutdatedRows(of: outdated.values, from: connection)
    return ends
  }

  /// Reads again the rows of models that others have saved since, as far as the context has noticed.
  func refreshOutdatedRows(
    of states: some Sequence<_ModelState>,
    from connection: StoreConnection
  ) {
    let outdated = states.filter {
      $0.connection === connection && !$0.isDeleted && hasOutdatedRow($0)
    }
    refreshRows(of: outdated, from: connection)
  }
}
