#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// The measures of an aggregate, of the rows of one table.
///
/// The server groups and measures where its answer is Swift's: counts, sums of integers, which it adds without a limit,
/// and extremes. Sums of floating-point numbers are not among them, because the server neither carries along what
/// additions round away nor continues after an overflow; for those, as for parts of dates, it sends the values.
struct TableMeasurement {
  let table: MappedTable
  let statement: Statement
  private let wanted: AggregateRequest
  /// Whether the result has a row for each group, or one for each row of the table.
  private let isGrouped: Bool

  /// Translates an aggregate.
  ///
  /// - Throws: `DataStoreError.preferInMemoryFilter` for what SQL cannot say.
  init(
    of table: MappedTable,
    _ query: RowQuery,
    _ wanted: AggregateRequest,
    excluding excluded: ExcludedRows,
    in store: PostgresStore
  ) throws {
    self.table = table
    self.wanted = wanted
    let translation = ExpressionSQL(table, in: store.tables, storeIdentifier: store.identifier)
    var conditions = query.expression.map { [translation.condition($0)] } ?? []
    let sources = try wanted.sources.map { source in
      guard let expression = source.expression, translation.isExact,
        let value = translation.measuredValue(expression)
      else { throw DataStoreError.preferInMemoryFilter }
      return value
    }
    guard translation.isExact else { throw DataStoreError.preferInMemoryFilter }
    let own = excluded.keys(of: table.number)
    if !own.isEmpty {
      let rows = own.sorted.map { RowReference(table: table.number, key: $0) }
      let names = translation.append(rows.map { Int64(bitPattern: $0.rawValue) })
      conditions.append("t.\(MappedTable.key) <> ALL (\(names))")
    }
    let measures = wanted.measures.map { measure in
      measure.columns(of: measure.value.map { sources[$0] })
    }
    isGrouped = wanted.keys.allSatisfy { $0.bucket == nil } && !measures.contains(nil)
    var columns: [String]
    var grouping = ""
    if isGrouped {
      let keys = sources.prefix(wanted.keys.count)
      columns = ["count(*)"] + keys.map(\.key) + measures.flatMap { $0 ?? [] }
      if !keys.isEmpty {
        grouping = " GROUP BY " + keys.indices.map { "\($0 + 2)" }.joined(separator: ", ")
      }
    } else {
      // The key puts rows in order of which the first or the last is wanted, and are equal.
      columns = sources.map(\.sql) + ["t.\(MappedTable.key)"]
    }
    let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    statement = Statement(
      "SELECT \(columns.joined(separator: ", ")) FROM \(table.name) AS t\(condition)\(grouping)",
      translation.parameters
    )
  }

  /// Adds what the server has found to groups.
  ///
  /// - Returns: The number of rows measured.
  /// - Throws: `SwiftDataError.aggregateTooLarge`.
  func add(_ result: StatementResult, to groups: GroupTable) throws -> Int {
    if !isGrouped {
      let kinds = wanted.sources.map(\.kind)
      for row in 0..<result.rowCount {
        let reference = RowReference(
          rawValue: UInt64(bitPattern: result.integer(row, kinds.count))
        )
        try groups.add(
          kinds.enumerated().map { result.value(row, $0.offset, as: $0.element) },
          of: reference
        )
      }
      return result.rowCount
    }
    var rowCount = 0
    for row in 0..<result.rowCount {
      let count = Int(result.integer(row, 0))
      rowCount += count
      let key = wanted.keys.enumerated().map { place, key in
        KeyValue(result.value(row, place + 1, as: key.kind))
      }
      let group = groups.findOrAppendGroup(of: key)
      var place = wanted.keys.count + 1
      for (measure, accumulator) in zip(wanted.measures, groups.accumulators) {
        place += measure.add(result, row, place, rowCount: count, to: accumulator, group)
      }
    }
    return rowCount
  }
}

extension AggregateRequest.Measure {
  /// The columns of a result that tell the measure of a value, beside the number of rows; `nil` if the server would
  /// measure otherwise than Swift.
  fileprivate func columns(of value: ExpressionSQL.MeasuredValue?) -> [String]? {
    guard let value else { return [] }
    let (sql, comparable) = (value.sql, value.comparable)
    switch (function, kind) {
    case (.count, _): return ["count(\(sql))"]
    case (.sum, .integer): return ["sum(\(sql))::text", "count(\(sql))"]
    case (.sum, .unsigned):
      // The column has the bits of the number.
      let number = "CASE WHEN \(sql) < 0 THEN \(sql) + 18446744073709551616 ELSE \(sql) END"
      return ["sum(\(number))::text", "count(\(sql))"]
    case (.minimum, .integer), (.minimum, .date), (.minimum, .text): return ["min(\(comparable))"]
    case (.maximum, .integer), (.maximum, .date), (.maximum, .text): return ["max(\(comparable))"]
    case (.minimum, .unsigned): return ["min(\(comparable)) # \(Int64.min)"]
    case (.maximum, .unsigned): return ["max(\(comparable)) # \(Int64.min)"]
    // To the server NaN is the greatest number.
    case (.minimum, .double), (.minimum, .float): return ["min(\(sql))"]
    case (.maximum, .double), (.maximum, .float):
      return ["COALESCE(max(\(sql)) FILTER (WHERE \(sql) <> 'NaN'), max(\(sql)))"]
    default: return nil
    }
  }

  /// Adds what the server has measured of a group.
  ///
  /// - Returns: The number of the result's columns that were read.
  fileprivate func add(
    _ result: StatementResult,
    _ row: Int,
    _ column: Int,
    rowCount: Int,
    to accumulator: Accumulator,
    _ group: Int
  ) -> Int {
    switch accumulator {
    case let counts as CountAccumulator:
      counts.counts[group] += value == nil ? rowCount : Int(result.integer(row, column))
      return value == nil ? 0 : 1
    case let sums as IntegerSumAccumulator:
      // Null is the sum of nothing.
      sums.sums[group] += result.isNull(row, column) ? 0 : Int128(result.text(row, column)) ?? 0
      sums.counts[group] += Int(result.integer(row, column + 1))
      return 2
    default:
      let extreme = result.value(row, column, as: kind ?? .integer)
      if !extreme.isNull { accumulator.add(extreme, to: group) }
      return 1
    }
  }
}

extension StatementResult {
  /// A value of a kind.
  func value(_ row: Int, _ column: Int, as kind: QueryKind) -> QueryValue {
    if isNull(row, column) { return .null }
    return switch kind {
    case .bool: .bool(bool(row, column))
    case .integer, .unsigned, .identifier: .integer(integer(row, column))
    case .double, .float: .double(double(row, column))
    case .date: .double(PostgresDate.seconds(of: integer(row, column)))
    case .uuid: .uuid(uuid(row, column))
    case .text, .url: .text(text(row, column))
    case .bytes: .bytes(Data(bytes(row, column)))
    }
  }

  private func uuid(_ row: Int, _ column: Int) -> QueryUUID {
    let bytes = bytes(row, column).bytes
    return QueryUUID(bytes.load(UInt64.self, at: 0), bytes.load(UInt64.self, at: 8))
  }
}
#endif
