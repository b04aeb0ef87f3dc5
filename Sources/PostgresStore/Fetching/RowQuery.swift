#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// A fetch from one store, in the terms of its tables.
struct RowQuery {
  let expression: QueryExpression?
  private let ordering: RowOrdering?
  private let offset: Int
  private let limit: Int?
  let tables: [MappedTable]
  private let store: PostgresStore
  /// Records how the rows were found; `nil` if no plan was requested.
  private let trace: QueryTrace?

  /// The results that a fetch wants of its rows.
  enum Wanted {
    case rows, references, count
    /// Values that SQL can tell, and nothing else.
    case values([QueryExpression?])
  }

  /// The part of the fetch that is about one table.
  struct Part {
    let table: MappedTable
    let statement: Statement
    /// Whether the statement finds exactly the matching rows.
    let isExact: Bool
  }

  /// Translates a fetch.
  ///
  /// - Throws: `DataStoreError.preferInMemoryFilter` or `.preferInMemorySort` if the context must filter or sort objects.
  init<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    in store: PostgresStore,
    sorted: Bool
  ) throws {
    let descriptor = request.descriptor
    trace = request.editingState.trace
    do {
      expression = try descriptor.predicate.map { try QueryExpression($0) }
    } catch is Untranslatable {
      throw DataStoreError.preferInMemoryFilter
    }
    tables = store.tables.tables(for: T.self)
    self.store = store
    offset = max(descriptor.fetchOffset ?? 0, 0)
    limit = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil }
    guard sorted, !descriptor.sortBy.isEmpty else {
      ordering = nil
      return
    }
    guard let ordering = try? RowOrdering(descriptor.sortBy), tables.count <= 1,
      !ordering.keys.contains(where: \.hasTextOrder)
    else { throw DataStoreError.preferInMemorySort }
    self.ordering = ordering
  }

  /// The statements, one for each table.
  ///
  /// - Throws: As the initializer.
  func parts(_ wanted: Wanted) throws -> [Part] {
    let translations = tables.map { table in
      let translation = ExpressionSQL(table, in: store.tables, storeIdentifier: store.identifier)
      let condition = expression.map { "(\(translation.condition($0)))" }
      return (table: table, translation: translation, condition: condition)
    }
    // If one table's rows need a test here, so do the rows of all tables.
    let isExact = translations.allSatisfy { $0.translation.isExact }
    return try translations.map {
      try part($0.table, $0.translation, $0.condition, isExact: isExact, wanted)
    }
  }

  private func part(
    _ table: MappedTable,
    _ translation: ExpressionSQL,
    _ condition: String?,
    isExact: Bool,
    _ wanted: Wanted
  ) throws -> Part {
    let isCut = isExact && tables.count == 1
    // Rows of inexact statements are tested one by one here, and so are the rows of a limit that several tables share.
    let selection =
      switch (wanted, isExact) {
      case (.values(let expressions), _):
        try values(expressions, translation, isExact: isExact && (isCut || !hasWindow))
      case (.rows, _), (_, false): table.selection
      case (.references, _): "t.\(MappedTable.key)"
      case (.count, _): "count(*)"
      }
    var source = "\(table.name) AS t\(condition.map { " WHERE \($0)" } ?? "")"
    var parameters = translation.parameters
    var end = ""
    if selection != "count(*)" {
      end = " ORDER BY \(try order(by: ordering?.keys ?? [], translation))t.\(MappedTable.key)"
      parameters = translation.parameters
      if isCut, let parts = try indexedParts(of: table, translation, condition) {
        source = "(\(parts.sql)) AS t"
        parameters = parts.parameters
      }
      if isCut {
        if let limit { end += " LIMIT \(limit)" }
        if offset > 0 { end += " OFFSET \(offset)" }
      } else if isExact, let limit, case (let last, false) = limit.addingReportingOverflow(offset) {
        end += " LIMIT \(last)"
      }
    }
    return Part(
      table: table,
      statement: Statement("SELECT \(selection) FROM \(source)\(end)", parameters).repeatable,
      isExact: isExact
    )
  }

  private var hasWindow: Bool { limit != nil || offset > 0 }

  /// The selection of values.
  private func values(
    _ expressions: [QueryExpression?],
    _ translation: ExpressionSQL,
    isExact: Bool
  ) throws -> String {
    if !isExact { throw DataStoreError.preferInMemoryFilter }
    return try expressions.map { expression in
      guard let value = expression.flatMap(translation.measuredValue) else {
        throw DataStoreError.preferInMemoryFilter
      }
      return value.sql
    }
    .joined(separator: ", ")
  }

  private func order(
    by keys: some Sequence<RowOrdering.Key>,
    _ translation: ExpressionSQL
  ) throws -> String {
    var order = ""
    for key in keys {
      guard let value = translation.orderedValue(key) else {
        throw DataStoreError.preferInMemorySort
      }
      order += value + ", "
    }
    return order
  }

  /// The first rows of a sort, as two selects: of those that have a value of the first key, and of those that have null.
  ///
  /// A null that counts as another value is neither in an index nor at the end where the server has it. Without null, the
  /// order is that of the index, which is read no further than the limit.
  ///
  /// - Returns: The selects, unless no index begins with the first key, or all rows are wanted.
  private func indexedParts(
    of table: MappedTable,
    _ translation: ExpressionSQL,
    _ condition: String?
  ) throws -> (sql: String, parameters: Parameters)? {
    guard let limit, case (let last, false) = limit.addingReportingOverflow(offset),
      let keys = ordering?.keys, let first = keys.first,
      case .column(let path, let reading) = first.source, path.steps.isEmpty,
      reading.kind != .unsigned, store.tables.isIndexed(reading.column, of: table)
    else { return nil }
    let rest = try order(by: keys.dropFirst(), translation)
    // Behind all parameters of the other translation.
    let present = ExpressionSQL(
      table,
      in: store.tables,
      storeIdentifier: store.identifier,
      translation.parameters,
      presentColumn: reading.column
    )
    let stored = table.columns[reading.column]
    // As the index has it: null, where the column is.
    let column = SQLColumn.ordered("t.\(stored.name.quotedName)", stored.kind)
    func select(_ isThere: String, _ condition: String?, _ order: String) -> String {
      "(SELECT t.* FROM \(table.name) AS t WHERE \(isThere)\(condition.map { " AND \($0)" } ?? "") "
        + "ORDER BY \(order)t.\(MappedTable.key) LIMIT \(last))"
    }
    let there = try select(
      "\(column) IS NOT NULL",
      expression.map { "(\(present.condition($0)))" },
      order(by: keys, present)
    )
    let missing = select("\(column) IS NULL", condition, rest)
    return ("\(there) UNION ALL \(missing)", present.parameters)
  }

  /// Visits the rows of the fetch.
  ///
  /// - Parameters:
  ///   - parts: Its statements.
  ///   - results: The results of the statements.
  ///   - connection: A session in the transaction of the statements, for rows that these refer to.
  ///   - body: Called with the rows in order.
  /// - Throws: The errors of reading a row.
  func visit(
    _ parts: [Part],
    _ results: [StatementResult],
    _ connection: Connection,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    let isCut = parts.count == 1 && parts[0].isExact
    var skipped = isCut ? 0 : offset
    var rest = isCut ? Int.max : limit ?? .max
    func visit(_ reference: RowReference, _ row: RawSpan) throws {
      if skipped > 0 {
        skipped -= 1
      } else if rest > 0 {
        rest -= 1
        try body(reference, row)
      }
    }
    for (part, result) in zip(parts, results) where rest > 0 {
      var decoder = RowDecoder(part.table)
      if let expression, !part.isExact {
        try visitMatches(of: expression, part, result, connection, visit)
        continue
      }
      report(part, result.rowCount)
      for row in 0..<result.rowCount where rest > 0 {
        try decoder.withRow(row, of: result, visit)
      }
    }
  }

  /// Visits the rows of the results of exact statements.
  ///
  /// - Parameters:
  ///   - parts: The statements of the fetch.
  ///   - results: The results of the statements.
  ///   - body: Called with each result and the numbers of its rows, in order.
  /// - Throws: What `body` throws.
  func visitRows(
    of parts: [Part],
    _ results: [StatementResult],
    _ body: (StatementResult, Int) throws -> Void
  ) throws {
    for (part, result) in zip(parts, results) {
      report(part, result.rowCount)
      for row in 0..<result.rowCount { try body(result, row) }
    }
  }

  /// Reports that the server has found the rows of a table that match, and no others.
  func report(_ table: MappedTable, rowCount: Int) {
    trace?.add(
      QueryPlan.TableAccess(
        entity: table.descriptor.entityName,
        path: .server,
        rowCount: rowCount,
        matchCount: rowCount
      )
    )
  }

  /// Reports how the rows of a table were found.
  ///
  /// - Parameters:
  ///   - part: The statement that was sent.
  ///   - rowCount: The number of rows that it found.
  ///   - read: The rows that were tested here, with their bytes and the number that matched.
  private func report(
    _ part: Part,
    _ rowCount: Int,
    read: (rows: Int, bytes: Int, matches: Int)? = nil
  ) {
    trace?.add(
      QueryPlan.TableAccess(
        entity: part.table.descriptor.entityName,
        path: part.isExact ? .server : .serverThenRows,
        rowCount: rowCount,
        readRowCount: read?.rows ?? 0,
        readRowByteCount: read?.bytes ?? 0,
        matchCount: read?.matches ?? rowCount
      )
    )
  }

  /// Visits the rows that match.
  private func visitMatches(
    of expression: QueryExpression,
    _ part: Part,
    _ result: StatementResult,
    _ connection: Connection,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    var builder = FetchedRowBuilder()
    var decoder = RowDecoder(part.table)
    for row in 0..<result.rowCount {
      try decoder.withRow(row, of: result) { builder.append($0, row: $1) }
    }
    let resolver = SnapshotResolver(store, connection)
    try resolver.prepare(expression, builder.rows)
    let filter = RowFilter(expression, descriptor: part.table.descriptor, resolver: resolver)
    var (byteCount, matchCount) = (0, 0)
    for row in builder.rows {
      try row.withBytes { bytes in
        byteCount += bytes.byteCount
        guard try filter.matches(bytes, row.reference) else { return }
        matchCount += 1
        try body(row.reference, bytes)
      }
    }
    report(part, result.rowCount, read: (builder.rows.count, byteCount, matchCount))
  }

  /// The names of the rows of the fetch, in order.
  func references(
    _ parts: [Part],
    _ results: [StatementResult],
    _ connection: Connection
  ) throws -> [RowReference] {
    var references: [RowReference] = []
    if parts.allSatisfy(\.isExact) {
      for (part, result) in zip(parts, results) {
        report(part, result.rowCount)
        for row in 0..<result.rowCount {
          references.append(RowReference(rawValue: UInt64(bitPattern: result.integer(row, 0))))
        }
      }
      if parts.count == 1 { return references }
      return Array(references.dropFirst(offset).prefix(limit ?? .max))
    }
    try visit(parts, results, connection) { reference, _ in references.append(reference) }
    return references
  }

  /// The number of rows that the fetch finds.
  func count(
    _ parts: [Part],
    _ results: [StatementResult],
    _ connection: Connection
  ) throws -> Int {
    guard parts.allSatisfy(\.isExact) else {
      var count = 0
      try visit(parts, results, connection) { _, _ in count += 1 }
      return count
    }
    let counts = results.map { Int($0.integer(0, 0)) }
    for (part, count) in zip(parts, counts) { report(part, count) }
    let all = counts.reduce(0, +)
    return min(max(all - offset, 0), limit ?? .max)
  }
}
#endif
