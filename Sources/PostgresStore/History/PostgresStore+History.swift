#if PostgreSQL
import Foundation
public import ModelRuntime
import RowFormat

// The history ends before the oldest save that has not ended, so that a reader that continues from the newest one it received
// misses none: see `HistoryHorizon`.

extension PostgresStore: HistoryProviding {
  public typealias HistoryType = DefaultHistoryTransaction
  public typealias TokenType = DefaultHistoryToken

  /// Limit of the number of transactions that are read at once.
  private static let historyPage = 500

  /// Returns what was saved, transaction by transaction, up to the oldest save that has not ended.
  ///
  /// - Throws: `SwiftDataError.historyTokenExpired` if some of what came after a token was deleted from the history;
  ///   `SwiftDataError.invalidTransactionFetchRequest` for a predicate that cannot be evaluated;
  ///   ``PostgresStoreError``.
  /// - Complexity: O(what was saved after the token); with a limit and in the order of the transactions, from the first or
  ///   from the last one, O(the transactions up to the last that is returned).
  public func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] {
    let plan = HistoryPlan(descriptor, store: identifier)
    while true {
      let state = try historyState()
      if let bookmark = plan.bookmark { try state.check(bookmark) }
      // Transactions that were deleted while they were read may be there in part: they are read anew.
      if let found = try collect(descriptor, plan, state) { return found }
    }
  }

  /// Reads the history, page by page; `nil` if some of it was deleted meanwhile.
  private func collect(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>,
    _ plan: HistoryPlan,
    _ state: HistoryState
  ) throws -> [DefaultHistoryTransaction]? {
    let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
    // A sort may bring any transaction to the front, so all have to be seen.
    let wanted = plan.order == nil ? Int.max : limit
    var rest = HistoryRange(
      after: plan.after,
      through: min(plan.through, state.horizon - 1),
      order: plan.order ?? .forward,
      pageSize: min(wanted, PostgresStore.historyPage)
    )
    var found: [DefaultHistoryTransaction] = []
    while found.count < wanted {
      guard let page = try historyPage(rest, state) else { return nil }
      guard let last = page.last else { break }
      rest.advance(behind: last.transactionIdentifier)
      // If few of them match, a small page would be one of many.
      rest.pageSize = min(rest.pageSize * 2, PostgresStore.historyPage)
      do {
        found += try page.filter(plan.matches)
      } catch {
        throw SwiftDataError.invalidTransactionFetchRequest.explained(
          "the predicate cannot be evaluated for a transaction",
          causedBy: error
        )
      }
    }
    if plan.order == nil { found.sort(using: descriptor.sortBy) }
    return Array(found.prefix(limit))
  }

  /// Forgets transactions for good, the oldest first, some at a time.
  ///
  /// - Throws: As ``fetchHistory(_:)``; what was forgotten by then stays forgotten.
  public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
    let numbers = try historyNumbers(descriptor)
    if numbers.isEmpty { return }
    let deletion = HistoryDeletion(configuration)
    // It takes as long as there is much to delete.
    try pool.retrying { connection in
      try connection.withoutLimit { try deletion.delete(numbers, connection) }
    }
    // The space comes back by itself later, if a table is in use.
    if migration != nil { return }
    try? pool.withConnection { connection in
      try connection.withoutLimit { try deletion.partitions.sweep(connection) }
    }
  }

  /// The numbers of the transactions that match; changes are read only if that depends on them.
  private func historyNumbers(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [Int64] {
    let plan = HistoryPlan(descriptor, store: identifier)
    guard plan.isDecidedByTests, descriptor.fetchLimit == 0 else {
      return try fetchHistory(descriptor).map(\.transactionIdentifier)
    }
    let state = try historyState()
    if let bookmark = plan.bookmark { try state.check(bookmark) }
    let commits = Statement(
      "SELECT xid, at, author FROM \(name("_logstore_commit")) WHERE xid > $1 AND xid <= $2 ORDER BY xid"
    ) {
      $0.append(plan.after)
      $0.append(min(plan.through, state.horizon - 1))
    }
    let result = try read([commits])[0]
    return (0..<result.rowCount).compactMap { row in
      let date = Date(
        timeIntervalSinceReferenceDate: PostgresDate.seconds(of: result.integer(row, 1))
      )
      guard plan.mayMatch(author: result.optionalText(row, 2), timestamp: date) else { return nil }
      return result.integer(row, 0)
    }
  }

  /// Finds where the history ends.
  var horizon: HistoryHorizon { HistoryHorizon(configuration.namespace, store: identifier) }

  /// Reads what was deleted from the history so far, and where it ends.
  private func historyState() throws -> HistoryState {
    try checkOpen()
    let end = try pool.retrying(horizon.read)
    let results = try read([
      HistoryState.statement(configuration.namespace),
      Statement("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"),
    ])
    var state = HistoryState(results[0])
    state.next = results[1].integer(0, 0)
    state.horizon = end
    return state
  }

  /// Reads the first transactions of a range; `nil` if the state of the history has changed.
  private func historyPage(
    _ range: HistoryRange,
    _ state: HistoryState
  ) throws -> [DefaultHistoryTransaction]? {
    let page =
      "SELECT xid, at, author FROM \(name("_logstore_commit")) WHERE xid > $1 AND xid <= $2 "
      + "ORDER BY xid \(range.order == .forward ? "ASC" : "DESC") LIMIT \(range.pageSize)"
    func statement(_ sql: String) -> Statement {
      Statement(sql) {
        $0.append(range.after)
        $0.append(range.through)
      }
    }
    let ofPage = "JOIN (\(page)) AS p USING (xid)"
    // Repeated, so that no partition is looked at needlessly.
    let bounds = "h.xid > $1 AND h.xid <= $2"
    let remembering = tables.tables.filter { !$0.preservedColumns.isEmpty }
    // Each statement sees what was committed before it; the last one whether what the others saw was there as a whole.
    let statements =
      [
        statement(page),
        statement(
          "SELECT xid, ordinal::bigint, row, kind, columns FROM \(name("_logstore_change")) AS h "
            + "\(ofPage) WHERE \(bounds) ORDER BY xid, ordinal"
        ),
      ]
      + remembering.map { table in
        let range = table.references
        return statement(
          "SELECT \(table.selection), h.xid, h.ordinal::bigint FROM \(name("_logstore_change")) AS h \(ofPage), "
            + "jsonb_populate_record(NULL::\(table.name), "
            + "h.preserved || jsonb_build_object('\(MappedTable.key)', h.row)) AS t "
            + "WHERE \(bounds) AND h.preserved IS NOT NULL AND h.row BETWEEN \(range.lowerBound.rawValue) "
            + "AND \(range.upperBound.rawValue)"
        )
      } + [HistoryState.statement(configuration.namespace)]
    try checkOpen()
    let results = try pool.retrying { try $0.run(statements) }
    guard let last = results.last, HistoryState(last).isSame(as: state, behind: range.after) else {
      return nil
    }
    var preserved: [ChangePlace: [(ordinal: Int, value: any Sendable)]] = [:]
    for (table, result) in zip(remembering, results[2...]) {
      try read(table, result, into: &preserved)
    }
    var changes: [Int64: [HistoryChange]] = [:]
    for row in 0..<results[1].rowCount {
      let transaction = results[1].integer(row, 0)
      if let change = change(row, of: results[1], preserved) {
        changes[transaction, default: []].append(change)
      }
    }
    return (0..<results[0].rowCount).map { row in
      let number = results[0].integer(row, 0)
      return DefaultHistoryTransaction(
        token: DefaultHistoryToken(historyName, number),
        timestamp: Date(
          timeIntervalSinceReferenceDate: PostgresDate.seconds(of: results[0].integer(row, 1))
        ),
        author: results[0].optionalText(row, 2),
        changes: changes[number] ?? []
      )
    }
  }

  private func change(
    _ row: Int,
    of result: StatementResult,
    _ preserved: [ChangePlace: [(ordinal: Int, value: any Sendable)]]
  ) -> HistoryChange? {
    let place = ChangePlace(
      transaction: result.integer(row, 0),
      ordinal: result.integer(row, 1)
    )
    let reference = RowReference(rawValue: UInt64(bitPattern: result.integer(row, 2)))
    guard let table = tables.table(numbered: reference.table) else { return nil }
    let maker = HistoryChangeMaker.make(for: table.descriptor, storeIdentifier: identifier)
    let number = HistoryChangeMaker.changeIdentifier(Int(place.ordinal), of: place.transaction)
    switch result.text(row, 3) {
    case "insert": return maker.insert(reference.key, number)
    case "delete":
      return maker.delete(reference.key, number, preserving: preserved[place] ?? [])
    default:
      var columns = ColumnSet()
      for name in result.texts(row, 4) {
        if let property = table.descriptor.property(named: name) {
          columns.insert(property.ordinal)
        }
      }
      return maker.update(reference.key, number, columns)
    }
  }

  /// Reads the values that rows of a table left when they were deleted.
  private func read(
    _ table: MappedTable,
    _ result: StatementResult,
    into preserved: inout [ChangePlace: [(ordinal: Int, value: any Sendable)]]
  ) throws {
    var decoder = RowDecoder(table)
    for number in 0..<result.rowCount {
      let place = ChangePlace(
        transaction: result.integer(number, result.columnCount - 2),
        ordinal: result.integer(number, result.columnCount - 1)
      )
      preserved[place] = try decoder.withRow(number, of: result) { _, row in
        table.preservedColumns.compactMap { column in
          table.descriptor.properties[column.position]
            .historyValue(in: row, table.layout, column.position)
            .map { (column.position, $0) }
        }
      }
    }
  }
}

/// Transactions that are read page by page, from one end.
private struct HistoryRange {
  /// The transactions after one number, up to another.
  private(set) var after: Int64
  private(set) var through: Int64
  let order: SortOrder
  var pageSize: Int

  /// Continues after a transaction.
  mutating func advance(behind number: Int64) {
    if order == .forward { after = number } else { through = number - 1 }
  }
}

/// The place of a change in the history.
private struct ChangePlace: Hashable {
  let transaction: Int64
  let ordinal: Int64
}
#endif
