import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// The first rows of a sort, of each table a superset of them: found by an index in that order, or by columns.
///
/// The result holds all rows that can be among the first, whatever the other sort keys say.
struct FirstRows {
  let ordering: RowOrdering
  /// Number of rows that are wanted, including those that an offset skips.
  let wanted: Int
  private let key: SortKey

  /// - Returns: `nil` for a sort without limit, or whose first key has no order that eight bytes can have.
  init?(_ ordering: RowOrdering, end: Int?) {
    guard let end, end > 0, let key = SortKey(ordering) else { return nil }
    self.ordering = ordering
    self.key = key
    wanted = end
  }

  /// Scans the columns of a predicate and of the first sort key.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - plan: The part of the predicate that columns can test.
  ///   - filter: The predicate.
  ///   - excluded: Rows that are left out.
  ///   - view: The state to look at.
  ///   - tally: Counts what is read.
  /// - Returns: The keys of rows that can be among the first, ascending; `nil` if there are too many.
  /// - Throws: ``StorageError`` for what is damaged, or what testing a row throws.
  func scan(
    _ table: EntityTable,
    _ plan: ColumnPlan,
    _ filter: RowFilter?,
    excluding excluded: ExcludedRows.Keys?,
    in view: ReadView,
    _ tally: TableTally?
  ) throws -> [UInt64]? {
    let rowCount = view.rowCount(of: table.number)
    guard wanted <= rowCount / 8, let column = key.column(of: table) else { return nil }
    var scan = FirstRowsScan(
      column,
      wanted: wanted,
      budget: rowCount / 8,
      excluding: excluded,
      plan.isExact ? nil : filter.map { test(of: table, $0, in: view, tally) }
    )
    let zone = ZoneBar(column)
    let position = plan.columns.count
    if plan.test.isNone { return [] }
    try view.scanColumns(
      table.number,
      plan.columns + [column.number],
      where: plan.zones,
      tally: tally?.columns
    ) { batch in
      if let bar = scan.bar, zone.leavesOut(batch, bar) { return .proceed }
      var rows = batch.rows
      try plan.test.narrow(&rows, of: batch)
      if !rows.isEmpty { try scan.take(rows, of: batch, at: position) }
      return scan.isGivenUp ? .stop : .proceed
    }
    return scan.isGivenUp ? nil : scan.keys()
  }

  /// The test of single rows, by their keys.
  private func test(
    of table: EntityTable,
    _ filter: RowFilter,
    in view: ReadView,
    _ tally: TableTally?
  ) -> (UInt64) throws -> Bool {
    { key in
      let reference = RowReference(table: table.number, key: key)
      return try view.withRow(reference) { row, layout in
        tally?.readRow(row.byteCount)
        return try table.withCurrentRow(row, layout: layout, key: key) {
          try filter.matches($0, reference)
        }
      } ?? false
    }
  }
}

/// The first key of a sort, where it is an attribute with an order of its own.
private struct SortKey {
  private let position: Int
  private let owner: ModelDescriptor
  private let kind: QueryKind
  private let isOptional: Bool
  private let isReversed: Bool
  private let isOnly: Bool

  init?(_ ordering: RowOrdering) {
    guard let first = ordering.keys.first, !first.hasTextOrder,
      case .column(let path, let reading) = first.source, path.isTestedRow,
      SortPrefix.isOrdered(reading.kind), reading.enumeration == nil
    else { return nil }
    position = reading.column
    owner = path.descriptor
    kind = reading.kind
    isOptional = reading.isOptional
    isReversed = first.order == .reverse
    isOnly = ordering.keys.count == 1
  }

  func column(of table: EntityTable) -> RankedColumn? {
    guard table.descriptor.isKind(of: owner),
      let number = table.numberOfWholeColumn(at: position)
    else { return nil }
    func prefix(_ row: [UInt8]) -> UInt64 {
      unsafe row.withUnsafeBytes {
        unsafe SortPrefix.prefix(
          of: position,
          kind,
          isOptional: isOptional,
          in: $0.bytes,
          table.layout
        )
      }
    }
    return RankedColumn(
      number: number,
      kind: kind,
      isOptional: isOptional,
      isReversed: isReversed,
      decides: isOnly && isDecidedByPrefix,
      prefixIfNull: prefix(table.rowOfNulls()),
      prefixIfLacking: prefix(table.rowOfLacking())
    )
  }

  /// Whether values that are not equal have different prefixes, and so has null.
  ///
  /// But for the least integer, which has that of null, and is looked for.
  private var isDecidedByPrefix: Bool {
    switch kind {
    case .integer, .double, .float, .date: true
    case .bool, .unsigned: !isOptional
    default: false
    }
  }
}

/// A column by which the rows of a table are ranked.
struct RankedColumn {
  /// In the catalogue.
  let number: UInt16
  let kind: QueryKind
  let isOptional: Bool
  let isReversed: Bool
  /// Whether rows of equal rank are in the order of their keys.
  let decides: Bool
  let prefixIfNull: UInt64
  let prefixIfLacking: UInt64

  /// A number that never falls from a row to one that comes later in the sort.
  @inline(__always)
  func rank(_ prefix: UInt64) -> UInt64 { isReversed ? ~prefix : prefix }
}

/// Says of a block, by its bounds, that none of its rows can be among the first any more.
private struct ZoneBar {
  private let column: RankedColumn

  init(_ column: RankedColumn) { self.column = column }

  func leavesOut(_ batch: borrowing ColumnBatch, _ bar: UInt64) -> Bool {
    let prefix = column.rank(bar)
    let condition: ZoneCondition
    switch column.kind {
    case .integer:
      let value = Int64(bitPattern: prefix) ^ .min
      let range = column.isReversed ? value ... .max : .min...value
      condition = .integer(column: column.number, range)
    case .double, .float, .date:
      let value = SortPrefix.double(prefix)
      // The prefix of null is that of no number.
      if value.isNaN { return false }
      let range = column.isReversed ? value ... .infinity : -.infinity...value
      condition = .double(column: column.number, range)
    // The bounds of the others are in another order than their values.
    default: return false
    }
    // Null, a value that is not a number, and a missing column have places in the order, too.
    return !batch.mayHold(condition) && !batch.mayHold(.null(column: column.number))
      && !batch.mayHold(.notANumber(column: column.number))
  }
}
