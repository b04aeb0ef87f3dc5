import Foundation
import RowFormat

extension QueryExpression {
  /// Whether another expression has the same answer for every row.
  ///
  /// With the first key of a sort, only the rows matter that come, in that order, no later than one that passes: all of them keep
  /// within the bound on that key that this one keeps, so the bound may be any. The condition "due by now" of one fetch thus equals
  /// that of the next one.
  ///
  /// - Returns: `false` also where that cannot be told: of values that are computed, or are not the row's own.
  /// - Complexity: O(size of the expression).
  func asksTheSame(as other: QueryExpression, upToRowBy key: RowOrdering.Key? = nil) -> Bool {
    switch (self, other) {
    case (.constant(let value), .constant(let otherValue)): value == otherValue
    case (.column(let path, let reading), .column(let otherPath, let otherReading)):
      path.isSameRow(as: otherPath) && reading.isSame(as: otherReading)
    case (.membership(let value, let constants), .membership(let otherValue, let otherConstants)):
      value.asksTheSame(as: otherValue) && constants == otherConstants
    case (.isNull(let value), .isNull(let otherValue)), (.not(let value), .not(let otherValue)),
      (.unwrapped(let value), .unwrapped(let otherValue)):
      value.asksTheSame(as: otherValue)
    case (.and(let lhs, let rhs), .and(let otherLhs, let otherRhs)):
      lhs.asksTheSame(as: otherLhs, upToRowBy: key) && rhs.asksTheSame(as: otherRhs, upToRowBy: key)
    case (.or(let lhs, let rhs), .or(let otherLhs, let otherRhs)),
      (.coalesce(let lhs, let rhs), .coalesce(let otherLhs, let otherRhs)),
      (.ifPresent(let lhs, let rhs), .ifPresent(let otherLhs, let otherRhs)):
      lhs.asksTheSame(as: otherLhs) && rhs.asksTheSame(as: otherRhs)
    case (.text(let test, let lhs, let rhs), .text(let otherTest, let otherLhs, let otherRhs)):
      test == otherTest && lhs.asksTheSame(as: otherLhs) && rhs.asksTheSame(as: otherRhs)
    case (
      .comparison(let relation, let lhs, let rhs, let kind),
      .comparison(let otherRelation, let otherLhs, let otherRhs, let otherKind)
    ):
      relation == otherRelation && kind == otherKind
        && (lhs.asksTheSame(as: otherLhs) && rhs.asksTheSame(as: otherRhs)
          || key.map { boundsEnd(of: $0) && other.boundsEnd(of: $0) } ?? false)
    default: false
    }
  }

  /// Whether the expression compares a sort key with a constant that no row of the first ones, in its order, is behind.
  private func boundsEnd(of key: RowOrdering.Key) -> Bool {
    keyBound(on: key)?.isEnd(in: key.order) ?? false
  }
}

extension RowPath {
  /// Whether the path leads nowhere else than to the tested row.
  var isOfTestedRow: Bool { level == 0 && steps.isEmpty }

  /// Whether both paths lead to the tested row, seen as one class.
  func isSameRow(as other: RowPath) -> Bool {
    isOfTestedRow && other.isOfTestedRow && descriptor === other.descriptor
  }
}

extension ColumnReading {
  /// Whether another reading gives the same values.
  ///
  /// The raw values of an enumeration are those of the property's type.
  func isSame(as other: ColumnReading) -> Bool {
    column == other.column && kind == other.kind && isOptional == other.isOptional
      && absent == other.absent && (enumeration == nil) == (other.enumeration == nil)
  }
}
