import LogEngine
import ModelRuntime
import RowFormat

/// The inputs to the choice of an access path.
struct AccessPathFinder {
  let store: TableStore
  let table: EntityTable
  let view: ReadView
  let resolver: StoreResolver
  let expression: QueryExpression?
  let test: LateFilter?
  let plan: CandidatePlan
  let output: TableFetch.Output
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
    let alternatives = plan.isEither ? try candidates(of: plan, rowCount) : nil
    if let alternatives, alternatives.count <= ScanMethod.fewRows,
      let path = try path(to: alternatives, nil, rowCount)
    {
      return path
    }
    let narrowest = try indexes?.narrowest()
    if let narrowest, let path = try exactPath(narrowest, rowCount) { return path }
    if let narrowest, let path = try sharpPath(narrowest, indexes, ordered, rowCount) {
      return path
    }
    if let keys = try words(narrowest, rowCount) { return .keys(keys) }
    let named = plan.isEither ? alternatives : try candidates(of: plan, rowCount)
    if let named, let path = try path(to: named, narrowest, rowCount) { return path }
    if let first, let path = try walk(first, ordered, narrowest, rowCount) { return path }
    if let named, named.count <= min(narrowest?.count ?? .max, named.limit) {
      return try path(to: named)
    }
    if let path = try memberJoin(narrowest, rowCount) { return path }
    if let narrowest, narrowest.count <= ScanMethod.indexLimit(rowCount: rowCount, .unknown) {
      return try path(to: narrowest)
    }
    if rowCount <= ScanMethod.smallTable {
      guard let narrowest, narrowest.count <= rowCount / 4 else { return .rows }
      return try path(to: narrowest)
    }
    let columns = ColumnPlan(expression, of: table, resolver)
    let answer = columns.answer(for: output)
    if let narrowest, answer != .everything,
      narrowest.count <= ScanMethod.indexLimit(rowCount: rowCount, answer)
    {
      return try path(to: narrowest)
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
  private func path(to found: TableIndexes.Found) throws -> AccessPath {
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
    case .scan, .values, .joining, .either: nil
    case .rows(let identifiers): keys(of: identifiers)
    case .referring(let property, let identifiers):
      try keys(referringTo: identifiers.compactMap(store.reference(of:)), property)
    }
  }

  /// The keys of the table's rows among some, ascending.
  func keys(of identifiers: Set<PersistentIdentifier>) -> [UInt64] {
    identifiers.compactMap(store.reference(of:)).filter { $0.table == table.number }.map(\.key)
      .sorted()
  }

  /// The keys of the rows that refer to one of some rows, ascending.
  func keys(
    referringTo targets: [RowReference],
    _ property: ModelProperty
  ) throws -> [UInt64] {
    try targets.flatMap { target in
      try resolver.rows(referringTo: target, inTable: table.number, column: property.ordinal)
        .map(\.key)
    }.sorted()
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
    let areNear = areNear(wanted, of: found.count, rowCount)
    guard let first else {
      guard areNear, let keys = try firstMatches(wanted, rowCount) else { return nil }
      return .matches(keys)
    }
    if !areNear {
      let ordered = try indexes?.ordered(by: first.ordering, behind: nil)
      guard let ordered, ordered.found.count <= found.count else { return nil }
    }
    return try walk(first, ordered, found, rowCount)
  }

  /// Whether as many rows as are wanted, of some that are anywhere in the table, are probably among a thousand.
  private func areNear(_ wanted: Int, of count: Int, _ rowCount: Int) -> Bool {
    let reach = wanted.multipliedFullWidth(by: rowCount)
    return reach.high == 0 && reach.low / UInt(max(count, 1)) <= 1024
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
    if let narrowest, narrowest.count <= ScanMethod.fewRows { return nil }
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

  /// Whether a property has a column in the table: of a class the predicate does not speak of, columns have other meanings.
  func isColumn(_ property: ModelProperty) -> Bool {
    table.descriptor.properties.contains { $0 === property }
  }

  /// The path to rows that are named, if they are too few to look for a better one.
  private func path(
    to named: Candidates,
    _ narrowest: TableIndexes.Found?,
    _ rowCount: Int
  ) throws -> AccessPath? {
    if named.isExact, named.isCountExact, case .count = output {
      tally?.choose(named.path, candidates: named.count)
      return .count(named.count, excluded: nil)
    }
    guard named.count <= min(narrowest?.count ?? .max, named.limit) else { return nil }
    if let first {
      // In an order that an index has, the wanted rows may be met before all of these were read.
      let (square, overflow) = named.count.multipliedReportingOverflow(by: named.count)
      let (met, isEndless) = first.wanted.multipliedReportingOverflow(by: rowCount)
      guard isEndless || !overflow && square <= met else { return nil }
    }
    if let limit, limit < named.count / 16, areNear(limit, of: named.count, rowCount),
      let keys = try firstMatches(limit, rowCount)
    {
      return .matches(keys)
    }
    return try path(to: named)
  }

  private func path(to named: Candidates) throws -> AccessPath {
    tally?.choose(named.path, candidates: named.count)
    let keys = try named.keys()
    return named.isExact ? .matches(keys) : .keys(keys)
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
      isColumn(member.property)
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

  private func walk(
    _ first: FirstRows,
    _ indexes: TableIndexes?,
    _ narrowest: TableIndexes.Found?,
    _ rowCount: Int
  ) throws -> AccessPath? {
    guard let indexes else { return nil }
    // So few rows are sorted faster than walked to.
    if let narrowest, narrowest.count / 2 <= first.wanted, narrowest.count <= rowCount / 4 {
      return try path(to: narrowest)
    }
    guard
      let (walk, found) = try indexes.ordered(
        by: first.ordering,
        behind: place
      )
    else { return nil }
    let test = walk.isExact ? nil : test.map(walkTest)
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

  /// The test of rows that a walk meets in the order of an index, which is seldom that of packs.
  private func walkTest(_ test: LateFilter) -> IndexWalk.Test {
    // Columns are planned once, and only if the first rows were not enough.
    var surcharge: Int?
    return IndexWalk.Test {
      try Set(test.matches(among: $0, in: view, tally))
    } surcharge: { keys in
      let packedCount = view.packedRowCount(among: keys, in: table.number)
      if packedCount == 0 { return 0 }
      let known =
        surcharge ?? ScanMethod.packedSurcharge(ColumnPlan(expression, of: table, resolver))
      surcharge = known
      return packedCount * known
    }
  }
}

extension ColumnPlan {
  func answer(for output: TableFetch.Output) -> ScanMethod.ColumnAnswer {
    switch output {
    case .names, .count: if isExact { return .everything }
    case .rows, .first, .page: break
    }
    return tells ? .rowsToRead : .nothing
  }
}
