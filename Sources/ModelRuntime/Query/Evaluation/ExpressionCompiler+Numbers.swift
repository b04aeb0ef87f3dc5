import RowFormat

extension ExpressionCompiler {
  /// The reader of an integer, signed or unsigned.
  func integer(_ expression: QueryExpression) -> RowReader<Int64?> {
    switch expression {
    case .constant(.integer(let value)): return { _, _, _ in value }
    case .column(let path, let reading) where path.isHere(level) && reading.enumeration == nil:
      guard let slot = ColumnSlot(reading, levels[level]) else { return failing() }
      // A null column holds zero, which is its value if it cannot be nil.
      if !reading.isOptional { return { row, _, _ in row.load(Int64.self, at: slot.offset) } }
      return { row, _, _ in
        slot.isNull(in: row) ? nil : row.load(Int64.self, at: slot.offset)
      }
    case .arithmetic(let operation, let lhs, let rhs, let kind):
      let lhs = integer(lhs)
      let rhs = integer(rhs)
      let compute = operation.integerOperation(isSigned: kind != .unsigned)
      return {
        guard let lhs = try lhs($0, $1, $2), let rhs = try rhs($0, $1, $2) else { return nil }
        return try compute(lhs, rhs)
      }
    case .count(let list):
      let count = countReader(list)
      return { try Int64(count($0, $1, $2)) }
    case .coalesce(let first, let second):
      let first = integer(first)
      let second = integer(second)
      return { try first($0, $1, $2) ?? second($0, $1, $2) }
    default:
      let value = value(expression)
      return {
        if case .integer(let value) = try value($0, $1, $2) { value } else { nil }
      }
    }
  }

  /// The reader of a double, a float or a date.
  func double(_ expression: QueryExpression) -> RowReader<Double?> {
    switch expression {
    case .constant(.double(let value)): return { _, _, _ in value }
    case .column(let path, let reading) where path.isHere(level) && reading.enumeration == nil:
      guard let slot = ColumnSlot(reading, levels[level]) else { return failing() }
      if !reading.isOptional { return { row, _, _ in slot.double(in: row) } }
      return { row, _, _ in slot.isNull(in: row) ? nil : slot.double(in: row) }
    case .arithmetic(let operation, let lhs, let rhs, let kind):
      let lhs = double(lhs)
      let rhs = double(rhs)
      let compute = operation.compute
      return {
        guard let lhs = try lhs($0, $1, $2), let rhs = try rhs($0, $1, $2) else { return nil }
        let result = compute(lhs, rhs)
        // One more rounding gives the result of the operation on floats: a double has enough bits.
        return kind == .float ? Double(Float(result)) : result
      }
    case .coalesce(let first, let second):
      let first = double(first)
      let second = double(second)
      return { try first($0, $1, $2) ?? second($0, $1, $2) }
    default:
      let value = value(expression)
      return {
        if case .double(let value) = try value($0, $1, $2) { value } else { nil }
      }
    }
  }
}

extension RowPath {
  /// Whether the path ends at the current row.
  func isHere(_ current: Int) -> Bool { level == current && steps.isEmpty }
}

extension QueryExpression.Arithmetic {
  /// The operation on integers, signed ones or unsigned ones by their bits; it throws if there is no result.
  func integerOperation(isSigned: Bool) -> (Int64, Int64) throws -> Int64 {
    isSigned ? compute(as: Int64.self) : compute(as: UInt64.self)
  }

  /// The operation on integers of a width and signedness, which are passed and returned by their bits.
  private func compute<T: FixedWidthInteger & Sendable>(
    as _: T.Type
  ) -> (Int64, Int64) throws -> Int64 {
    { lhs, rhs in
      let lhs = T(truncatingIfNeeded: lhs)
      let rhs = T(truncatingIfNeeded: rhs)
      let (result, overflow) =
        switch self {
        case .add: lhs.addingReportingOverflow(rhs)
        case .subtract: lhs.subtractingReportingOverflow(rhs)
        case .multiply: lhs.multipliedReportingOverflow(by: rhs)
        case .divide: lhs.dividedReportingOverflow(by: rhs)
        case .remainder: lhs.remainderReportingOverflow(dividingBy: rhs)
        }
      if overflow { throw QueryFailure.overflow }
      return Int64(truncatingIfNeeded: result)
    }
  }

  /// The operation on doubles.
  var compute: (Double, Double) -> Double {
    switch self {
    case .add: { $0 + $1 }
    case .subtract: { $0 - $1 }
    case .multiply: { $0 * $1 }
    case .divide: { $0 / $1 }
    case .remainder: { $0.truncatingRemainder(dividingBy: $1) }
    }
  }
}
