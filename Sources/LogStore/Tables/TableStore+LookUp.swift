import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints

// A fetch of a few rows by values that have an index, without weighing other paths against it: the most frequent fetch of
// a loop that looks for each model before it makes it. Planning costs several times as much as the look-up.

extension TableStore {
  /// Number of candidates up to which no better path is looked for.
  private static let fewCandidates = 64

  /// The rows that a predicate matches, in the order of their keys, if an index of the values it names leads to few.
  ///
  /// - Parameters:
  ///   - expression: The predicate.
  ///   - type: The class of the rows.
  ///   - limit: The number of rows that are wanted.
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
      let view = makeReadView()
      guard let keys = try candidates(lookups, in: table, as: view) else { return nil }
      SchedulePoint.duringFetch.reach()
      return try rows(at: keys, of: table, matching: expression, atMost: limit, as: view)
    }
  }

  /// The rows that have a value in an attribute, in the order of their keys, if an index of it leads to few.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - lookUp: The attribute.
  ///   - limit: The number of rows that are wanted.
  /// - Returns: `nil` if the fetch has to be planned.
  /// - Throws: What reading throws: the index may be made.
  func lookUp(
    _ value: QueryValue,
    of lookUp: AttributeLookUp,
    atMost limit: Int
  ) throws -> [FetchedRow]? {
    let tables = tables(of: lookUp.type)
    guard tables.count == 1 else { return nil }
    let table = tables[0]
    let column = IndexColumn(
      number: lookUp.reading.column,
      kind: lookUp.reading.kind,
      isOptional: lookUp.reading.isOptional,
      texts: textHash
    )
    return try perform(.fetching) {
      let rowCount = self.rowCount(of: table.number)
      guard rowCount > TableIndexes.unindexedRowLimit else {
        let view = makeReadView()
        // It may have grown meanwhile.
        guard view.rowCount(of: table.number) <= TableStore.fewCandidates else { return nil }
        SchedulePoint.duringFetch.reach()
        let test = lookUp.expression(for: value)
        return try rows(at: nil, of: table, matching: test, atMost: limit, as: view)
      }
      guard let words = column.words(of: value),
        let index = indexes.values(of: table.number).first(where: { $0.begins(with: column) })
      else { return nil }
      let newest = newestCommit
      var keys: [UInt64]?
      if allowsSave, pinnedView == nil {
        keys = try newestKeys(of: index, from: words, column.wordCount)
        // A missing row needs no view to be read in: half of the look-ups find none if models are looked for that
        // may have to be made.
        if let keys, keys.isEmpty { return [] }
      }
      let view = makeReadView()
      if keys == nil || view.sequence.rawValue != newest {
        keys = try self.keys(of: index, from: words, column.wordCount, as: view)
      }
      guard let keys else { return nil }
      SchedulePoint.duringFetch.reach()
      if keys.isEmpty { return [] }
      let test = lookUp.expression(for: value)
      return try rows(at: keys, of: table, matching: test, atMost: limit, as: view)
    }
  }

  /// The rows that match, of some or of all.
  private func rows(
    at keys: [UInt64]?,
    of table: EntityTable,
    matching expression: QueryExpression,
    atMost limit: Int,
    as view: ReadView
  ) throws -> [FetchedRow] {
    var builder = FetchedRowBuilder()
    if keys?.isEmpty == true { return builder.rows }
    let resolver = StoreResolver(self, as: view)
    let filter = RowFilter(expression, descriptor: table.descriptor, resolver: resolver)
    func take(_ key: UInt64, _ layout: LayoutNumber, _ row: RawSpan) throws -> ScanControl {
      let reference = RowReference(table: table.number, key: key)
      return try table.withCurrentRow(row, layout: layout, key: key) { row in
        guard try filter.matches(row, reference) else { return .proceed }
        builder.append(reference, row: row)
        return builder.rows.count < limit ? .proceed : .stop
      }
    }
    if let keys {
      try view.scan(table.number, keys: keys, take)
    } else {
      try view.scan(table.number, take)
    }
    return builder.rows
  }

  /// The keys of the rows that can match, ascending, by the index that knows most of the values.
  private func candidates(
    _ lookups: [ValueLookup],
    in table: EntityTable,
    as view: ReadView
  ) throws -> [UInt64]? {
    let rowCount = view.rowCount(of: table.number)
    if rowCount == 0 { return [] }
    guard rowCount > TableIndexes.unindexedRowLimit else { return nil }
    var best: (index: LazyIndex, prefix: (key: IndexKey, wordCount: Int))?
    for index in indexes.values(of: table.number) {
      guard let prefix = index.prefix(of: lookups, in: table),
        prefix.wordCount > best?.prefix.wordCount ?? 0
      else { continue }
      best = (index, prefix)
    }
    guard let (index, prefix) = best else { return nil }
    return try keys(of: index, from: prefix.key, prefix.wordCount, as: view)
  }

  /// The keys of the rows whose entries begin with some words, ascending, if there are few.
  private func keys(
    of index: LazyIndex,
    from words: IndexKey,
    _ wordCount: Int,
    as view: ReadView
  ) throws -> [UInt64]? {
    guard let keys = try index.keys(as: view, in: self) else { return nil }
    return try TableStore.keys(in: keys, from: words, wordCount)
  }

  /// The same as of the newest commit.
  private func newestKeys(
    of index: LazyIndex,
    from words: IndexKey,
    _ wordCount: Int
  ) throws -> [UInt64]? {
    try index.withNewest(in: self) { content in
      guard case .ordered(let keys) = content else {
        preconditionFailure("an index of values has no order")
      }
      return try TableStore.keys(in: keys, from: words, wordCount)
    }
  }

  private static func keys(
    in keys: OrderedKeys,
    from words: IndexKey,
    _ wordCount: Int
  ) throws -> [UInt64]? {
    var found: [UInt64] = []
    let start = IndexEntry.start(of: words, wordCount)
    try keys.forEach(in: start...IndexEntry.end(of: words, wordCount)) {
      found.append($0.row.key)
      return found.count <= TableStore.fewCandidates
    }
    guard found.count <= TableStore.fewCandidates else { return nil }
    if found.count > 1 { found.sort() }
    return found
  }
}

extension LazyIndex {
  /// Whether the entries are in the order of a column, above all.
  fileprivate func begins(with column: IndexColumn) -> Bool {
    guard case .values(_, let columns) = definition else { return false }
    return columns.first == column
  }

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
      // For a class that the predicate does not speak of, columns have other meanings.
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
