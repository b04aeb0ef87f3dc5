import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints

// A fetch of a few rows by values that have an index, without weighing other paths against it: what a loop that looks
// for each model before it makes it does most. Planning costs several times what the look-up does.

extension TableStore {
  /// Up to how many candidates are worth no thought about a better path.
  private static let fewCandidates = 64

  /// The rows that a predicate matches, in the order of their keys, if an index of the values it names leads to few.
  ///
  /// - Parameters:
  ///   - expression: The predicate.
  ///   - type: The class of the rows.
  ///   - limit: How many are wanted.
  /// - Returns: `nil` if the fetch has to be planned.
  /// - Throws: What reading throws: the index may be made.
  func lookUp(
    _ expression: QueryExpression,
    of type: ModelDescriptor,
    atMost limit: Int
  ) throws -> [FetchedRow]? {
    let tables = tables(of: type)
    guard tables.count == 1, case .values(let lookups, _) = CandidatePlan(expression, textHash)
    else {
      return nil
    }
    let table = tables[0]
    return try perform(.fetching) {
      let view = engine.makeReadView()
      guard let keys = try candidates(lookups, in: table, as: view) else { return nil }
      SchedulePoint.duringFetch.reach()
      var builder = FetchedRowBuilder()
      if keys.isEmpty { return builder.rows }
      let resolver = StoreResolver(self, as: view)
      let filter = RowFilter(expression, descriptor: table.descriptor, resolver: resolver)
      try view.scan(table.number, keys: keys) { key, layout, row in
        let reference = RowReference(table: table.number, key: key)
        return try table.withCurrentRow(row, layout: layout, key: key) { row in
          guard try filter.matches(row, reference) else { return .proceed }
          builder.append(reference, row: row)
          return builder.rows.count < limit ? .proceed : .stop
        }
      }
      return builder.rows
    }
  }

  /// The keys of the rows that can match, ascending, by the index that knows most of the values.
  private func candidates(
    _ lookups: [ValueLookup],
    in table: EntityTable,
    as view: ReadView
  ) throws -> [UInt64]? {
    let rowCount = view.rowCount(of: table.number)
    if rowCount == 0 { return [] }
    guard rowCount > TableIndexes.smallTable else { return nil }
    var best: (index: LazyIndex, prefix: (key: IndexKey, wordCount: Int))?
    for index in indexes.values(of: table.number) {
      guard let prefix = index.prefix(of: lookups, in: table),
        prefix.wordCount > best?.prefix.wordCount ?? 0
      else { continue }
      best = (index, prefix)
    }
    guard let (index, prefix) = best, let keys = try index.keys(as: view, in: self) else {
      return nil
    }
    var found: [UInt64] = []
    let start = IndexEntry.start(of: prefix.key, prefix.wordCount)
    try keys.forEach(in: start...IndexEntry.end(of: prefix.key, prefix.wordCount)) {
      found.append($0.row.key)
      return found.count <= TableStore.fewCandidates
    }
    guard found.count <= TableStore.fewCandidates else { return nil }
    if found.count > 1 { found.sort() }
    return found
  }
}

extension LazyIndex {
  /// The first words of the rows that can match, as far as a predicate names one value for each column.
  ///
  /// - Returns: `nil` if it names none for the first column.
  fileprivate func prefix(
    of lookups: [ValueLookup],
    in table: EntityTable
  ) -> (key: IndexKey, wordCount: Int)? {
    guard case .values(_, let columns) = definition else { return nil }
    var key = IndexKey()
    var word = 0
    for column in columns {
      // Of a class the predicate does not speak of, columns have other meanings.
      let lookup = lookups.first {
        $0.column == column && $0.isPoint && table.descriptor.isKind(of: $0.owner)
      }
      guard let lookup else { break }
      let value = lookup.intervals[0].lowerBound
      for offset in 0..<column.wordCount { key[word + offset] = value[offset] }
      word += column.wordCount
    }
    return word == 0 ? nil : (key, word)
  }
}

extension ValueLookup {
  /// Whether a single value will do.
  fileprivate var isPoint: Bool {
    intervals.count == 1 && intervals[0].lowerBound == intervals[0].upperBound
  }
}
