import RowFormat

/// The stores that a save writes new models to whose class several stores keep.
///
/// A new model goes where the stored models are that it is related to, directly or through other new models:
/// relationships cannot cross stores. One that is related to none goes to its class's home.
struct StoresOfNewModels {
  private var stores: [ObjectIdentifier: StoreConnection] = [:]

  /// - Returns: `nil` if all new models go to the homes of their classes.
  init?(in context: ModelContext) {
    let coordinator = context.coordinator
    if !coordinator.hasSharedClasses || context.inserted.isEmpty { return nil }
    let inserted = context.inserted.lazy.map { $0._$state }.filter { !$0.isDeleted }
    for state in inserted where coordinator.severalConnections(for: state.descriptor) != nil {
      // An earlier save that failed may have named a row of another store.
      state.reference = .none
      stores[ObjectIdentifier(state)] = context.formerStores[ObjectIdentifier(state)]
    }
    let changed = context.changed.lazy.map { $0._$state }.filter { !$0.isDeleted }
    var ends = RelatedStates()
    for state in [Array(inserted), Array(changed)].joined() { ends.add(state) }
    var known = ends.states.compactMap { state in state.home(in: context).map { (state, $0) } }
    var next = 0
    while next < known.count {
      let (state, store) = known[next]
      next += 1
      for other in ends[state] where stores[ObjectIdentifier(other)] == nil {
        guard other.home(in: context) == nil,
          coordinator.severalConnections(for: other.descriptor)?.contains(where: { $0 === store })
            == true
        else { continue }
        stores[ObjectIdentifier(other)] = store
        known.append((other, store))
      }
    }
    if stores.isEmpty { return nil }
  }

  subscript(state: _ModelState) -> StoreConnection? { stores[ObjectIdentifier(state)] }
}

extension _ModelState {
  /// The only store that can have the model; `nil` for a new model whose class several keep, unless its delete was saved in
  /// one of them.
  fileprivate func home(in context: ModelContext) -> StoreConnection? {
    if flags.contains(.stored) { return connection }
    return context.coordinator.severalConnections(for: descriptor) == nil
      ? context.coordinator.connection(for: descriptor)
      : context.formerStores[ObjectIdentifier(self)]
  }
}

extension ModelContext {
  /// The store that has a model, or that the save under way writes it to.
  func store(of state: _ModelState) -> StoreConnection? {
    state.connection ?? storesOfNewModels?[state] ?? coordinator.connection(for: state.descriptor)
  }

  /// Throws if a model to be saved is related to one of another store, before any store is written.
  func checkRelationshipsStayInStores() throws {
    if coordinator.connections.count == 1 { return }
    for model in [inserted, changed].joined() {
      let state = model._$state
      if state.isDeleted { continue }
      let own = store(of: state)
      for property in state.descriptor.relationships {
        for other in state.newDestinations(property) {
          let other = other._$state
          guard other.context === self, !other.isDeleted, let there = store(of: other) else {
            continue
          }
          if there !== own { throw SwiftDataError.relationshipAcrossStores(to: other.identifier) }
        }
      }
    }
  }
}

extension _ModelState {
  /// The models to which a relationship leads that the store does not have so.
  fileprivate func newDestinations(_ property: ModelProperty) -> [any PersistentModel] {
    let isNew = !flags.contains(.stored)
    switch relation(property) {
    case .unloaded: return []
    case .one(let other):
      return isNew || changed.contains(property.ordinal) ? [other].compactMap(\.self) : []
    case .many(let list): return isNew && list.isLoaded ? list.models : list.added.elements
    }
  }
}

/// Models, and those that their relationships in memory lead to, from either end.
private struct RelatedStates {
  /// The models that are related to any, in the order in which they were found.
  private(set) var states: [_ModelState] = []
  private var places: [ObjectIdentifier: Int] = [:]
  private var related: [[_ModelState]] = []

  mutating func add(_ state: _ModelState) {
    for property in state.descriptor.relationships {
      switch state.relation(property) {
      case .unloaded: break
      case .one(let other): if let other { relate(state, other._$state) }
      case .many(let list):
        for other in list.isLoaded ? list.models : list.added.elements {
          relate(state, other._$state)
        }
      }
    }
  }

  private mutating func relate(_ one: _ModelState, _ other: _ModelState) {
    related[place(of: one)].append(other)
    related[place(of: other)].append(one)
  }

  private mutating func place(of state: _ModelState) -> Int {
    if let place = places[ObjectIdentifier(state)] { return place }
    places[ObjectIdentifier(state)] = states.count
    states.append(state)
    related.append([])
    return states.count - 1
  }

  subscript(state: _ModelState) -> [_ModelState] {
    places[ObjectIdentifier(state)].map { related[$0] } ?? []
  }
}
