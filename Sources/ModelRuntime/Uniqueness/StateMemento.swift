import RowFormat

/// The part of an object's state that a failed save restores: everything but the values in its slots.
///
/// Safe to use, because it keeps the block of the row, and lives no longer than a save of the context, which keeps the
/// connection.
@safe struct StateMemento {
  private let changed: OrdinalSet
  private let flags: _ModelState.Flags
  private let reference: RowReference
  private let relations: [Relation]
  /// The contents of the lists among the relations: they are changed in place.
  private let lists: [RelatedModels?]
  private let pendingRanks: OrdinalMap<Int64>
  private let row: UnsafeRawPointer?
  private let rowByteCount: UInt32
  private let arena: RowArena?
  private let identifier: PersistentIdentifier?
  private unowned(unsafe) let connection: StoreConnection?

  init(_ state: _ModelState) {
    changed = state.changed
    flags = state.flags
    reference = state.reference
    relations = state.relations
    lists = state.relations.map { relation in
      if case .many(let list) = relation { list.copy() } else { nil }
    }
    pendingRanks = state.pendingRanks
    unsafe row = state.row
    rowByteCount = state.rowByteCount
    arena = state.arena
    identifier = state.identifierIfKnown
    unsafe connection = state.connection
  }

  func restore(_ state: _ModelState) {
    state.changed = changed
    // The context decides whether it holds the object's lists, and whether the object holds the context; and whether the
    // object and its lists are watched.
    let held: _ModelState.Flags = [.keepsLists, .keepsContext, .isWatched, .ownsLists]
    state.flags = flags.subtracting(held).union(state.flags.intersection(held))
    state.reference = reference
    state.relations = zip(relations, lists).map { relation, list in
      list.map { .many($0.copy()) } ?? relation
    }
    state.recordLists()
    state.pendingRanks = pendingRanks
    state.row = unsafe row
    state.rowByteCount = rowByteCount
    state.arena = arena
    state.setIdentifier(identifier)
    state.connection = unsafe connection
  }
}
