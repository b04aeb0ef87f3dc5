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
    }
    let changed = context.changed.lazy.map { $0._$state }.filter { !$0.isDeleted }
    var ends = RelatedStates()
    for state in [Array(inserted), Array(changed)].joined() { ends.add(state) }
    var known = ends.states.compactMap { state in
      state.home(in: coordinator).map { (state, $0) }
    }
    var next = 0
    while next < known.count {
      let (state, store) = known[next]
      next += 1
      for other in ends[state] where stores[ObjectIdentifier(other)] == nil {
        guard other.home(in: coordinator) == nil,
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
  /// The only store that can have the model; `nil` for a new model whose class several keep.
  fileprivate func home(in coordinator: StoreCoordinator) -> StoreConnection? {
    if flags.contains(.stored) { return connection }
    return coordinator.severalConnections(for: descriptor) == nil
      ? coordinator.connection(for: descriptor) : nil
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
