import Foundation
import RowFormat

extension ExpressionCompiler {
  /// The test that a question about two texts is answered with yes.
  func textTest(
    _ question: QueryExpression.TextTest,
    _ text: QueryExpression,
    _ other: QueryExpression
  ) -> RowTest {
    if case .constant(.text(let constant)) = other, case .column(let path, let reading) = text,
      reading.kind == .text, !reading.isOptional, reading.enumeration == nil
    {
      return columnTest(question, path, TextPattern(constant), reading)
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
    _ pattern: TextPattern,
    _ reading: ColumnReading
  ) -> RowTest {
    along(
      path,
      missing: {
        switch $0 {
        case .null: false
        case .neutral: question.holds("", pattern.text)
        case .failure: throw QueryFailure.unwrappedNil
        }
      },
      { descriptor in
        guard let slot = ColumnSlot(reading, descriptor) else { return failing() }
        let layout = slot.layout
        let column = slot.column
        return switch question {
        case .contains:
          { row, _, _ in pattern.isContained(in: layout.range(column, in: row), of: row) }
        case .startsWith:
          { row, _, _ in pattern.isPrefix(of: layout.range(column, in: row), of: row) }
        case .localizedStandardContains:
          foldedTest(question, pattern, slot) { pattern.isContainedFolded(in: $0, of: $1) }
        case .equalsIgnoringCase:
          foldedTest(question, pattern, slot) { pattern.equalsFolded($0, of: $1) }
        }
      }
    )
  }

  /// The test of a question that disregards case, by bytes if both texts are ASCII.
  private func foldedTest(
    _ question: QueryExpression.TextTest,
    _ pattern: TextPattern,
    _ slot: ColumnSlot,
    _ bytesTest: @escaping (Range<Int>, RawSpan) -> Bool?
  ) -> RowTest {
    let foldsBytes = pattern.isPrintable && TextPattern.localeFoldsASCII
    return { row, _, _ in
      let range = slot.layout.range(slot.column, in: row)
      if foldsBytes, let answer = bytesTest(range, row) { return answer }
      return question.holds(pattern.string(range, of: row), pattern.text)
    }
  }

  /// The reader of how two texts compare.
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
