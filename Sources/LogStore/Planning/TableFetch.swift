import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints

/// The rows of one table that a fetch asks for, and the road to them.
///
/// Rows come in the order of their keys.
struct TableFetch {
  let store: TableStore
  let table: EntityTable
  private let filter: RowFilter?
  private let way: Way

  private enum Way {
    /// Only these rows can match; each is read as it is by then.
    case named([RowReference])
    /// The same, of rows as they are in a view.
    case keys([UInt64], ReadView)
    case columns(ColumnPlan)
    case rows
  }

  /// What is wanted of the rows that match.
  enum Purpose {
    case rows
    /// Their names or their number, for which nothing has to be read.
    case names
    /// The first ones of a sort.
    case first(FirstRows)
  }

  /// Finds the road.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - table: One of its tables.
  ///   - expression: The predicate, if there is one.
  ///   - plan: What the predicate says of rows it names, or of indexes.
  ///   - purpose: What is wanted.
  ///   - resolver: Answers about other rows.
  /// - Throws: What reading throws: an index may be made, or the first rows be found.
  init(
    _ store: TableStore,
    _ table: EntityTable,
    _ expression: QueryExpression?,
    _ plan: FetchPlan,
    for purpose: Purpose,
    _ resolver: StoreResolver
  ) throws {
    self.store = store
    self.table = table
    filter = expression.map { RowFilter($0, descriptor: table.descriptor, resolver: resolver) }
    way = try Self.way(store, table, expression, filter, plan, purpose, resolver)
  }

  private static func way(
    _ store: TableStore,
    _ table: EntityTable,
    _ expression: QueryExpression?,
    _ filter: RowFilter?,
    _ plan: FetchPlan,
    _ purpose: Purpose,
    _ resolver: StoreResolver
  ) throws -> Way {
    let rowCount = store.engine.rowCount(of: table.number)
    let limit = FetchRoad.indexLimit(rowCount: rowCount, .unknown)
    if let rows = try store.rows(namedBy: plan, in: table, atMost: limit) { return .named(rows) }
    if rowCount <= FetchRoad.smallTable {
      return try store.rows(namedBy: plan, in: table, atMost: rowCount / 4).map { .named($0) }
        ?? .rows
    }
    let columns = ColumnPlan(expression, of: table, resolver)
    let answer = columns.answer(for: purpose)
    if case .values = plan, answer != .everything {
      let limit = FetchRoad.indexLimit(rowCount: rowCount, answer)
      if let rows = try store.rows(namedBy: plan, in: table, atMost: limit) { return .named(rows) }
    }
    if case .first(let first) = purpose {
      if let rows = try first.walk(table, filter, in: store) { return .named(rows) }
      let view = store.engine.makeReadView()
      if let keys = try first.scan(table, columns, filter, in: view) { return .keys(keys, view) }
    }
    return FetchRoad.choose(rowCount: rowCount, answer) == .columns ? .columns(columns) : .rows
  }
}

extension TableFetch {
  /// Whether the rows that can match are known by name, so that no table has to be gone through.
  var namesRows: Bool {
    switch way {
    case .named, .keys: true
    case .columns, .rows: false
    }
  }
}

extension ColumnPlan {
  fileprivate func answer(for purpose: TableFetch.Purpose) -> FetchRoad.ColumnAnswer {
    if case .names = purpose, isExact { return .everything }
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
    var control = ScanControl.proceed
    func test(_ key: UInt64, _ layout: LayoutNumber, _ row: RawSpan) throws -> ScanControl {
      control = try self.test(key, layout, row, body) ?? .proceed
      return control
    }
    SchedulePoint.duringFetch.reach()
    switch way {
    case .named(let rows):
      for row in rows where control == .proceed {
        _ = try store.engine.withRow(row) { try test(row.key, $1, $0) }
      }
    case .keys(let keys, let view): try view.scan(table.number, keys: keys, test)
    case .rows: try store.engine.scan(table.number, test)
    case .columns(let plan): control = try visitStretches(plan, body)
    }
    return control
  }

  /// Hands a row to a closure if it matches.
  ///
  /// - Returns: What the closure returned; `nil` if the row does not match.
  private func test(
    _ key: UInt64,
    _ layout: LayoutNumber,
    _ row: RawSpan,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl? {
    let reference = RowReference(table: table.number, key: key)
    return try table.withCurrentRow(row, layout: layout, key: key) { row in
      if let filter, try !filter.matches(row, reference) { return nil }
      return try body(reference, row)
    }
  }

  /// Visits the rows that match, a stretch of keys after the other.
  private func visitStretches(
    _ plan: ColumnPlan,
    _ body: (RowReference, RawSpan) throws -> ScanControl
  ) throws -> ScanControl {
    let view = store.engine.makeReadView()
    var stretches = KeyStretches(end: store.engine.nextKey(in: table.number))
    // The first stretch is short: who wants one row only may find it there.
    var road = FetchRoad.rows
    while let keys = stretches.next() {
      var control = ScanControl.proceed
      var rowCount = 0
      var matchCount = 0
      func take(_ found: ScanControl?) -> ScanControl {
        if let found { (control, matchCount) = (found, matchCount + 1) }
        return control
      }
      switch road {
      case .rows:
        try view.scan(table.number, in: keys) { key, layout, row in
          rowCount += 1
          return take(try test(key, layout, row, body))
        }
      case .columns:
        var matches: [UInt64] = []
        rowCount = try plan.appendKeys(of: table, in: keys, of: view, to: &matches)
        try view.scan(table.number, keys: matches) { key, layout, row in
          if !plan.isExact { return take(try test(key, layout, row, body)) }
          let reference = RowReference(table: table.number, key: key)
          return try table.withCurrentRow(row, layout: layout, key: key) { row in
            take(try body(reference, row))
          }
        }
      }
      if control == .stop { return .stop }
      if rowCount > 0 { road = FetchRoad.next(after: matchCount, of: rowCount) }
    }
    return .proceed
  }
}

// MARK: Names

extension TableFetch {
  /// How many rows match.
  func count() throws -> Int {
    var count = 0
    if case .columns(let plan) = way, plan.isExact {
      try plan.scan(table, of: store.engine.makeReadView()) { _, rows in
        count += rows.selectedCount
      }
    } else {
      _ = try visit { _, _ in
        count += 1
        return .proceed
      }
    }
    return count
  }

  /// Visits the names of the rows that match.
  ///
  /// - Parameter body: Called with each name.
  /// - Returns: Whether `body` wants to see names of other tables.
  /// - Throws: What reading throws, or `body`.
  func visitNames(_ body: (RowReference) throws -> ScanControl) throws -> ScanControl {
    guard case .columns(let plan) = way, plan.isExact else {
      return try visit { reference, _ in try body(reference) }
    }
    let view = store.engine.makeReadView()
    var stretches = KeyStretches(end: store.engine.nextKey(in: table.number))
    var matches: [UInt64] = []
    while let keys = stretches.next() {
      matches.removeAll(keepingCapacity: true)
      _ = try plan.appendKeys(of: table, in: keys, of: view, to: &matches)
      for key in matches {
        if try body(RowReference(table: table.number, key: key)) == .stop { return .stop }
      }
    }
    return .proceed
  }
}
