import Foundation
import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints

/// The test of a predicate, which is made when the first row is tested: an index may tell all.
///
/// One for a fetch, since it remembers what it found out about other rows.
private final class LateFilter {
  private let expression: QueryExpression
  private let descriptor: ModelDescriptor
  private let resolver: StoreResolver
  private(set) lazy var filter = RowFilter(expression, descriptor: descriptor, resolver: resolver)

  init(_ expression: QueryExpression, _ descriptor: ModelDescriptor, _ resolver: StoreResolver) {
    self.expression = expression
    self.descriptor = descriptor
    self.resolver = resolver
  }
}

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

  /// The access path to the rows that match.
  private enum AccessPath {
    /// Only these rows can match, ascending.
    case keys([UInt64])
    /// These rows match, ascending, and no others.
    case matches([UInt64])
    /// So many rows match, and so many of these are left out; `nil` if that was not looked at.
    case count(Int, excluded: Int?)
    /// These rows are wanted, in the order of the sort, and no others; none that is left out is among them.
    case page([UInt64])
    case columns(ColumnPlan)
    case rows
  }

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
    let test = expression.map { LateFilter($0, table.descriptor, resolver) }
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

  /// Number of rows that are looked at to find those that match.
  var candidateCount: Int {
    switch path {
    case .keys(let keys), .matches(let keys), .page(let keys): keys.count
    case .count: 0
    case .columns, .rows: view.rowCount(of: table.number)
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

// MARK: The access path

extension TableFetch {
  /// The inputs to the choice of an access path.
  private struct AccessPathFinder {
    let store: TableStore
    let table: EntityTable
    let view: ReadView
    let resolver: StoreResolver
    let expression: QueryExpression?
    let test: LateFilter?
    let plan: CandidatePlan
    let output: Output
    let limit: Int?
    let excluded: ExcludedRows.Keys?
    let start: PagePosition?
    let tally: TableTally?

    func find() throws -> AccessPath {
      if let keys = try namedKeys() {
        tally?.choose(plan, candidates: keys.count)
        return .keys(keys)
      }
      let rowCount = view.rowCount(of: table.number)
      let indexes = TableIndexes(store, table, plan, isFiltered: expression != nil, view)
      let ordered = first.flatMap { _ in orderedIndexes(indexes) }
      if let path = try directPage(ordered, rowCount) { return path }
      let narrowest = try indexes?.narrowest()
      if let narrowest, let path = try exactPath(narrowest, rowCount) { return path }
      if let narrowest, let path = try sharpPath(narrowest, indexes, ordered, rowCount) {
        return path
      }
      if let keys = try words(narrowest, rowCount) { return .keys(keys) }
      let joined = try join(rowCount)
      if let joined, let path = try path(to: joined, narrowest, rowCount) { return path }
      if let first, let path = try walk(first, ordered, narrowest, rowCount) { return path }
      if let joined, joined.count <= narrowest?.count ?? .max,
        joined.count <= ScanMethod.indexLimit(rowCount: rowCount, .nothing)
      {
        return try path(to: joined)
      }
      if let path = try memberJoin(narrowest, rowCount) { return path }
      if let narrowest, narrowest.count <= ScanMethod.indexLimit(rowCount: rowCount, .unknown) {
        return try candidates(narrowest)
      }
      if rowCount <= ScanMethod.smallTable {
        guard let narrowest, narrowest.count <= rowCount / 4 else { return .rows }
        return try candidates(narrowest)
      }
      let columns = ColumnPlan(expression, of: table, resolver)
      let answer = columns.answer(for: output)
      if let narrowest, answer != .everything,
        narrowest.count <= ScanMethod.indexLimit(rowCount: rowCount, answer)
      {
        return try candidates(narrowest)
      }
      if let first,
        let keys = try first.scan(
          table,
          columns,
          test?.filter,
          excluding: excluded,
          in: view,
          tally
        )
      {
        tally?.choose(columns, first: first, candidates: keys.count)
        return .keys(keys)
      }
      guard ScanMethod.choose(rowCount: rowCount, answer) == .columns else { return .rows }
      tally?.choose(columns)
      return .columns(columns)
    }

    /// The path to the rows that an index names.
    private func candidates(_ found: TableIndexes.Found) throws -> AccessPath {
      tally?.choose(found)
      return .keys(try found.use.rowKeys(in: found.keys))
    }

    /// The place in the order at which a walk begins.
    private var place: PagePosition? { start ?? expression?.pagePosition }

    private var first: FirstRows? {
      switch output {
      case .first(let first), .page(let first, _): first
      case .rows, .names, .count: nil
      }
    }

    /// The rows that the predicate names, or that refer to rows it names.
    private func namedKeys() throws -> [UInt64]? {
      switch plan {
      case .scan, .values, .joining: return nil
      case .rows(let identifiers):
        return identifiers.compactMap(store.reference(of:)).filter { $0.table == table.number }
          .map(\.key).sorted()
      case .referring(let property, let identifiers):
        return try identifiers.compactMap(store.reference(of:)).flatMap { target in
          try resolver.rows(
            referringTo: target,
            inTable: table.number,
            column: property.ordinal
          ).map(\.key)
        }.sorted()
      }
    }

    /// The indexes for a walk in the order of the sort.
    ///
    /// The walk to a page begins at the page's place: an index may answer all the rest that the predicate asks.
    private func orderedIndexes(_ indexes: TableIndexes?) -> TableIndexes? {
      guard expression?.pagePosition != nil, indexes != nil else { return indexes }
      let rest = expression?.withoutPagePosition
      return TableIndexes(
        store,
        table,
        CandidatePlan(rest, store.textHash),
        isFiltered: rest != nil,
        view
      )
    }

    /// The path to a page of rows that an index alone can tell, in their order.
    private func directPage(_ indexes: TableIndexes?, _ rowCount: Int) throws -> AccessPath? {
      guard case .page(let first, let window) = output, window.limit <= rowCount / 8,
        let (walk, keys) = try indexes?.direct(
          by: first.ordering,
          behind: place
        ),
        let rows = try walk.page(window, in: keys, atMost: rowCount, excluding: excluded, nil)
      else { return nil }
      tally?.choose(walk, candidates: rows.count)
      return .page(rows)
    }

    /// The path to rows that an index alone can tell.
    private func exactPath(_ found: TableIndexes.Found, _ rowCount: Int) throws -> AccessPath? {
      guard found.use.isExact else { return nil }
      switch output {
      case .count:
        tally?.choose(found)
        return .count(found.count, excluded: try excludedCount(found))
      case .names:
        // Beyond that, columns bring the names in order, and sorting them takes longer.
        guard found.count <= rowCount / 4 else { return nil }
        tally?.choose(found)
        return .matches(try found.use.rowKeys(in: found.keys))
      case .rows, .first, .page: return nil
      }
    }

    /// The number of rows of an index's ranges that are left out; `nil` if they are too many to look at.
    private func excludedCount(_ found: TableIndexes.Found) throws -> Int? {
      guard let excluded, found.count <= ScanMethod.greatestExactCount else { return nil }
      return try found.use.count(of: excluded, in: found.keys)
    }

    /// The path to the first rows of those that an index names, if nearly all of these match and so few are wanted that most
    /// need not be named.
    private func sharpPath(
      _ found: TableIndexes.Found,
      _ indexes: TableIndexes?,
      _ ordered: TableIndexes?,
      _ rowCount: Int
    ) throws -> AccessPath? {
      guard found.use.isSharp, let wanted = first?.wanted ?? limit, wanted < found.count / 16 else {
        return nil
      }
      // The number of rows, in any order, among which there are as many that match.
      let reach = wanted.multipliedFullWidth(by: rowCount)
      let isNear = reach.high == 0 && reach.low / UInt(found.count) <= 1024
      guard let first else {
        guard isNear, let keys = try firstMatches(wanted, rowCount) else { return nil }
        return .matches(keys)
      }
      if !isNear {
        let ordered = try indexes?.ordered(by: first.ordering, behind: nil)
        guard let ordered, ordered.found.count <= found.count else { return nil }
      }
      return try walk(first, ordered, found, rowCount)
    }

    /// The rows whose texts have the words that the predicate looks for.
    ///
    /// - Parameters:
    ///   - narrowest: The rows that the best index of values names.
    ///   - rowCount: The number of rows.
    /// - Returns: `nil` if these are not the fewest, or not few.
    /// - Throws: What making the index throws.
    private func words(_ narrowest: TableIndexes.Found?, _ rowCount: Int) throws -> [UInt64]? {
      guard rowCount > ScanMethod.smallTable, !store.indexes.words.isEmpty,
        let plan = expression.flatMap(WordPlan.init)
      else { return nil }
      let limit = ScanMethod.indexLimit(rowCount: rowCount, .rowsToRead)
      // So few rows are looked at faster than words are looked up.
      if let narrowest, narrowest.count <= 64 { return nil }
      let keys = try plan.candidates(atMost: min(limit, narrowest?.count ?? limit)) {
        column,
        owner in
        // Of a class the predicate does not speak of, columns have other meanings.
        guard table.descriptor.isKind(of: owner) else { return nil }
        return try store.indexes.words(table.number, column)?.words(as: view, in: store)
      }
      if let keys { tally?.choose(words: plan.columns, candidates: keys.count) }
      return keys
    }

    /// The rows that refer to the rows a test of those finds.
    private struct Joined {
      let targets: [RowReference]
      let property: ModelProperty
      /// Number of rows that refer to them.
      let count: Int
      /// Whether these rows match, and no others.
      let isExact: Bool
    }

    /// Looks for the rows that the predicate's test of other rows finds, and counts those that refer to them.
    private func join(_ rowCount: Int) throws -> Joined? {
      guard case .joining(.target(let target), _, let isComplete) = plan,
        rowCount > ScanMethod.smallTable,
        // Of a class the predicate does not speak of, columns have other meanings.
        table.descriptor.properties.contains(where: { $0 === target.property }),
        let targets = try resolver.targets(
          of: target,
          atMost: ScanMethod.targetLimit(rowCount: rowCount),
          insteadOf: rowCount
        )
      else { return nil }
      let column = target.property.ordinal
      let count = try targets.reduce(0) {
        try $0 + resolver.count(referringTo: $1, inTable: table.number, column: column)
      }
      return Joined(
        targets: targets,
        property: target.property,
        count: count,
        isExact: isComplete
      )
    }

    /// The path to rows that refer to others, if they are too few to look for a better one.
    private func path(
      to joined: Joined,
      _ narrowest: TableIndexes.Found?,
      _ rowCount: Int
    ) throws -> AccessPath? {
      if joined.isExact, case .count = output {
        choose(joined)
        return .count(joined.count, excluded: nil)
      }
      guard joined.count <= narrowest?.count ?? .max,
        joined.count <= ScanMethod.indexLimit(rowCount: rowCount, .nothing)
      else { return nil }
      if let first {
        // In an order that an index has, the wanted rows may be met before all of these were read.
        let (square, overflow) = joined.count.multipliedReportingOverflow(by: joined.count)
        let (met, isEndless) = first.wanted.multipliedReportingOverflow(by: rowCount)
        guard isEndless || !overflow && square <= met else { return nil }
      }
      return try path(to: joined)
    }

    private func path(to joined: Joined) throws -> AccessPath {
      choose(joined)
      let keys = try joined.targets.flatMap { target in
        try resolver.rows(
          referringTo: target,
          inTable: table.number,
          column: joined.property.ordinal
        )
        .map(\.key)
      }.sorted()
      return joined.isExact ? .matches(keys) : .keys(keys)
    }

    /// The path to the rows in whose lists are members that pass the predicate's test of those.
    ///
    /// - Parameters:
    ///   - narrowest: The rows that the best index names.
    ///   - rowCount: The number of rows.
    /// - Returns: `nil` if reading the lists of the rows is no more work.
    /// - Throws: What reading throws.
    private func memberJoin(
      _ narrowest: TableIndexes.Found?,
      _ rowCount: Int
    ) throws -> AccessPath? {
      guard case .joining(.member(let member), _, let isComplete) = plan,
        table.descriptor.properties.contains(where: { $0 === member.property })
      else { return nil }
      let join = try MemberJoin(member, store, resolver)
      let ownerCount = min(narrowest?.count ?? rowCount, rowCount)
      guard join.cost <= ScanMethod.listCost(ownerCount, of: rowCount, join.memberCount) else {
        return nil
      }
      if let limit, join.cost > rowCount / 16, let keys = try firstMatches(limit, rowCount) {
        return .matches(keys)
      }
      let keys = try join.owners(in: table, atMost: rowCount)
      tally?.choose(.members(member.property.name), candidates: keys.count)
      if !isComplete { return .keys(keys) }
      if case .count = output { return .count(keys.count, excluded: nil) }
      return .matches(keys)
    }

    /// The first rows that match, if they are among the first of the table.
    private func firstMatches(_ limit: Int, _ rowCount: Int) throws -> [UInt64]? {
      guard limit <= rowCount / 16, let filter = test?.filter else { return nil }
      var matches: [UInt64] = []
      var budget = max(rowCount / 64, ScanMethod.smallTable)
      try view.scan(table.number, in: nil) { key, layout, row in
        if let excluded, excluded.contains(key) {
          budget -= 1
          return budget > 0 ? .proceed : .stop
        }
        tally?.readRow(row.byteCount)
        let isMatching = try table.withCurrentRow(row, layout: layout, key: key) {
          try filter.matches($0, RowReference(table: table.number, key: key))
        }
        if isMatching { matches.append(key) }
        budget -= 1
        return budget > 0 && matches.count < limit ? .proceed : .stop
      }
      return matches.count < limit ? nil : matches
    }

    private func choose(_ joined: Joined) {
      tally?.choose(.references(joined.property.name), candidates: joined.count)
    }

    private func walk(
      _ first: FirstRows,
      _ indexes: TableIndexes?,
      _ narrowest: TableIndexes.Found?,
      _ rowCount: Int
    ) throws -> AccessPath? {
      guard let indexes else { return nil }
      // So few rows are sorted faster than walked to.
      if let narrowest, narrowest.count / 2 <= first.wanted, narrowest.count <= rowCount / 4 {
        return try candidates(narrowest)
      }
      guard
        let (walk, found) = try indexes.ordered(
          by: first.ordering,
          behind: place
        )
      else { return nil }
      let test = walk.isExact ? nil : test.map { test in { try matching($0, test.filter) } }
      // A filter that lets few rows pass is dearer to satisfy in this order than in the store's.
      let budget = test == nil ? rowCount / 8 : max(rowCount / 16, 1024)
      if case .page(_, let window) = output, walk.isComplete {
        guard test != nil || window.limit <= rowCount / 8 else { return nil }
        guard
          let keys = try walk.page(
            window,
            in: found.keys,
            atMost: budget,
            excluding: excluded,
            test
          )
        else { return nil }
        tally?.choose(walk, candidates: keys.count)
        return .page(keys)
      }
      guard first.wanted < rowCount / 8,
        let keys = try walk.first(
          first.wanted,
          in: found.keys,
          atMost: budget,
          excluding: excluded,
          test
        )
      else { return nil }
      tally?.choose(walk, candidates: keys.count)
      return .keys(keys.sorted())
    }

    /// Returns the keys of the rows that match, of some rows whose keys ascend.
    private func matching(_ keys: [UInt64], _ filter: RowFilter) throws -> Set<UInt64> {
      var matching: Set<UInt64> = []
      try view.scan(table.number, keys: keys) { key, layout, row in
        tally?.readRow(row.byteCount)
        let matches = try table.withCurrentRow(row, layout: layout, key: key) {
          try filter.matches($0, RowReference(table: table.number, key: key))
        }
        if matches { matching.insert(key) }
        return .proceed
      }
      return matching
    }
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

extension ColumnPlan {
  fileprivate func answer(for output: TableFetch.Output) -> ScanMethod.ColumnAnswer {
    switch output {
    case .names, .count: if isExact { return .everything }
    case .rows, .first, .page: break
    }
    return tells ? .rowsToRead : .nothing
  }
}

// MARK: Rows

extension TableFetch {
  /// Visits the rows that match.
  ///
  /// - Parameter body: Called with each row, in its class's current layout.
  /// - Returns: Whether `body` wants to see rows of other tables.
  /// - Throws: What reading throws, or `body`.
  func visit(
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    SchedulePoint.duringFetch.reach()
    switch path {
    case .matches(let keys): return try visitMatches(withoutExcluded(keys), body)
    case .page(let keys): return try visitMatches(keys.sorted(), body)
    case .keys(let keys): return try visitCandidates(withoutExcluded(keys), body)
    case .rows, .count: return try visitCandidates(nil, body)
    case .columns(let plan): return try visitRanges(plan, body)
    }
  }

  private func withoutExcluded(_ keys: [UInt64]) -> [UInt64] {
    guard let excluded else { return keys }
    return keys.filter { !excluded.contains($0) }
  }

  /// Visits rows that are known to match; their keys ascend.
  private func visitMatches(
    _ keys: [UInt64],
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    // Set at the end only: a captured variable that changed with each row would be checked with each row.
    var isStopped = false
    let (table, tally) = (table, tally)
    try view.scan(table.number, keys: keys) { key, layout, row in
      let control = try table.visit(key, layout, row, tally, body)
      if control == .stop { isStopped = true }
      return control
    }
    return isStopped ? .stop : .proceed
  }

  /// Visits those of some rows that match.
  ///
  /// - Parameters:
  ///   - keys: The keys of the rows, ascending; `nil` for all rows.
  ///   - body: As in ``visit(_:)``.
  /// - Returns: As ``visit(_:)``.
  /// - Throws: As ``visit(_:)``.
  private func visitCandidates(
    _ keys: [UInt64]?,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    // Without sort keys, the rows before a page's place are known by their own.
    guard let firstKey else { return .proceed }
    var isStopped = false
    let visitor = RowVisitor(self)
    func test(_ key: UInt64, _ layout: LayoutNumber, _ row: RawSpan) throws -> ScanControl {
      let control = try visitor.visitIfMatching(key, layout, row, body) ?? .proceed
      if control == .stop { isStopped = true }
      return control
    }
    if let keys {
      try view.scan(table.number, keys: firstKey == 0 ? keys : keys.filter { $0 >= firstKey }, test)
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

  /// Visits the rows that match, one range of keys after the other.
  private func visitRanges(
    _ plan: ColumnPlan,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    let visitor = RowVisitor(self)
    let isExact = plan.isExact
    var ranges = KeyRanges(from: firstKey, end: store.engine.nextKey(in: table.number))
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
      var count = 0
      try plan.scan(table, of: view, tally?.columns) { _, rows in count += rows.selectedCount }
      tally?.match(count)
      return count
    case .keys, .columns, .rows:
      var count = 0
      _ = try visit { _, _ in
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
      return try visit { reference, _ in try body(reference) }
    }
  }

  private func visitNames(
    _ plan: ColumnPlan,
    _ body: (RowReference) throws -> ScanControl
  ) throws -> ScanControl {
    var ranges = KeyRanges(from: firstKey, end: store.engine.nextKey(in: table.number))
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
