import RowFormat

// Reading a relationship of each model of a fetch, one after the other, costs a remote store one round trip per model. So
// the first read also fetches the targets of neighbouring models.

extension ModelContext {
  /// The cache of rows read for siblings of a store, emptied if it is older than the context's knowledge.
  private func siblings(in connection: StoreConnection) -> SiblingCache {
    let cache = siblingCaches[connection.index] ?? SiblingCache()
    siblingCaches[connection.index] = cache
    cache.keep(only: listEpoch)
    return cache
  }

  /// Forgets the rows read for siblings, which a save of this context has made outdated.
  func forgetSiblings() {
    for cache in siblingCaches.values { cache.removeAll() }
  }

  /// Makes the rows of one answer companions.
  func connect(_ rows: [FetchedRow]) {
    let companions = RowCompanions(rows.map(\.reference))
    // Many rows lie in one block.
    var last: RowArena?
    for row in rows where row.arena !== last {
      last = row.arena
      last?.companions = companions
    }
  }

  /// Makes the members of one answer companions.
  private func connect(_ fetched: FetchedMembers) {
    let companions = RowCompanions(fetched.members.map { unsafe $0.row.reference })
    for arena in fetched.arenas { arena.companions = companions }
  }

  // MARK: Lists found from their other end

  /// The members of a list that is derived from its other end, with their rows.
  ///
  /// - Throws: An error of the store.
  func siblingMembers(
    of owner: _ModelState,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) throws -> SiblingCache.List? {
    let cache = siblings(in: connection)
    if let known = cache.takeList(of: owner.reference, property) { return known }
    let name = RelationshipName(table: owner.reference.table, ordinal: property.ordinal)
    var (batch, owners) =
      owner.arena?.companions?.beginBatch(of: name, around: owner.reference)
      ?? (SiblingBatch(after: nil), [])
    owners.removeAll {
      $0 == owner.reference || cache.hasList(of: $0, property) || hasList($0, property, connection)
    }
    owners.append(owner.reference)
    let found = try connection.store.members(ofAll: owners, property)
    connect(found)
    cache.add(found, of: owners, property, batch)
    return cache.takeList(of: owner.reference, property)
  }

  /// Whether the list of an object in memory is up to date.
  private func hasList(
    _ owner: RowReference,
    _ property: ModelProperty,
    _ connection: StoreConnection
  ) -> Bool {
    guard case .state(let state) = unsafe maps[connection.index].occupant(at: owner),
      case .many(let list) = unsafe state.takeUnretainedValue().relation(property)
    else { return false }
    return list.isCurrent(at: listEpoch)
  }

  /// Whether a row would have to be read.
  private func lacksRow(_ reference: RowReference, _ connection: StoreConnection) -> Bool {
    switch unsafe maps[connection.index].occupant(at: reference) {
    case nil: true
    case .fault: false
    case .state(let state): unsafe state.takeUnretainedValue().row == nil
    }
  }

  /// Gives rows that were read for siblings to their objects.
  func takeSiblingRows(for states: [_ModelState], in connection: StoreConnection) {
    let cache = siblings(in: connection)
    for state in states where unsafe state.row == nil {
      if let row = cache.takeRow(state.reference) { refresh(state, from: row) }
    }
  }

  // MARK: References

  /// Records the relationship that leads to a row, if the row must be read.
  func noteOrigin(
    of reference: RowReference,
    _ owner: _ModelState,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) {
    guard case .state = unsafe maps[connection.index].occupant(at: reference),
      let companions = owner.arena?.companions, lacksRow(reference, connection)
    else { return }
    let cache = siblings(in: connection)
    if cache.hasRow(reference) { return }
    cache.note(
      .init(owner: owner.reference, property: property, companions: companions),
      of: reference
    )
  }

  /// Reads the row of an object, together with the target rows of its companions' relationships.
  ///
  /// - Returns: `false`, with nothing read, if the object was not reached through a relationship.
  /// - Throws: An error of the store.
  func loadRowWithSiblings(
    of state: _ModelState,
    in connection: StoreConnection
  ) throws -> Bool {
    let cache = siblings(in: connection)
    if let row = cache.takeRow(state.reference) {
      refresh(state, from: row)
      return true
    }
    guard let origin = cache.takeOrigin(of: state.reference) else { return false }
    try readTargets(of: origin, in: connection, besides: [state.reference])
    if let row = cache.takeRow(state.reference) {
      refresh(state, from: row)
    } else {
      state.vanish()
    }
    return true
  }

  /// Reads the rows of the members of a list that is stored with its owner, and those of its siblings' lists.
  ///
  /// - Throws: An error of the store.
  func readMembers(
    _ members: [_ModelState],
    of owner: _ModelState,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) throws {
    takeSiblingRows(for: members, in: connection)
    let missing = members.filter { state in
      unsafe state.row == nil && state.flags.isDisjoint(with: [.vanished, .inserted])
    }
    if missing.isEmpty { return }
    let companions = owner.arena?.companions ?? RowCompanions([owner.reference])
    let origin = SiblingCache.Origin(
      owner: owner.reference,
      property: property,
      companions: companions
    )
    try readTargets(of: origin, in: connection, besides: missing.map(\.reference))
    let cache = siblings(in: connection)
    for state in missing {
      if let row = cache.takeRow(state.reference) {
        refresh(state, from: row)
      } else {
        state.vanish()
      }
    }
  }

  /// Maximum number of rows read at once for siblings.
  private static let targetLimit = 8192

  /// Reads rows, and the targets of a relationship of companions.
  private func readTargets(
    of origin: SiblingCache.Origin,
    in connection: StoreConnection,
    besides own: [RowReference]
  ) throws {
    let cache = siblings(in: connection)
    let name = RelationshipName(table: origin.owner.table, ordinal: origin.property.ordinal)
    let (batch, owners) = origin.companions.beginBatch(of: name, around: origin.owner)
    var wanted = own
    var known = Set(own)
    for owner in owners where wanted.count < ModelContext.targetLimit {
      for target in storedTargets(of: owner, origin.property, in: connection)
      where known.insert(target).inserted && !cache.hasRow(target) && lacksRow(target, connection) {
        wanted.append(target)
      }
    }
    let rows = try connection.store.rows(at: wanted, for: editingState).compactMap { $0 }
    connect(rows)
    for row in rows { cache.add(row, batch) }
  }

  /// The stored targets of a relationship of an object in memory.
  func storedTargets(
    of owner: RowReference,
    _ property: ModelProperty,
    in connection: StoreConnection
  ) -> [RowReference] {
    guard let state = maps[connection.index][owner], unsafe state.row != nil else { return [] }
    let row = state.currentRow
    if row.isNull(property.ordinal) { return [] }
    return property.isToMany
      ? Array(row.layout.references(property.ordinal, in: row.span))
      : [row.layout.reference(property.ordinal, in: row.span)]
  }
}
