import LogEngine
import ModelRuntime
import RowFormat

/// The part of a predicate on the rows of one table that columns answer.
///
/// A predicate is split in two: the part that whole columns answer, at some nanoseconds a row, and the rest, which
/// is asked of the rows that are left. Rows that the columns' part drops do not match; the rows it keeps all match
/// if it ``isExact``, and otherwise each has still to be tested by the whole predicate.
struct ColumnPlan {
  /// The columns that are read, by their numbers in the catalogue.
  let columns: [UInt16]
  let test: ColumnTest
  /// Whether the rows that pass are the rows that match.
  let isExact: Bool
  /// The conditions by which whole blocks are skipped.
  let zones: [ZoneCondition]

  /// - Parameters:
  ///   - expression: The predicate; `nil` if all rows are wanted.
  ///   - table: The table.
  ///   - resolver: Answers about other rows.
  init(_ expression: QueryExpression?, of table: EntityTable, _ resolver: any RowResolver) {
    guard let expression else {
      columns = []
      test = .all
      isExact = true
      zones = []
      return
    }
    var planner = ColumnPlanner(table, resolver)
    (test, isExact) = planner.bound(expression, at: .root)
    columns = planner.columns.map { table.columnNumbers[$0] }
    zones = test.zones
  }

  /// Whether the columns say anything.
  var tells: Bool { !test.isAll }
}
