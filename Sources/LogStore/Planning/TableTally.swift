import LogEngine
import ModelRuntime
import RowFormat

/// Counts what a fetch reads of one table, for its plan; there is one only where a plan was requested.
final class TableTally {
  /// The tally of column scans.
  let columns = ScanTally()
  private let table: EntityTable
  private let rowCount: Int
  private var path = QueryPlan.TableAccess.Path.scan
  private var candidateCount: Int?
  private var readRowCount = 0
  private var readRowByteCount = 0
  private var matchCount = 0

  init(_ table: EntityTable, rowCount: Int) {
    self.table = table
    self.rowCount = rowCount
  }

  /// Records the access path.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - count: The number of rows it named; `nil` if all are examined.
  func choose(_ path: QueryPlan.TableAccess.Path, candidates count: Int? = nil) {
    self.path = path
    candidateCount = count
  }

  func choose(_ plan: CandidatePlan, candidates count: Int) {
    if case .referring(let property, _) = plan {
      choose(.references(property.name), candidates: count)
    } else {
      choose(.identifiers, candidates: count)
    }
  }

  func choose(_ found: TableIndexes.Found) {
    choose(TableTally.path(found, of: table), candidates: found.count)
  }

  /// The path along an index.
  static func path(
    _ found: TableIndexes.Found,
    of table: EntityTable
  ) -> QueryPlan.TableAccess.Path {
    .index(found.use.columns.map { table.name(at: $0.number) })
  }

  /// Records that the rows are found by the words in some columns.
  func choose(words columns: Set<Int>, candidates count: Int) {
    choose(.words(columns.sorted().map(name(at:))), candidates: count)
  }

  func choose(_ walk: IndexWalk, candidates count: Int) {
    choose(.indexOrder(names(of: walk.use.columns)), candidates: count)
  }

  func choose(_ plan: ColumnPlan) { choose(.columns(names(of: plan.columns))) }

  func choose(_ plan: ColumnPlan, first: FirstRows, candidates count: Int) {
    let key = first.ordering.keys.first.flatMap { key -> String? in
      guard case .column(_, let reading) = key.source else { return nil }
      return name(at: reading.column)
    }
    let names = names(of: plan.columns)
    choose(
      .firstByColumns(names + [key].compactMap { $0 }.filter { !names.contains($0) }),
      candidates: count
    )
  }

  func readRow(_ byteCount: Int) {
    readRowCount += 1
    readRowByteCount += byteCount
  }

  func match(_ count: Int = 1) { matchCount += count }

  private func names(of columns: [IndexColumn]) -> [String] { columns.map { name(at: $0.number) } }

  func names(of columns: [UInt16]) -> [String] {
    columns.map { number in
      table.columnNumbers.firstIndex(of: number).map(name(at:)) ?? "\(number)"
    }
  }

  private func name(at position: Int) -> String { table.name(at: position) }

  /// Makes a tally of nothing, for what another thread reads of the table.
  func makeAnother() -> TableTally { TableTally(table, rowCount: rowCount) }

  /// Adds what another thread has read.
  func add(_ other: TableTally) {
    columns.add(other.columns)
    readRowCount += other.readRowCount
    readRowByteCount += other.readRowByteCount
    matchCount += other.matchCount
  }

  /// The counts, as a part of the plan.
  var access: QueryPlan.TableAccess {
    QueryPlan.TableAccess(
      entity: table.descriptor.entityName,
      path: path,
      rowCount: rowCount,
      candidateCount: candidateCount,
      readRowCount: readRowCount,
      readRowByteCount: readRowByteCount,
      columnRowCount: columns.rowCount,
      blockCount: columns.blockCount,
      prunedBlockCount: columns.prunedBlockCount,
      columnByteCount: columns.byteCount,
      matchCount: matchCount
    )
  }
}

extension QueryPlan.TableAccess {
  /// A table of which no row was read.
  init(_ path: Path, of table: EntityTable, rowCount: Int, matching matchCount: Int = 0) {
    self.init(
      entity: table.descriptor.entityName,
      path: path,
      rowCount: rowCount,
      matchCount: matchCount
    )
  }
}

extension EntityTable {
  /// The name of the property at a place.
  fileprivate func name(at position: Int) -> String {
    descriptor.properties.first { $0.ordinal == position }?.name ?? "(\(position))"
  }
}
