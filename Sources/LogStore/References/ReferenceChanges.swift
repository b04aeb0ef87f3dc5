import LogEngine
import ModelRuntime
import RowFormat

/// One save's changes to references: those it writes, and the rows it ends that others may refer to.
///
/// Only to-one relationships with an inverse count.
struct ReferenceChanges {
  /// The references the save writes, as rows are changed.
  private(set) var written: [DanglingReferences.Reference] = []
  /// The rows the save deletes that others can refer to.
  private(set) var deleted: [RowReference] = []
  /// References the save makes nil.
  private var cleared: [Origin] = []
  /// All rows the save deletes that can refer to others.
  private var gone: [RowReference] = []
  /// The rows the save inserts, as runs of keys: keys are given out in order.
  private var inserted: [(table: UInt16, keys: Range<UInt64>)] = []

  /// The place of a reference.
  struct Origin: Comparable {
    let row: RowReference
    let column: Int

    static func < (lhs: Origin, rhs: Origin) -> Bool {
      lhs.row != rhs.row ? lhs.row < rhs.row : lhs.column < rhs.column
    }
  }

  var isEmpty: Bool { written.isEmpty && deleted.isEmpty }

  mutating func removeAll() {
    written.removeAll(keepingCapacity: true)
    deleted.removeAll(keepingCapacity: true)
    cleared.removeAll(keepingCapacity: true)
    gone.removeAll(keepingCapacity: true)
    inserted.removeAll(keepingCapacity: true)
  }

  mutating func recordInsertion(of row: RowReference) {
    if let last = inserted.indices.last, inserted[last].table == row.table,
      inserted[last].keys.upperBound == row.key
    {
      inserted[last].keys = inserted[last].keys.lowerBound..<(row.key + 1)
    } else {
      inserted.append((row.table, row.key..<(row.key + 1)))
    }
  }

  /// Notes the target of a column of a row after the save.
  mutating func record(_ row: RowReference, _ column: Int, _ target: RowReference?) {
    if let target {
      written.append(.init(row: row, column: column, target: target))
    } else {
      cleared.append(Origin(row: row, column: column))
    }
  }

  mutating func recordDeletion(of row: RowReference, canBeReferredTo: Bool, canRefer: Bool) {
    if canBeReferredTo { deleted.append(row) }
    if canRefer { gone.append(row) }
  }

  /// The rows the save refers to, each once.
  var targets: Set<RowReference> {
    var targets: Set<RowReference> = []
    var last = RowReference.none
    for reference in written where reference.target != last {
      last = reference.target
      targets.insert(last)
    }
    return targets
  }

  /// Finds the references that would lead nowhere after the save.
  ///
  /// - Parameter store: The store, in which no other save under way deletes what this one refers to, or refers to
  ///   what this one deletes: see ``ReferenceClaims``.
  /// - Returns: `nil` if all is well.
  /// - Throws: What reading throws.
  func findDangling(in store: TableStore) throws -> DanglingReferences? {
    let toMissing = try missingTargets(in: store)
    let toDeleted = deleted.isEmpty ? [] : try referringToDeleted(in: store)
    if toMissing.isEmpty && toDeleted.isEmpty { return nil }
    return DanglingReferences(toDeletedRows: toDeleted, toMissingRows: toMissing)
  }

  private func missingTargets(
    in store: TableStore
  ) throws -> [DanglingReferences.Reference] {
    let inserted = inserted.sorted {
      ($0.table, $0.keys.lowerBound) < ($1.table, $1.keys.lowerBound)
    }
    let deleted = Set(deleted)
    var missing: [DanglingReferences.Reference] = []
    var last = (target: RowReference.none, exists: true)
    for reference in written {
      if reference.target != last.target {
        let exists =
          try !deleted.contains(reference.target)
          && (store.engine.contains(reference.target) || inserted.contain(reference.target))
        last = (reference.target, exists)
      }
      if last.exists { continue }
      // A row that is gone itself is for the commit to refuse.
      if try inserted.contain(reference.row) || store.engine.contains(reference.row) {
        missing.append(reference)
      }
    }
    return missing
  }

  /// The references to deleted rows that the save leaves, by the place of the deleted row.
  private func referringToDeleted(
    in store: TableStore
  ) throws -> [DanglingReferences.Reference] {
    // In order, as they mostly come: then sorting takes a look at each, and hashing would take ten times that.
    var settled: [Origin]?
    var isGone: [RowReference]?
    var dangling: [(place: Int, reference: DanglingReferences.Reference)] = []
    var start = 0
    while start < deleted.count {
      let table = deleted[start].table
      let end = deleted[start...].firstIndex { $0.table != table } ?? deleted.count
      for name in store.referrers(of: table) {
        try store.forEachReference(to: deleted[start..<end], inTable: name.table, name.column) {
          place,
          row in
          let gone = isGone ?? self.gone.sorted()
          isGone = gone
          if gone.containsInOrder(row) { return }
          let mended =
            settled ?? (written.map { Origin(row: $0.row, column: $0.column) } + cleared).sorted()
          settled = mended
          if mended.containsInOrder(Origin(row: row, column: name.column)) { return }
          let target = deleted[place]
          dangling.append((place, .init(row: row, column: name.column, target: target)))
        }
      }
      start = end
    }
    // Most often there are none.
    if dangling.isEmpty { return [] }
    return dangling.enumerated()
      .sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
      .map(\.element.reference)
  }
}

extension Array where Element: Comparable {
  /// Whether an element is in an array that ascends.
  fileprivate func containsInOrder(_ element: Element) -> Bool {
    let place = partitionPoint { $0 < element }
    return place < count && self[place] == element
  }
}

extension [(table: UInt16, keys: Range<UInt64>)] {
  /// Whether a row is in one of the runs, which are in order.
  fileprivate func contain(_ row: RowReference) -> Bool {
    let end = partitionPoint { ($0.table, $0.keys.lowerBound) <= (row.table, row.key) }
    return end > 0 && self[end - 1].table == row.table && self[end - 1].keys.contains(row.key)
  }
}
