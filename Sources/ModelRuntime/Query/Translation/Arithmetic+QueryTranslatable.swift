import Foundation

extension PredicateExpressions.Arithmetic: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let operation: QueryExpression.Arithmetic
    let function: (Output, Output) -> Output
    switch op {
    case .add: (operation, function) = (.add, { $0 + $1 })
    case .subtract: (operation, function) = (.subtract, { $0 - $1 })
    case .multiply: (operation, function) = (.multiply, { $0 * $1 })
    @unknown default: throw .node("\(op)")
    }
    if queryKind(of: Output.self) != nil {
      return try .arithmetic(operation, lhs, rhs, of: Output.self, translation)
    }
    // For example a decimal.
    return try .typed(
      "\(op)",
      lhs.translate(translation).asValue(),
      rhs.translate(translation).asValue(),
      Output.self,
      function
    )
  }
}

extension PredicateExpressions.IntDivision: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .arithmetic(.divide, lhs, rhs, of: Output.self, translation)
  }
}

extension PredicateExpressions.IntRemainder: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .arithmetic(.remainder, lhs, rhs, of: Output.self, translation)
  }
}

extension PredicateExpressions.FloatDivision: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .arithmetic(.divide, lhs, rhs, of: Output.self, translation)
  }
}

extension PredicateExpressions.UnaryMinus: QueryTranslatable where Wrapped: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let value = try wrapped.translate(translation).asValue()
    switch queryKind(of: Output.self) {
    case .integer:
      return QueryExpression.arithmetic(.multiply, value, .constant(.integer(-1)), .integer)
        .fitting(Output.self)
    case .double: return .arithmetic(.multiply, value, .constant(.double(-1)), .double)
    case .float: return .arithmetic(.multiply, value, .constant(.double(-1)), .float)
    case .some(let kind): throw .value("-\(kind)")
    case nil:
      return .mapped(
        value,
        .init(name: "-") { value in
          value.typed(as: Output.self).map { QueryValue(of: -$0) } ?? .null
        }
      )
    }
  }
}

extension QueryExpression {
  fileprivate static func arithmetic(
    _ operation: Arithmetic,
    _ lhs: some QueryTranslatable,
    _ rhs: some QueryTranslatable,
    of type: any Any.Type,
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression {
    switch queryKind(of: type) {
    case .some(let kind) where kind.isNumeric:
      let lhs = try lhs.translate(translation).asValue()
      let rhs = try rhs.translate(translation).asValue()
      if let result = operation.result(of: lhs, rhs, as: kind) {
        return .constant(result).fitting(type)
      }
      if operation == .remainder, kind == .integer {
        // The remainder overflows if the quotient does, although it would fit itself.
        let quotient = QueryExpression.arithmetic(.divide, lhs, rhs, kind).fitting(type)
        if case .unwrapped = quotient {
          return .arithmetic(.subtract, lhs, .arithmetic(.multiply, quotient, rhs, kind), kind)
        }
      }
      return QueryExpression.arithmetic(operation, lhs, rhs, kind).fitting(type)
    default: throw .value("arithmetic of \(type)")
    }
  }

  /// The result of an operation, which must fit its type: rows have one width for all integers, but
  /// Swift's operators overflow at each type's own bounds.
  fileprivate func fitting(_ type: any Any.Type) -> QueryExpression {
    guard let integer = type as? any FixedWidthInteger.Type, integer.bitWidth < 64 else {
      return self
    }
    let bounds = integer.bounds
    let fit = ValueMap(name: "\(type)") { value in
      if case .integer(let number) = value, bounds.contains(number) { value } else { .null }
    }
    return .unwrapped(.mapped(self, fit))
  }
}

extension QueryExpression.Arithmetic {
  /// The result for two constants, if they have one.
  fileprivate func result(
    of lhs: QueryExpression,
    _ rhs: QueryExpression,
    as kind: QueryKind
  ) -> QueryValue? {
    switch (lhs, rhs) {
    case (.constant(.double(let lhs)), .constant(.double(let rhs))):
      let result = compute(lhs, rhs)
      return .double(kind == .float ? Double(Float(result)) : result)
    case (.constant(.integer(let lhs)), .constant(.integer(let rhs))):
      let result = try? integerOperation(isSigned: kind == .integer)(lhs, rhs)
      return result.map(QueryValue.integer)
    default: return nil
    }
  }
}

extension QueryKind {
  var isNumeric: Bool {
    switch self {
    case .integer, .unsigned, .double, .float: true
    case .bool, .date, .uuid, .text, .url, .bytes, .identifier: false
    }
  }
}

extension FixedWidthInteger {
  /// The values of the type, which has fewer than 64 bits.
  fileprivate static var bounds: ClosedRange<Int64> { Int64(min)...Int64(max) }
}
