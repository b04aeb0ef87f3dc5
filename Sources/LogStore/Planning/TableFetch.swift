import Foundation
import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints

/// The rows of one table that a fetch asks for, and the access path to them.
///
/// Rows come in the order of their keys. Whatever the path, they are those of one view: an index names candidates
/// as of that view, and rows, columns and what a predicate asks of other rows are read through it.
struct TableFetch {
  let store: TableStore
  let table: EntityTable
  let view: ReadView
  private let test: LateFilter?
  private let path: AccessPath
  /// The first key that can match, of a page in the order of the keys; `nil` if none can.
  private let firstKey: UInt64?
  /// Rows that are left out where rows are visited; counting tells whether it leaves them out.
  private let excluded: ExcludedRows.Keys?
  /// Counts what is read, if a plan was requested.
  let tally: TableTally?

  /// The output that a fetch wants of the rows that match.
  enum Output {
    case rows
    /// Their names, for which nothing has to be read.
    case names
    /// Their number.
    case count
    /// The first ones of a sort.
    case first(FirstRows)
    /// Those in a window of a sort; no other table has any.
    case page(FirstRows, FetchWindow)
  }

  /// Finds the access path.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - table: One of its tables.
  ///   - expression: The predicate, if there is one.
  ///   - plan: The candidates that the predicate names, or that indexes can find.
  ///   - output: The result that is wanted of the rows.
  ///   - limit: The number of matching rows that are wanted, in the order of their keys; `nil` for all.
  ///   - excluded: Rows that are left out.
  ///   - start: A place in the order up to which all rows that match are left out.
  ///   - resolver: Answers about other rows, as of the fetch's view.
  /// - Throws: What reading throws: an index may be made, or the first rows be found.
  init(
    _ store: TableStore,
    _ table: EntityTable,
    _ expression: QueryExpression?,
    _ plan: CandidatePlan,
    for output: Output,
    limit: Int? = nil,
    excluding excluded: ExcludedRows.Keys? = nil,
    behind start: PagePosition? = nil,
    _ resolver: StoreResolver
  ) throws {
    self.store = store
    self.table = table
    view = resolver.view
    let test = expression.map { LateFilter($0, table, resolver) }
    self.test = test
    let excluded = excluded.flatMap { $0.isEmpty ? nil : $0 }
    self.excluded = excluded
    firstKey = [expression?.pagePosition, start].compactMap(\.self).firstKey(in: table)
    tally =
      resolver.trace == nil
      ? nil : TableTally(table, rowCount: resolver.view.rowCount(of: table.number))
    let finder = AccessPathFinder(
      store: store,
      table: table,
      view: resolver.view,
      resolver: resolver,
      expression: expression,
      test: test,
      plan: plan,
      output: output,
      limit: limit,
      excluded: excluded,
      start: start,
      tally: tally
    )
    path = try finder.find()
  }

  /// Number of rows of the table.
  private var rowCount: Int { view.rowCount(of: table.number) }

  /// Number of rows that are looked at to find those that match.
  var candidateCount: Int {
    switch path {
    case .keys(let keys), .matches(let keys), .page(let keys): keys.count
    case .count: 0
    case .columns, .rows: rowCount
    }
  }

  /// Whether the rows that can match are known by name, so that no table has to be gone through.
  var namesRows: Bool {
    switch path {
    case .keys, .matches, .page: true
    case .count, .columns, .rows: false
    }
  }

  /// The rows in order, if the fetch was for a page and an index could tell.
  var page: [UInt64]? {
    if case .page(let keys) = path { keys } else { nil }
  }
}

extension [PagePosition] {
  /// The first key of a table that can be behind all of the positions; `nil` if none can.
  fileprivate func firstKey(in table: EntityTable) -> UInt64? {
    var greatest: UInt64 = 0
    for position in self {
      guard let key = position.firstKey(in: table) else { return nil }
      greatest = Swift.max(greatest, key)
    }
    return greatest
  }
}

extension PagePosition {
  /// The first key of a table that can be behind the position, if there are no sort keys; `nil` if none can.
  fileprivate func firstKey(in table: EntityTable) -> UInt64? {
    guard values.isEmpty, tieOrder == .forward else { return 0 }
    switch tie {
    case .row(let row):
      if row.table == table.number { return row.key + 1 }
      return row.table < table.number ? 0 : nil
    case .unsaved: return nil
    case .identifier: return 0
    }
  }
}

// MARK: Rows

