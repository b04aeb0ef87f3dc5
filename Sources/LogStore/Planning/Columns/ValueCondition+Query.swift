import ModelRuntime
import RowFormat

// The conditions of predicates on values that are there. Each is `nil` if only a row tells.

extension ValueCondition {
  /// The condition on values that are compared with a constant.
  ///
  /// Inequality is the opposite of what is returned for it.
  init?(
    _ relation: QueryExpression.Relation,
    _ reading: ColumnReading,
    _ constant: QueryValue
  ) {
    let isEquality = relation == .equal || relation == .notEqual
    guard reading.isDecidedByBytes(relation, constant) else { return nil }
    switch (reading.kind, constant) {
    case (_, .null) where isEquality: self = .nothing
    case (.integer, .integer(let value)): self = .integers(relation.run(value).map { [$0] } ?? [])
    case (.unsigned, .integer(let value)):
      self = .integers(relation.run(UInt64(bitPattern: value)).map { [$0] } ?? [])
    case (.double, .double(let value)), (.float, .double(let value)), (.date, .double(let value)):
      self = relation.range(value).map { .doubles($0) } ?? .nothing
    case (.bool, .bool(let value)) where isEquality: self = .bool(value)
    case (.uuid, .uuid(let value)) where isEquality:
      self = .uuid(low: value.low, high: value.high)
    case (.text, .text(let value)):
      let tested = relation == .notEqual ? .equal : relation
      let test = tested.test(of: value)
      self = .text(isEquality ? TextCondition(test, of: value, .whole) : TextCondition(test))
    default: return nil
    }
  }

  /// The condition on values that must be among some constants.
  init?(_ reading: ColumnReading, isIn constants: [QueryValue]) {
    guard reading.enumeration == nil else { return nil }
    switch reading.kind {
    case .integer, .unsigned:
      let wanted = Set(
        constants.compactMap { if case .integer(let value) = $0 { value } else { nil } }
      )
      let runs = IntegerRun.runs(of: wanted.sorted())
      self = runs.count <= 8 ? .integers(runs) : .integerSet(wanted)
    case .text:
      let wanted = Set(constants.compactMap { if case .text(let text) = $0 { text } else { nil } })
      self = .text(TextCondition { wanted.contains($0.text) })
    default: return nil
    }
  }

  /// The condition on texts.
  init?(_ question: QueryExpression.TextTest, _ reading: ColumnReading, _ text: String) {
    guard reading.kind == .text, reading.enumeration == nil else { return nil }
    let test = question.test(of: text)
    switch question {
    case .startsWith: self = .text(TextCondition(test, of: text, .beginning))
    case .contains, .localizedStandardContains, .equalsIgnoringCase:
      self = .text(TextCondition(test))
    }
  }
}

extension ValueCondition.IntegerRun {
  /// The runs that some integers, ascending, are made of.
  fileprivate static func runs(of integers: [Int64]) -> [Self] {
    var runs: [Self] = []
    for integer in integers {
      if let run = runs.last, let last = run.last, integer == last &+ 1 {
        runs[runs.count - 1] = Self(first: run.first, distance: run.distance + 1)
      } else {
        runs.append(Self(first: integer, distance: 0))
      }
    }
    return runs
  }
}

extension QueryExpression.Relation {
  /// The integers that are in the relation to one, or equal to it for inequality; `nil` if none is.
  fileprivate func run<T: FixedWidthInteger>(_ value: T) -> ValueCondition.IntegerRun? {
    let range: ClosedRange<T>
    switch self {
    case .equal, .notEqual: range = value...value
    case .lessOrEqual: range = .min...value
    case .greaterOrEqual: range = value ... .max
    case .less:
      if value == .min { return nil }
      range = .min...(value - 1)
    case .greater:
      if value == .max { return nil }
      range = (value + 1) ... .max
    }
    return ValueCondition.IntegerRun(
      first: Int64(truncatingIfNeeded: range.lowerBound),
      distance: UInt64(truncatingIfNeeded: range.upperBound &- range.lowerBound)
    )
  }

  /// The doubles that are in the relation to one, or equal to it for inequality; `nil` if none is.
  fileprivate func range(_ value: Double) -> ClosedRange<Double>? {
    if value.isNaN { return nil }
    switch self {
    case .equal, .notEqual: return value...value
    case .lessOrEqual: return -.infinity...value
    case .greaterOrEqual: return value ... .infinity
    case .less: return value == -.infinity ? nil : -.infinity...value.nextDown
    case .greater: return value == .infinity ? nil : value.nextUp ... .infinity
    }
  }
}

extension RawSpan {
  fileprivate var text: String {
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
