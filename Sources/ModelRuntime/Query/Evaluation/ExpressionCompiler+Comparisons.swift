import RowFormat

extension ExpressionCompiler {
  /// The test whether two values are in a relation.
  func comparisonTest(
    _ relation: QueryExpression.Relation,
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    _ kind: QueryKind
  ) -> RowTest {
    switch (lhs, rhs) {
    case (.column(let path, let reading), .constant(let constant)):
      return columnTest(relation, path, reading, constant, default: nil)
    case (.constant(let constant), .column(let path, let reading)):
      return columnTest(relation.mirrored, path, reading, constant, default: nil)
    case (.identifier, .identifier), (.identifier, .constant), (.constant, .identifier):
      let lhs = name(lhs)
      let rhs = name(rhs)
      let isWanted = relation != .notEqual
      return { try (lhs($0, $1, $2) == rhs($0, $1, $2)) == isWanted }
    default: break
    }
    switch kind {
    case .integer:
      let lhs = integer(lhs)
      let rhs = integer(rhs)
      return { try relation.holds(lhs($0, $1, $2), rhs($0, $1, $2)) }
    case .double, .float, .date:
      let lhs = double(lhs)
      let rhs = double(rhs)
      return { try relation.holds(lhs($0, $1, $2), rhs($0, $1, $2)) }
    default:
      let lhs = value(lhs)
      let rhs = value(rhs)
      return { try relation.holds(lhs($0, $1, $2), rhs($0, $1, $2), as: kind) }
    }
  }

  /// The reader of an expression's name of a row.
  private func name(_ expression: QueryExpression) -> RowReader<RowReference> {
    switch expression {
    case .identifier(let path): return referenceReader(path)
    case .constant(let constant):
      guard case .reference(let reference) = resolved(constant), reference != .none else {
        // Different from a reference to nothing, which is nil.
        return { _, _, _ in RowReference(rawValue: .max) }
      }
      return { _, _, _ in reference }
    default: return failing()
    }
  }

  /// The test whether an attribute and a constant are in a relation.
  ///
  /// Null is compared like any value, unless `default` sets its result.
  func columnTest(
    _ relation: QueryExpression.Relation,
    _ path: RowPath,
    _ reading: ColumnReading,
    _ constant: QueryValue,
    default: Bool?
  ) -> RowTest {
    let ifNull = `default` ?? relation.holds(.null, constant, as: reading.kind)
    if path.isHere(level) {
      return columnTest(relation, levels[level], reading, constant, ifNull)
    }
    let ifAbsent =
      reading.absent.isNull ? ifNull : relation.holds(reading.absent, constant, as: reading.kind)
    return along(
      path,
      missing: {
        switch $0 {
        case .null: ifNull
        case .neutral: ifAbsent
        case .failure: throw QueryFailure.unwrappedNil
        }
      },
      { columnTest(relation, $0, reading, constant, ifNull) }
    )
  }

  /// The same for a column of the tested row.
  private func columnTest(
    _ relation: QueryExpression.Relation,
    _ descriptor: ModelDescriptor,
    _ reading: ColumnReading,
    _ constant: QueryValue,
    _ ifNull: Bool
  ) -> RowTest {
    guard let slot = ColumnSlot(reading, descriptor) else { return failing() }
    let test: RowTest
    switch (reading.kind, constant) {
    case _ where !reading.isDecidedByBytes(relation, constant):
      // Not by a path: the row at hand may be another than the one that is tested.
      let value = columnReader(reading, descriptor)
      return { try relation.holds(value($0, $1, $2), constant, as: reading.kind) }
    case (.integer, .integer(let value)): test = slot.test(relation, value, flipping: 0)
    case (.unsigned, .integer(let value)): test = slot.test(relation, value, flipping: .min)
    case (.double, .double(let value)), (.float, .double(let value)), (.date, .double(let value)):
      test = slot.test(relation, value)
    case (.bool, .bool(let value)):
      let wanted: UInt8 = (relation == .notEqual) == value ? 0 : 1
      test = { row, _, _ in row.load(UInt8.self, at: slot.offset) == wanted }
    case (.text, .text(let value)): test = slot.test(relation, TextPattern(value))
    default:
      let kind = reading.kind
      let absent = reading.absent
      test = { row, _, _ in
        relation.holds(
          slot.isNull(in: row) ? absent : slot.value(kind, in: row),
          constant,
          as: kind
        )
      }
    }
    if reading.isOptional { return { try slot.isNull(in: $0) ? ifNull : test($0, $1, $2) } }
    if reading.isNeutralWhenZero { return test }
    let ifAbsent = relation.holds(reading.absent, constant, as: reading.kind)
    return { try slot.isNull(in: $0) ? ifAbsent : test($0, $1, $2) }
  }
}
