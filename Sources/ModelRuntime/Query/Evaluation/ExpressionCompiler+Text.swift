import Foundation
import RowFormat

extension ExpressionCompiler {
  /// Makes the test of two texts.
  func textTest(
    _ question: QueryExpression.TextTest,
    _ text: QueryExpression,
    _ other: QueryExpression
  ) -> RowTest {
    if case .constant(.text(let constant)) = other, case .column(let path, let reading) = text,
      reading.kind == .text, reading.enumeration == nil
    {
      return columnTest(question, path, constant, reading)
    }
    let text = value(text)
    let other = value(other)
    return {
      guard case .text(let text) = try text($0, $1, $2),
        case .text(let other) = try other($0, $1, $2)
      else { return false }
      return question.holds(text, other)
    }
  }

  private func columnTest(
    _ question: QueryExpression.TextTest,
    _ path: RowPath,
    _ constant: String,
    _ reading: ColumnReading
  ) -> RowTest {
    let test = question.test(of: constant)
    return along(
      path,
      missing: {
        switch $0 {
        case .null: false
        case .neutral: !reading.isOptional && question.holds("", constant)
        case .failure: throw QueryFailure.unwrappedNil
        }
      },
      { descriptor in
        guard let slot = ColumnSlot(reading, descriptor) else { return failing() }
        let layout = slot.layout
        let column = slot.column
        if reading.isOptional {
          return { row, _, _ in
            !slot.isNull(in: row) && test(row.extracting(layout.range(column, in: row)))
          }
        }
        return { row, _, _ in test(row.extracting(layout.range(column, in: row))) }
      }
    )
  }

  /// The reader of the order of two texts.
  func textComparison(
    _ comparison: QueryExpression.TextComparison,
    _ lhs: QueryExpression,
    _ rhs: QueryExpression
  ) -> RowReader<QueryValue> {
    let lhs = value(lhs)
    let rhs = value(rhs)
    return {
      guard case .text(let lhs) = try lhs($0, $1, $2), case .text(let rhs) = try rhs($0, $1, $2)
      else { return .null }
      return .integer(Int64(comparison.compare(lhs, rhs).rawValue))
    }
  }
}

extension QueryExpression.TextTest {
  func holds(_ text: String, _ other: String) -> Bool {
    switch self {
    case .contains: text.containsCharacters(of: other)
    case .startsWith: text.starts(with: other)
    case .localizedStandardContains: text.localizedStandardContains(other)
    case .equalsIgnoringCase: text.caseInsensitiveCompare(other) == .orderedSame
    }
  }
}

extension QueryExpression.TextComparison {
  func compare(_ lhs: String, _ rhs: String) -> ComparisonResult {
    switch self {
    case .caseInsensitive: lhs.caseInsensitiveCompare(rhs)
    case .localized: lhs.localizedCompare(rhs)
    }
  }
}
