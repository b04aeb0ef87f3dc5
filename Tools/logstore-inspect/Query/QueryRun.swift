import LogEngine
import RowFormat
import Terminal

/// Answers a question, row by row.
struct QueryRun {
  private let query: RowQuery
  private let store: InspectedStore
  private var reader: ColumnReader
  /// The number of rows that were read, and of their bytes.
  private(set) var readRowCount = 0
  private(set) var readByteCount = 0
  /// Number of rows that matched.
  private(set) var matchCount = 0
  /// Whether all rows were counted without reading one.
  private(set) var wasCounted = false
  /// Number of groups; `nil` if rows themselves are shown.
  private(set) var groupCount: Int?

  init(_ query: RowQuery, in store: InspectedStore) {
    self.query = query
    self.store = store
    reader = query.reader
  }

  /// Hands over the rows of the result.
  ///
  /// - Parameters:
  ///   - limit: The number of bytes that are kept of a binary value.
  ///   - body: Called with the key of the row, 0 for a group, and the values of the columns.
  /// - Throws: ``ToolError``, or what `body` throws.
  mutating func run(
    limit: Int = CellValue.prefixByteCount,
    _ body: (UInt64, [CellValue]) throws -> Void
  ) throws {
    if let groups = query.groups { return try runGrouped(groups, body) }
    if query.sort.isEmpty { return try runPlain(limit, body) }
    try runSorted(limit, body)
  }

  /// Counts the rows that match.
  mutating func count() throws -> Int {
    if query.condition == nil {
      wasCounted = true
      matchCount = store.view.rowCount(of: query.table.number)
      return matchCount
    }
    try forEachMatch { _, _, _, _ in .proceed }
    return matchCount
  }

  /// Visits the rows that match, in the order of their keys, whatever the question says of order and number.
  mutating func forEachRow(
    _ body: (borrowing ColumnReader, UInt64, RawSpan) throws -> Void
  ) throws {
    try forEachMatch { reader, key, _, row in
      try body(reader, key, row)
      return .proceed
    }
  }

