import LogEngine
import ModelRuntime
import RowFormat

/// The indexes of one table that a fetch can use, as of its view.
struct TableIndexes {
  private let store: TableStore
  private let table: EntityTable
  private let view: ReadView
  /// The predicate's conditions on columns, one for each column.
  private let lookups: [ValueLookup]
  /// Whether the lookups are all that the predicate asks for.
  private let isComplete: Bool

  /// Maximum number of rows of a table whose indexes are not considered.
  static let unindexedRowLimit = 64

  /// - Returns: `nil` for a table that is read in no time.
  init?(
    _ store: TableStore,
    _ table: EntityTable,
    _ plan: CandidatePlan,
    isFiltered: Bool,
    _ view: ReadView
  ) {
    guard view.rowCount(of: table.number) > TableIndexes.unindexedRowLimit else { return nil }
    self.store = store
    self.table = table
    self.view = view
    let asked: (lookups: [ValueLookup], isComplete: Bool)? =
      switch plan {
      case .values(let lookups, let isComplete): (lookups, isComplete)
      case .joining(_, let lookups, _), .either(_, let lookups, _): (lookups, false)
      case .rows, .referring, .scan: nil
      }
    if let (lookups, isComplete) = asked {
      // Of a class the predicate does not speak of, columns have other meanings.
      let own = lookups.filter { table.descriptor.isKind(of: $0.owner) }
      self.lookups = own.onePerColumn
      self.isComplete = isComplete && own.count == lookups.count
    } else {
      lookups = []
      isComplete = !isFiltered
    }
  }

  /// An index, and the part of it that a fetch needs.
  struct Found {
    let use: IndexUse
    let keys: OrderedKeys
    let count: Int
  }

  /// The index that names the fewest rows of those that can match.
  ///
  /// - Throws: What making an index throws.
  func narrowest() throws -> Found? {
    if lookups.isEmpty { return nil }
    let uses = store.indexes.values(of: table.number).compactMap { index in
      IndexUse(index, lookups, isComplete: isComplete).flatMap { $0.isNarrow ? $0 : nil }
    }
    // An index that tells all that is asked names the rows that match: no other one names fewer.
    for use in uses where use.isExact {
      if let keys = try use.index.keys(as: view, in: store) {
        return Found(use: use, keys: keys, count: try use.count(in: keys))
      }
    }
    var best: Found?
    for use in uses where !use.isExact {
      guard let keys = try use.index.keys(as: view, in: store) else { continue }
      let count = try use.count(in: keys)
      if let best, best.count <= count { continue }
      best = Found(use: use, keys: keys, count: count)
    }
    return best
  }

  /// An index that has the rows that match in the order of a sort, and no others among them.
  ///
  /// No access path reads fewer rows for the first ones of the sort, so nothing is counted.
  ///
  /// - Parameters:
  ///   - ordering: The sort.
  ///   - position: The place in the sort behind which the rows are wanted, if it is not the beginning.
  /// - Returns: The walk and the index's entries; `nil` if there is no such index.
  /// - Throws: What making an index throws.
  func direct(
    by ordering: RowOrdering,
    behind position: PagePosition?
  ) throws -> (walk: IndexWalk, keys: OrderedKeys)? {
    try exact(by: ordering, behind: position) { $0.isComplete && $0.isExact }
  }

  /// An index that has the rows that match, and no others among them, in the order of a sort as far as its words tell.
  ///
  /// - Throws: What making an index throws.
  func exact(
    by ordering: RowOrdering,
    behind position: PagePosition? = nil,
    where isWanted: (IndexWalk) -> Bool = { _ in true }
  ) throws -> (walk: IndexWalk, keys: OrderedKeys)? {
    for index in store.indexes.values(of: table.number) {
      guard let use = IndexUse(index, lookups, isComplete: isComplete), use.isExact,
        let walk = IndexWalk(use, ordering, behind: position, of: table), isWanted(walk),
        let keys = try index.keys(as: view, in: store)
      else { continue }
      return (walk, keys)
    }
    return nil
  }

  /// The index in whose order the first rows of a sort are met soonest.
  ///
  /// - Parameters:
  ///   - ordering: The sort.
  ///   - position: The place in the sort behind which the rows are wanted, if it is not the beginning.
  /// - Returns: The walk and its index; `nil` if no index is in that order.
  /// - Throws: What making an index throws.
  func ordered(
    by ordering: RowOrdering,
    behind position: PagePosition?
  ) throws -> (walk: IndexWalk, found: Found)? {
    var best: (walk: IndexWalk, found: Found)?
    for index in store.indexes.values(of: table.number) {
      guard let use = IndexUse(index, lookups, isComplete: isComplete),
        let walk = IndexWalk(use, ordering, behind: position, of: table),
        let keys = try index.keys(as: view, in: store)
      else { continue }
      let found = Found(use: use, keys: keys, count: try use.count(in: keys))
      if let best, !walk.isBetter(found, than: best.walk, best.found) { continue }
      best = (walk, found)
    }
    return best
  }
}

extension IndexWalk {
  /// Whether a walk meets fewer rows needlessly than another.
  fileprivate func isBetter(
    _ found: TableIndexes.Found,
    than other: IndexWalk,
    _ others: TableIndexes.Found
  ) -> Bool {
    if use.isExact != other.use.isExact { return use.isExact }
    if found.count != others.count { return found.count < others.count }
    return isComplete && !other.isComplete
  }
}
