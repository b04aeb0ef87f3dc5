import LogEngine
import ModelRuntime
import RowFormat

/// Finds the part of a predicate that columns can answer.
///
/// Its cases follow those of the compiler of tests of rows, one by one. For rows without a value it has no rules of
/// its own: that compiler is asked, about a row of nulls and a row of defaults.
struct ColumnPlanner {
  /// The columns that are asked about, by their positions in rows.
  private(set) var columns: [Int] = []
  private let table: EntityTable
  private let resolver: any RowResolver
  private let rowOfNulls: [UInt8]
  /// The values that complete rows from before a column existed.
  private let rowOfLacking: [UInt8]

  /// The place of a part in a predicate.
  enum Place {
    /// All of it must hold: a part that fails lets no row match, as one that is false.
    case root
    case within
  }

  init(_ table: EntityTable, _ resolver: any RowResolver) {
    self.table = table
    self.resolver = resolver
    rowOfNulls = table.rowOfNulls()
    rowOfLacking = table.rowOfLacking()
  }

  /// A test that every row passes that matches.
  ///
  /// - Returns: The test, and whether only rows that match pass it.
  mutating func bound(
    _ expression: QueryExpression,
    at place: Place
  ) -> (test: ColumnTest, isExact: Bool) {
    if let test = exact(expression) { return (test, true) }
    switch expression {
    case .and(let lhs, let rhs):
      let lhs = bound(lhs, at: place)
      let rhs = bound(rhs, at: place)
      return (lhs.test.and(rhs.test), lhs.isExact && rhs.isExact)
    case .or(let lhs, let rhs):
      // If one side fails on a row, the answer of the predicate depends on which side is asked first.
      return (bound(lhs, at: .within).test.or(bound(rhs, at: .within).test), false)
    case .comparison(let relation, .unwrapped(let value), let constant, let kind):
      return unwrapped(value, .comparison(relation, value, constant, kind), at: place)
    case .comparison(let relation, let constant, .unwrapped(let value), let kind):
      return unwrapped(value, .comparison(relation, constant, value, kind), at: place)
    case .text(let question, .unwrapped(let value), let constant):
      return unwrapped(value, .text(question, value, constant), at: place)
    case .coalesce(let test, .constant(.bool(false))),
      .comparison(.equal, let test, .constant(.bool(true)), _):
      return (bound(test, at: .within).test, false)
    case .ifPresent(_, let test): return (bound(test, at: .within).test, false)
    default: return (.all, false)
    }
  }

  /// The test of a value that must not be null.
  private mutating func unwrapped(
    _ value: QueryExpression,
    _ expression: QueryExpression,
    at place: Place
  ) -> (test: ColumnTest, isExact: Bool) {
    guard let isNull = nullTest(value), let test = exact(expression) else { return (.all, false) }
    return (isNull.negated.and(test), place == .root)
  }

  /// A test that agrees with the predicate on every row, and never fails; `nil` if columns do not tell.
  ///
  /// - Parameters:
  ///   - expression: The predicate, or a part of it.
  ///   - default: The result for null.
  /// - Returns: The test.
  mutating func exact(
    _ expression: QueryExpression,
    default: Bool = false
  ) -> ColumnTest? {
    switch expression {
    case .constant(.bool(let value)): return .constant(value)
    case .constant: return .constant(`default`)
    case .not(let operand): return exact(operand, default: !`default`)?.negated
    case .and(let lhs, let rhs):
      guard let lhs = exact(lhs), let rhs = exact(rhs) else { return nil }
      return lhs.and(rhs)
    case .or(let lhs, let rhs):
      guard let lhs = exact(lhs), let rhs = exact(rhs) else { return nil }
      return lhs.or(rhs)
    case .conditional(let condition, let then, let otherwise):
      guard let condition = exact(condition), let then = exact(then, default: `default`),
        let otherwise = exact(otherwise, default: `default`)
      else { return nil }
      return condition.and(then).or(condition.negated.and(otherwise))
    case .coalesce(let value, .constant(.bool(let other))): return exact(value, default: other)
    case .ifPresent(let value, let then):
      guard let isNull = nullTest(value) else { return nil }
      // For a class that the rows do not belong to, the columns would be read with wrong meanings.
      if isNull.isAll { return .constant(`default`) }
      guard let then = exact(then, default: `default`) else { return nil }
      return `default` ? isNull.or(then) : isNull.negated.and(then)
    case .isNull(let value): return nullTest(value)
    case .isKind(let path, let descriptor) where path.isTestedRow:
      return .constant(table.descriptor.isKind(of: descriptor))
    case .comparison(.equal, let test, .constant(.bool(let wanted)), _) where test.isNeverNull:
      let test = exact(test)
      return wanted ? test : test?.negated
    case .comparison(let relation, let value, .constant(let constant), _):
      return comparison(relation, value, constant, expression)
    case .comparison(let relation, .constant(let constant), let value, _):
      return comparison(relation.reversed, value, constant, expression)
    case .membership(.column(let path, let reading), let constants):
      guard let condition = ValueCondition(reading, isIn: constants) else { return nil }
      return column(path, reading, condition, expression)
    case .text(let question, .column(let path, let reading), .constant(.text(let text))):
      guard let condition = ValueCondition(question, reading, text) else { return nil }
      return column(path, reading, condition, expression)
    case .text(
      let question,
      .coalesce(.column(let path, let reading), .constant),
      .constant(.text(let text))
    ) where reading.enumeration == nil:
      // The second text only matters if the first is null.
      guard let condition = ValueCondition(question, reading, text) else { return nil }
      return column(path, reading, condition, expression)
    case .column(let path, let reading) where reading.kind == .bool && reading.enumeration == nil:
      let whole: QueryExpression =
        `default` ? .coalesce(expression, .constant(.bool(true))) : expression
      return column(path, reading, .bool(true), whole)
    default: return nil
    }
  }