  private mutating func forEachMatch(
    _ body: (inout ColumnReader, UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws {
    let (query, store) = (query, store)
    try store.forEachRow(of: query.table) { key, layout, row in
      readRowCount += 1
      readByteCount += row.byteCount
      guard reader.prepare(layout) else { throw store.unknownLayout(layout, query.table) }
      if let condition = query.condition {
        let reader = reader
        guard condition.matches({ reader.datum($0, key, row) }) else { return .proceed }
      }
      matchCount += 1
      return try body(&reader, key, layout, row)
    }
  }

  // MARK: Rows

  private mutating func runPlain(
    _ limit: Int,
    _ body: (UInt64, [CellValue]) throws -> Void
  ) throws {
    let query = query
    guard query.limit > 0 else { return }
    var (skipped, shown) = (0, 0)
    try forEachMatch { reader, key, layout, row in
      if skipped < query.offset {
        skipped += 1
        return .proceed
      }
      try body(
        key,
        query.outputs.map { reader.cell($0.column ?? 0, key, row, limit: limit) }
      )
      shown += 1
      return shown < query.limit ? .proceed : .stop
    }
  }

  /// A row that may be shown, and what it is sorted by.
  private struct Candidate {
    let key: UInt64
    let values: [Datum]
  }

  private mutating func runSorted(
    _ limit: Int,
    _ body: (UInt64, [CellValue]) throws -> Void
  ) throws {
    let query = query
    let (sum, overflow) = query.offset.addingReportingOverflow(query.limit)
    let end = overflow ? Int.max : sum
    guard query.limit > 0 else { return }
    func precedes(_ lhs: Candidate, _ rhs: Candidate) -> Bool {
      for (place, key) in query.sort.enumerated() {
        let (left, right) = (lhs.values[place], rhs.values[place])
        if left.precedes(right) { return !key.isDescending }
        if right.precedes(left) { return key.isDescending }
      }
      return lhs.key < rhs.key
    }
    var candidates: [Candidate] = []
    // Cut whenever there are twice as many as are wanted: memory is for the rows that are shown.
    let room = end > Int.max / 2 - 1024 ? Int.max : end * 2 + 1024
    try forEachMatch { reader, key, layout, row in
      candidates.append(
        Candidate(key: key, values: query.sort.map { reader.datum($0.number, key, row) })
      )
      if candidates.count >= room {
        candidates.sort(by: precedes)
        candidates.removeLast(candidates.count - end)
      }
      return .proceed
    }
    candidates.sort(by: precedes)
    for candidate in candidates.prefix(end).dropFirst(query.offset) {
      let reference = RowReference(table: query.table.number, key: candidate.key)
      let cells = try store.view.withRow(reference) { row, layout -> [CellValue] in
        guard reader.prepare(layout) else { throw store.unknownLayout(layout, query.table) }
        return query.outputs.map {
          reader.cell($0.column ?? 0, candidate.key, row, limit: limit)
        }
      }
      if let cells { try body(candidate.key, cells) }
    }
  }

  // MARK: Groups

  private mutating func runGrouped(
    _ groups: [Int],
    _ body: (UInt64, [CellValue]) throws -> Void
  ) throws {
    let query = query
    let fresh = query.outputs.map { output in
      FigureAccumulator(
        output.item,
        isUnsigned: output.column.map(query.reader.isUnsigned) ?? false
      )
    }
    var table: [[DatumKey]: Int] = [:]
    var keys: [[DatumKey]] = []
    var figures: [[FigureAccumulator]] = []
    // An ungrouped result has a count even if there are no rows.
    if groups.isEmpty {
      table[[]] = 0
      keys = [[]]
      figures = [fresh]
    }
    try forEachMatch { reader, key, layout, row in
      let group = groups.map { DatumKey(reader.datum($0, key, row)) }
      let place: Int
      if let known = table[group] {
        place = known
      } else {
        place = keys.count
        table[group] = place
        keys.append(group)
        figures.append(fresh)
      }
      for (number, output) in query.outputs.enumerated() where output.item.function != nil {
        let value = output.column.map { reader.datum($0, key, row) } ?? .bool(true)
        figures[place][number].add(value)
      }
      return .proceed
    }
    groupCount = keys.count
    var rows: [[Datum]] = []
    for (key, group) in zip(keys, figures) {
      var values: [Datum] = []
      for (number, output) in query.outputs.enumerated() {
        if output.item.function == nil, let place = groups.firstIndex(of: output.column ?? -1) {
          values.append(key[place].value)
        } else {
          values.append(try group[number].value())
        }
      }
      rows.append(values)
    }
    let order: [(number: Int, isDescending: Bool)] =
      query.sort.isEmpty ? query.outputs.indices.map { ($0, false) } : query.sort
    rows.sort { lhs, rhs in
      for key in order {
        if lhs[key.number].precedes(rhs[key.number]) { return !key.isDescending }
        if rhs[key.number].precedes(lhs[key.number]) { return key.isDescending }
      }
      return false
    }
    for row in rows.dropFirst(query.offset).prefix(query.limit) {
      let cells = zip(row, query.outputs).map { value, output in
        value.cell(numbers(of: output, query.reader), tableName: store.name(ofTable:))
      }
      try body(0, cells)
    }
  }

  /// The type of the numbers of an output that has values of its column; `nil` for figures that are numbers of their own.
  private func numbers(of output: RowQuery.Output, _ reader: ColumnReader) -> NumberType? {
    switch output.item.function {
    case nil, .min, .max: output.column.flatMap(reader.numbers)
    case .count, .distinct, .sum, .avg: nil
    }
  }
}

extension InspectedStore {
  /// The error for a row in a layout that is not on record.
  func unknownLayout(_ layout: LayoutNumber, _ table: TableDefinition) -> ToolError {
    ToolError(
      "a row of \(table.name) is in a layout the catalogue does not know",
      place: path,
      expected: "1 to \(table.layouts.count)",
      found: "\(layout.rawValue)",
      status: .damaged
    )
  }
}
