import RowFormat

extension ColumnSlot {
  /// Makes the test of an integer column: every order is a range, and a range is one comparison.
  ///
  /// - Parameters:
  ///   - relation: The comparison of the column with the constant.
  ///   - constant: The constant, by its bits.
  ///   - mask: Bits to flip first: the sign bit turns the order of unsigned integers into that of signed ones.
  /// - Returns: The test, for rows in which the column is not null.
  func test(
    _ relation: QueryExpression.Relation,
    _ constant: Int64,
    flipping mask: Int64
  ) -> RowTest {
    let value = constant ^ mask
    let range: ClosedRange<Int64>? =
      switch relation {
      case .equal, .notEqual: value...value
      case .lessOrEqual: .min...value
      case .greaterOrEqual: value ... .max
      case .less: value == .min ? nil : .min...(value - 1)
      case .greater: value == .max ? nil : (value + 1) ... .max
      }
    guard let range else { return { _, _, _ in false } }
    let lower = range.lowerBound
    let width = UInt64(bitPattern: range.upperBound &- lower)
    let isWanted = relation != .notEqual
    let offset = offset
    return { row, _, _ in
      let distance = UInt64(bitPattern: (row.load(Int64.self, at: offset) ^ mask) &- lower)
      return (distance <= width) == isWanted
    }
  }

  /// Makes the test of a column of doubles.
  func test(_ relation: QueryExpression.Relation, _ constant: Double) -> RowTest {
    switch relation {
    case .equal: { row, _, _ in double(in: row) == constant }
    case .notEqual: { row, _, _ in double(in: row) != constant }
    case .less: { row, _, _ in double(in: row) < constant }
    case .lessOrEqual: { row, _, _ in double(in: row) <= constant }
    case .greater: { row, _, _ in double(in: row) > constant }
    case .greaterOrEqual: { row, _, _ in double(in: row) >= constant }
    }
  }

  /// Makes the test of a column of text.
  func test(_ relation: QueryExpression.Relation, _ pattern: TextPattern) -> RowTest {
    switch relation {
    case .equal: { row, _, _ in pattern.equals(layout.range(column, in: row), of: row) }
    case .notEqual: { row, _, _ in !pattern.equals(layout.range(column, in: row), of: row) }
    default:
      { row, _, _ in
        let order = pattern.order(of: layout.range(column, in: row), in: row)
        return relation.holds(order, 0)
      }
    }
  }
}
