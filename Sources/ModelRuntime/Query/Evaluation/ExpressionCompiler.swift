import RowFormat

/// Compiles expressions to closures over rows.
///
/// The closures for the most common form, an attribute beside a constant, know their offset and operator
/// and read a few bytes. Everything else goes through ``QueryValue``s, at ten times the cost.
struct ExpressionCompiler {
  let resolver: any RowResolver
  /// The class of the row of each level; the last one is the row that the closures are called with.
  var levels: [ModelDescriptor]

  var level: Int { levels.count - 1 }

  /// The test of an expression that is true, false or null.
  ///
  /// - Parameters:
  ///   - expression: The expression.
  ///   - default: The result for null.
  /// - Returns: The test.
  func test(_ expression: QueryExpression, default: Bool = false) -> RowTest {
    switch expression {
    case .constant(.bool(let value)): return { _, _, _ in value }
    case .constant: return { _, _, _ in `default` }
    case .not(let operand):
      let test = test(operand, default: !`default`)
      return { try !test($0, $1, $2) }
    case .and(let lhs, let rhs):
      let lhs = test(lhs)
      let rhs = test(rhs)
      return { try lhs($0, $1, $2) && rhs($0, $1, $2) }
    case .or(let lhs, let rhs):
      let lhs = test(lhs)
      let rhs = test(rhs)
      return { try lhs($0, $1, $2) || rhs($0, $1, $2) }
    case .conditional(let condition, let then, let otherwise):
      let condition = test(condition)
      let then = test(then, default: `default`)
      let otherwise = test(otherwise, default: `default`)
      return { try condition($0, $1, $2) ? then($0, $1, $2) : otherwise($0, $1, $2) }
    case .coalesce(let value, .constant(.bool(let other))): return test(value, default: other)
    case .ifPresent(let value, let then):
      let isNull = nullTest(value)
      let then = test(then, default: `default`)
      return { try isNull($0, $1, $2) ? `default` : then($0, $1, $2) }
    case .comparison(let relation, let lhs, let rhs, let kind):
      return comparisonTest(relation, lhs, rhs, kind)
    case .membership(let value, let constants): return membershipTest(value, constants)
    case .isNull(let value): return nullTest(value)
    case .isKind(let path, let descriptor): return kindTest(path, descriptor)
    case .text(let question, let text, let other): return textTest(question, text, other)
    case .exists(let list, let condition): return existenceTest(list, condition)
    case .behind(let position): return positionTest(position)
    case .column(let path, let reading) where reading.kind == .bool:
      return columnTest(.equal, path, reading, .bool(true), default: `default`)
    default:
      let value = value(expression)
      return { row, reference, scope in
        if case .bool(let value) = try value(row, reference, scope) { value } else { `default` }
      }
    }
  }

  /// The test whether an expression is null.
  func nullTest(_ expression: QueryExpression) -> RowTest {
    switch expression {
    case .constant(let value): return { _, _, _ in value.isNull }
    case .column(let path, let reading) where reading.enumeration == nil:
      if !reading.isOptional && path.steps.isEmpty { return { _, _, _ in false } }
      return along(
        path,
        missing: { absence in
          if absence == .failure { throw QueryFailure.unwrappedNil }
          return absence == .null || reading.absent.isNull
        },
        { descriptor in
          guard let column = ColumnSlot(reading, descriptor) else { return failing() }
          if !reading.isOptional { return { _, _, _ in false } }
          return { row, _, _ in column.isNull(in: row) }
        }
      )
    case .structured(let path, let reading) where reading.isNullWhereColumnIs:
      return along(
        path,
        missing: { absence in
          if absence == .failure { throw QueryFailure.unwrappedNil }
          return true
        },
        { descriptor in
          guard let column = ColumnSlot(reading.column, descriptor) else { return failing() }
          return { row, _, _ in column.isNull(in: row) }
        }
      )
    case .row(let path), .identifier(let path):
      let reference = referenceReader(path)
      return { try reference($0, $1, $2) == .none }
    case .castRow(let path, let descriptor):
      let isKind = kindTest(path, descriptor)
      return { try !isKind($0, $1, $2) }
    case .ifPresent(let condition, let value):
      let isAbsent = nullTest(condition)
      let isNull = nullTest(value)
      return { try isAbsent($0, $1, $2) || isNull($0, $1, $2) }
    default:
      let value = value(expression)
      return { try value($0, $1, $2).isNull }
    }
  }

  /// The test whether the row at the end of a path belongs to a class.
  func kindTest(_ path: RowPath, _ descriptor: ModelDescriptor) -> RowTest {
    if path.steps.isEmpty {
      let isKind = levels[path.level].isKind(of: descriptor)
      return { _, _, _ in isKind }
    }
    let reader = referenceReader(path)
    return { [resolver] row, reference, scope in
      let target = try reader(row, reference, scope)
      return target != .none && resolver.descriptor(of: target)?.isKind(of: descriptor) == true
    }
  }
}

/// The offset and null bit of a column in a class's rows.
struct ColumnSlot {
  private let nullOffset: Int
  private let nullMask: UInt8
  let column: Int
  let layout: RowLayout
  /// The offset of a fixed-width column's bytes; meaningless for others.
  let offset: Int

  /// Finds a column, or returns `nil` if rows of the class do not have it.
  init?(_ reading: ColumnReading, _ descriptor: ModelDescriptor) {
    self.init(reading.column, descriptor)
  }

  init?(_ column: Int, _ descriptor: ModelDescriptor) {
    guard column < descriptor.properties.count else { return nil }
    self.column = column
    layout = descriptor.layout
    offset = layout.offset(of: column)
    nullOffset = 1 + column / 8
    nullMask = 1 << UInt8(column % 8)
  }

  func isNull(in row: RawSpan) -> Bool { row.load(UInt8.self, at: nullOffset) & nullMask != 0 }
}