  private mutating func nullTest(_ value: QueryExpression) -> ColumnTest? {
    switch value {
    case .constant(.null): return .all
    case .constant: return ColumnTest.none
    case .column(let path, let reading) where reading.enumeration == nil:
      if !reading.isOptional, path.isTestedRow { return ColumnTest.none }
      return column(path, reading, .nothing, .isNull(value))
    case .castRow(let path, let descriptor) where path.isTestedRow:
      return .constant(!table.descriptor.isKind(of: descriptor))
    case .row(let path), .identifier(let path):
      return path.isTestedRow ? ColumnTest.none : nil
    default: return nil
    }
  }

  private mutating func comparison(
    _ relation: QueryExpression.Relation,
    _ value: QueryExpression,
    _ constant: QueryValue,
    _ expression: QueryExpression
  ) -> ColumnTest? {
    switch value {
    case .column(let path, let reading):
      guard let condition = ValueCondition(relation, reading, constant) else { return nil }
      return column(path, reading, condition, isNegated: relation == .notEqual, expression)
    case .coalesce(.column(let path, let reading), .constant) where reading.enumeration == nil:
      // The second value only matters if the first is null.
      guard let condition = ValueCondition(relation, reading, constant) else { return nil }
      return column(path, reading, condition, isNegated: relation == .notEqual, expression)
    default: return nil
    }
  }

  /// The test of one column.
  ///
  /// - Parameters:
  ///   - path: Leads to the row that is tested, or there is no test.
  ///   - reading: The column.
  ///   - values: The test of the values.
  ///   - isNegated: Whether the opposite is.
  ///   - expression: The same as a predicate, which decides about rows without a value.
  /// - Returns: The test; `nil` for a column of another row, or of another class.
  private mutating func column(
    _ path: RowPath,
    _ reading: ColumnReading,
    _ values: ValueCondition,
    isNegated: Bool = false,
    _ expression: QueryExpression
  ) -> ColumnTest? {
    guard path.isTestedRow, table.descriptor.isKind(of: path.descriptor),
      let number = table.numberOfWholeColumn(at: reading.column)
    else { return nil }
    let filter = RowFilter(expression, descriptor: table.descriptor, resolver: resolver)
    guard let ifNull = filter.answer(rowOfNulls), let ifLacking = filter.answer(rowOfLacking)
    else { return nil }
    return .column(
      ColumnCondition(
        position: position(of: reading.column),
        number: number,
        values: values,
        isNegated: isNegated,
        ifNull: ifNull,
        ifLacking: ifLacking
      )
    )
  }

  /// The position of a column among the scanned ones; it is added if it is not one of them.
  private mutating func position(of column: Int) -> Int {
    if let known = columns.firstIndex(of: column) { return known }
    columns.append(column)
    return columns.count - 1
  }
}

extension RowFilter {
  /// Whether a row that is in no store matches.
  fileprivate func answer(_ row: [UInt8]) -> Bool? {
    try? unsafe row.withUnsafeBytes { try unsafe matches($0.bytes, .none) }
  }
}

extension QueryExpression {
  /// Whether the expression is true or false of every row.
  fileprivate var isNeverNull: Bool {
    switch self {
    case .comparison, .membership, .isNull, .isKind, .not, .and, .or, .text, .exists: true
    default: false
    }
  }
}