extension TableFetch {
  /// Visits the rows that match.
  ///
  /// - Parameters:
  ///   - columns: The columns that `body` looks at: the values of others may be null. `nil` for all.
  ///   - body: Called with each row, in its class's current layout.
  /// - Returns: Whether `body` wants to see rows of other tables.
  /// - Throws: What reading throws, or `body`.
  func visit(
    reading columns: ColumnSet? = nil,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    SchedulePoint.duringFetch.reach()
    let numbers = columns.flatMap(table.numbers(of:))
    switch path {
    case .matches(let keys): return try visitMatches(withoutExcluded(keys), columns: numbers, body)
    case .page(let keys): return try visitMatches(keys.sorted(), columns: numbers, body)
    case .keys(let keys):
      let keys = withoutExcluded(keys)
      if let columns, let numbers = test?.columns(besides: columns) {
        return try visitCandidates(keys, columns: numbers, body)
      }
      return try visitNamed(keys, body)
    case .rows, .count: return try visitCandidates(nil, body)
    case .columns(let plan): return try visitRanges(plan, body)
    }
  }

  /// Visits the rows that match but for the first ones, which are not read where their names or columns alone tell that they match.
  ///
  /// - Parameters:
  ///   - skipCount: The number of rows to skip; on return, the number that is left to skip in other tables.
  ///   - columns: As in ``visit(reading:_:)``.
  ///   - body: As in ``visit(reading:_:)``.
  /// - Returns: As ``visit(reading:_:)``.
  /// - Throws: As ``visit(reading:_:)``.
  func visit(
    skipping skipCount: inout Int,
    reading columns: ColumnSet? = nil,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    if skipCount == 0 { return try visit(reading: columns, body) }
    switch path {
    case .matches(let keys):
      SchedulePoint.duringFetch.reach()
      return try visitMatches(skip(&skipCount, of: withoutExcluded(keys)), body)
    case .columns(let plan) where plan.isExact:
      return try visitRanges(plan, skipping: &skipCount, body)
    case .rows where test == nil: return try visitAll(skipping: &skipCount, body)
    case .keys, .page, .count, .columns, .rows:
      var rest = skipCount
      defer { skipCount = rest }
      return try visit(reading: columns) {
        if rest == 0 { return try body($0, $1) }
        rest -= 1
        return .proceed
      }
    }
  }

  /// Drops the first of some rows that match.
  private func skip(_ count: inout Int, of keys: [UInt64]) -> [UInt64] {
    if count == 0 { return keys }
    let skipped = min(count, keys.count)
    count -= skipped
    tally?.match(skipped)
    return Array(keys[skipped...])
  }

  private func withoutExcluded(_ keys: [UInt64]) -> [UInt64] {
    guard let excluded else { return keys }
    return keys.filter { !excluded.contains($0) }
  }

  /// Visits rows that are known to match; their keys ascend.
  private func visitMatches(
    _ keys: [UInt64],
    columns: [UInt16]? = nil,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    // Set at the end only: a captured variable that changed with each row would be checked with each row.
    var isStopped = false
    let (table, tally) = (table, tally)
    try view.scan(table.number, keys: keys, columns: columns) { key, layout, row in
      let control = try table.visit(key, layout, row, tally, body)
      if control == .stop { isStopped = true }
      return control
    }
    return isStopped ? .stop : .proceed
  }

  /// Visits those of some rows that match; their keys ascend.
  ///
  /// A packed row costs several times as much as the columns that the test looks at: so rows are tested first, as long as fewer
  /// than half of them match.
  private func visitNamed(
    _ keys: [UInt64],
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    guard keys.count > ScanMethod.fewRows, view.mayHavePackedRows, let firstKey,
      let test, let columns = test.columns, columns.count <= table.columnNumbers.count / 2
    else { return try visitCandidates(keys, body) }
    var rest = keys.drop { $0 < firstKey }
    var count = Self.firstTestedCount
    while !rest.isEmpty {
      let tested = Array(rest.prefix(count))
      let matches = try test.matches(among: tested, in: view, tally)
      if try visitMatches(matches, body) == .stop { return .stop }
      rest = rest.dropFirst(tested.count)
      if matches.count > tested.count / 2 { return try visitCandidates(Array(rest), body) }
      count = min(2 * count, Self.mostTestedCount)
    }
    return .proceed
  }

  /// The number of rows that are tested first, and at most, before those that match are read: fewer may be wanted.
  private static let firstTestedCount = 8
  private static let mostTestedCount = 512

