import RowFormat

/// The epochs of a context's knowledge of its stores, and the commits that it had seen in each.
///
/// An epoch begins when a fetch, a merge or a save may have met commits of others, or when what the context shows changes as
/// a whole. Rows and lists in memory are as new as the epoch in which they were read. In a later one they are still as new as the
/// store if no commit since has changed the tables that they come from.
struct CommitEpochs {
  /// A number of a store's commits that the context had seen, up to an epoch.
  private struct Former {
    let store: Int
    let lastEpoch: UInt32
    let count: UInt64
  }

  private(set) var current: UInt32 = 1
  /// Number of each store's commits that the context has seen.
  private var counts: [UInt64]
  /// Earlier numbers, in ascending order of their epochs.
  private var former: [Former] = []
  /// What was read in an earlier epoch than this is read again, whatever the stores say.
  private var firstLasting: UInt32 = 1

  /// Maximum number of earlier numbers that are remembered.
  private static let mostFormer = 64

  init(seeing counts: [UInt64]) { self.counts = counts }

  /// Whether nothing has begun another epoch yet.
  var isFirst: Bool { current == 1 }

  /// Number of a store's commits that the context has seen.
  func count(of store: Int) -> UInt64 { counts[store] }

  /// The number that it had seen in an epoch; `nil` if what was read in that epoch does not last.
  func count(of store: Int, in epoch: UInt32) -> UInt64? {
    if epoch < firstLasting || epoch > current { return nil }
    var count = counts[store]
    for earlier in former.reversed() where earlier.store == store {
      if earlier.lastEpoch < epoch { break }
      count = earlier.count
    }
    return count
  }

  /// Begins an epoch in which nothing lasts that was read in an earlier one.
  mutating func begin() {
    current = current == .max ? 1 : current + 1
    firstLasting = current
    former.removeAll(keepingCapacity: true)
  }

  /// Begins an epoch in which the context has seen a number of a store's commits.
  mutating func begin(seeing count: UInt64, of store: Int) {
    if current == .max {
      // After so many epochs their order is unknown.
      begin()
      counts[store] = count
      return
    }
    current += 1
    see(count, of: store)
  }

  /// Records commits that change nothing of what is known in this epoch.
  mutating func see(_ count: UInt64, of store: Int) {
    // In earlier epochs it had not seen them.
    if current > firstLasting,
      former.last(where: { $0.store == store }).map({ $0.lastEpoch < current - 1 }) ?? true
    {
      if former.count == Self.mostFormer {
        firstLasting = max(firstLasting, former[Self.mostFormer / 2 - 1].lastEpoch + 1)
        former.removeFirst(Self.mostFormer / 2)
      }
      former.append(Former(store: store, lastEpoch: current - 1, count: counts[store]))
    }
    counts[store] = count
  }
}

extension ModelContext {
  /// The epoch of the context's knowledge of its stores; a list or a row of another one may be outdated.
  var listEpoch: UInt32 { epochs.current }

  /// Begins an epoch because of what happened in this context.
  func beginEpoch() { epochs.begin() }

  /// Whether nothing has changed rows of some tables since an epoch of the context.
  private func isUnchanged(
    _ tables: some Sequence<UInt16>,
    since epoch: UInt32,
    in connection: StoreConnection
  ) -> Bool {
    guard let count = epochs.count(of: connection.index, in: epoch) else { return false }
    return tables.allSatisfy { table in
      connection.store.changeCount(ofTable: table).map { $0 <= count } ?? false
    }
  }

  /// Whether the row in memory is older than the context's knowledge of the store.
  func hasOutdatedRow(_ state: _ModelState) -> Bool {
    if state.rowEpoch == listEpoch { return false }
    guard let connection = state.connection,
      isUnchanged(CollectionOfOne(state.reference.table), since: state.rowEpoch, in: connection)
    else { return true }
    state.rowEpoch = listEpoch
    return false
  }

  /// Whether the members of a list in memory are those of an epoch since which nothing has changed them.
  func isUnchanged(
    _ list: RelatedModels,
    _ property: ModelProperty,
    of owner: _ModelState
  ) -> Bool {
    guard let connection = owner.connection, let destination = property.destination else {
      return false
    }
    if !property.isDerivable,
      !isUnchanged(CollectionOfOne(owner.reference.table), since: list.epoch, in: connection)
    {
      return false
    }
    let tables = connection.store.tables(of: .of(destination))
    if tables.isEmpty { return false }
    guard property.isDerivable, let column = property.inverse?.ordinal else {
      return isUnchanged(tables, since: list.epoch, in: connection)
    }
    // What a member is related to is all that matters, not its attributes.
    guard let count = epochs.count(of: connection.index, in: list.epoch) else { return false }
    return tables.allSatisfy { table in
      let changed =
        connection.store.changeCount(ofReferencesIn: table, column: column)
        ?? connection.store.changeCount(ofTable: table)
      return changed.map { $0 <= count } ?? false
    }
  }
}

extension _ModelState {
  /// Whether the members of a list are in memory, and as new as the context's knowledge of the store.
  func isCurrent(_ list: RelatedModels, _ property: ModelProperty) -> Bool {
    if list.isCurrent(at: listEpoch) { return true }
    guard list.isLoaded, !list.isOutdated, let context, flags.contains(.stored),
      context.isUnchanged(list, property, of: self)
    else { return false }
    list.epoch = listEpoch
    return true
  }

  /// Brings lists in memory to the current epoch that are as new as it.
  func confirmLists() {
    if relations.isEmpty { return }
    for property in descriptor.relationships where property.isToMany {
      if case .many(let list) = relation(property) { _ = isCurrent(list, property) }
    }
  }
}