  /// Visits those of some rows that match.
  ///
  /// - Parameters:
  ///   - keys: The keys of the rows, ascending; `nil` for all rows.
  ///   - start: The first key to visit, if that is known.
  ///   - columns: The columns that the test and `body` look at; `nil` for all.
  ///   - body: As in ``visit(reading:_:)``.
  /// - Returns: As ``visit(reading:_:)``.
  /// - Throws: As ``visit(reading:_:)``.
  private func visitCandidates(
    _ keys: [UInt64]?,
    from start: UInt64? = nil,
    columns: [UInt16]? = nil,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    // Without sort keys, the rows before a page's place are known by their own.
    guard let firstKey = start ?? firstKey else { return .proceed }
    var isStopped = false
    let visitor = RowVisitor(self)
    func test(_ key: UInt64, _ layout: LayoutNumber, _ row: RawSpan) throws -> ScanControl {
      let control = try visitor.visitIfMatching(key, layout, row, body) ?? .proceed
      if control == .stop { isStopped = true }
      return control
    }
    if let keys {
      let keys = firstKey == 0 ? keys : keys.filter { $0 >= firstKey }
      try view.scan(table.number, keys: keys, columns: columns, test)
    } else {
      try view.scan(table.number, in: firstKey == 0 ? nil : firstKey ..< .max, test)
    }
    return isStopped ? .stop : .proceed
  }

  /// Tests single rows, and passes on those that match, in the current layout.
  ///
  /// An object, since a scan's closure that captured the fetch, or a value with its filter, would copy it for each row.
  private final class RowVisitor {
    let table: EntityTable
    let filter: RowFilter?
    let excluded: ExcludedRows.Keys?
    let tally: TableTally?

    init(_ fetch: TableFetch) {
      table = fetch.table
      filter = fetch.test?.filter
      excluded = fetch.excluded
      tally = fetch.tally
    }

    /// Passes a row on if it matches.
    ///
    /// - Returns: The answer of `body`; `nil` if the row does not match, or is left out.
    func visitIfMatching(
      _ key: UInt64,
      _ layout: LayoutNumber,
      _ row: RawSpan,
      _ body: (RowReference, RawSpan) throws -> ScanControl
    ) throws -> ScanControl? {
      if let excluded, excluded.contains(key) { return nil }
      let reference = RowReference(table: table.number, key: key)
      tally?.readRow(row.byteCount)
      return try table.withCurrentRow(row, layout: layout, key: key) { row in
        if let filter, try !filter.matches(row, reference) { return nil }
        tally?.match()
        return try body(reference, row)
      }
    }
  }

  /// Visits all rows but for the first ones.
  private func visitAll(
    skipping skipCount: inout Int,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    SchedulePoint.duringFetch.reach()
    guard let firstKey else { return .proceed }
    let allCount = skipCount
    if excluded == nil, firstKey == 0, skipCount >= rowCount {
      skipCount -= rowCount
      tally?.match(rowCount)
      return .proceed
    }
    let start = try view.key(of: table.number, from: firstKey, skipping: &skipCount) {
      excluded?.contains($0) ?? false
    }
    tally?.match(allCount - skipCount)
    guard let start else { return .proceed }
    return try visitCandidates(nil, from: start, body)
  }

  /// Visits the rows that match, one range of keys after the other, but for the first ones.
  private func visitRanges(
    _ plan: ColumnPlan,
    skipping skipCount: inout Int,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    SchedulePoint.duringFetch.reach()
    assert(plan.isExact, "rows are skipped that may not match")
    let end = store.engine.nextKey(in: table.number)
    // The keys are named in the last of these ranges, and otherwise only counted.
    var ranges = KeyRanges(from: firstKey, end: end, upTo: 1 << 13)
    var next: UInt64?
    while skipCount > 0, let keys = ranges.next() {
      next = keys.upperBound
      if excluded == nil {
        let count = try plan.count(of: table, in: keys, of: view, tally?.columns)
        if count <= skipCount {
          skipCount -= count
          tally?.match(count)
          continue
        }
      }
      var matches: [UInt64] = []
      _ = try plan.appendKeys(of: table, in: keys, of: view, tally?.columns, to: &matches)
      matches = skip(&skipCount, of: withoutExcluded(matches))
      if !matches.isEmpty, try visitMatches(matches, body) == .stop { return .stop }
    }
    guard let next, next < .max else { return .proceed }
    return try visit(KeyRanges(from: next, end: end), plan, body)
  }

  private func visitRanges(
    _ plan: ColumnPlan,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl { try visit(keyRanges, plan, body) }

  /// Ranges of the keys that can match.
  private var keyRanges: KeyRanges {
    KeyRanges(from: firstKey, end: store.engine.nextKey(in: table.number))
  }

  /// Visits the rows that match in ranges of keys, one after the other.
  private func visit(
    _ ranges: KeyRanges,
    _ plan: ColumnPlan,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    var ranges = ranges
    let visitor = RowVisitor(self)
    let isExact = plan.isExact
    // The first range is short: a fetch that wants one row may find it there.
    var method = ScanMethod.rows
    while let keys = ranges.next() {
      var control = ScanControl.proceed
      var rowCount = 0
      var matchCount = 0
      func take(_ found: ScanControl?) -> ScanControl {
        if let found { (control, matchCount) = (found, matchCount + 1) }
        return control
      }
      switch method {
      case .rows:
        try view.scan(table.number, in: keys) { key, layout, row in
          rowCount += 1
          return take(try visitor.visitIfMatching(key, layout, row, body))
        }
      case .columns:
        var matches: [UInt64] = []
        rowCount = try plan.appendKeys(of: table, in: keys, of: view, tally?.columns, to: &matches)
        try view.scan(table.number, keys: withoutExcluded(matches)) { key, layout, row in
          take(
            isExact
              ? try table.visit(key, layout, row, tally, body)
              : try visitor.visitIfMatching(key, layout, row, body)
          )
        }
      }
      if control == .stop { return .stop }
      if rowCount > 0 { method = ScanMethod.next(after: matchCount, of: rowCount) }
    }
    return .proceed
  }
}

extension EntityTable {
  /// Passes on a row that is known to match, in the current layout.
  @inline(__always)
  fileprivate func visit(
    _ key: UInt64,
    _ layout: LayoutNumber,
    _ row: RawSpan,
    _ tally: TableTally?,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    if let tally {
      tally.readRow(row.byteCount)
      tally.match()
    }
    return try withCurrentRow(row, layout: layout, key: key) {
      try body(RowReference(table: number, key: key), $0)
    }
  }
}

// MARK: Names

extension TableFetch {
  /// Number of rows that match.
  func count() throws -> Int {
    switch path {
    case .count(let count, _):
      tally?.match(count)
      return count
    case .matches(let keys), .page(let keys):
      tally?.match(keys.count)
      return keys.count
    case .columns(let plan) where plan.isExact:
      let count = try plan.count(of: table, of: view, tally?.columns)
      tally?.match(count)
      return count
    case .keys, .columns, .rows:
      var count = 0
      _ = try visit(reading: ColumnSet()) { _, _ in
        count += 1
        return .proceed
      }
      return count
    }
  }

  /// Number of rows that match, without those that are left out; `nil` if they have not been told apart.
  func countWithoutExcluded() throws -> Int? {
    switch path {
    case .count(_, excluded: nil): return nil
    case .count(let count, let excludedCount?):
      tally?.match(count)
      return count - excludedCount
    case .columns(let plan) where plan.isExact: return excluded == nil ? try count() : nil
    case .matches(let keys), .page(let keys):
      let count = withoutExcluded(keys).count
      tally?.match(count)
      return count
    // Excluded rows are not visited.
    case .keys, .columns, .rows: return try count()
    }
  }

  /// The columns that alone tell which of all rows match, if that is how they are found.
  var exactColumns: ColumnPlan? {
    guard case .columns(let plan) = path, plan.isExact, firstKey == 0 else { return nil }
    return plan
  }

  /// Visits the names of the rows that match.
  ///
  /// - Parameter body: Called with each name.
  /// - Returns: Whether `body` wants to see names of other tables.
  /// - Throws: What reading throws, or `body`.
  func visitNames(_ body: (RowReference) throws -> ScanControl) throws -> ScanControl {
    switch path {
    case .matches(let keys):
      tally?.match(keys.count)
      for key in keys {
        if try body(RowReference(table: table.number, key: key)) == .stop { return .stop }
      }
      return .proceed
    case .columns(let plan) where plan.isExact: return try visitNames(plan, body)
    case .keys, .page, .count, .columns, .rows:
      // No more is read than the test looks at.
      return try visit(reading: ColumnSet()) { name, _ in try body(name) }
    }
  }

  private func visitNames(
    _ plan: ColumnPlan,
    _ body: (RowReference) throws -> ScanControl
  ) throws -> ScanControl {
    var ranges = keyRanges
    var matches: [UInt64] = []
    while let keys = ranges.next() {
      matches.removeAll(keepingCapacity: true)
      _ = try plan.appendKeys(of: table, in: keys, of: view, tally?.columns, to: &matches)
      tally?.match(matches.count)
      for key in matches {
        if try body(RowReference(table: table.number, key: key)) == .stop { return .stop }
      }
    }
    return .proceed
  }
}
