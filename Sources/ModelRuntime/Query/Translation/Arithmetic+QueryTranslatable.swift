import Foundation

extension PredicateExpressions.Arithmetic: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let operation: QueryExpression.Arithmetic =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw .node("\(op)")
      }
    return try .arithmetic(operation, lhs, rhs, of: Output.self, translation)
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
    case .integer: return .arithmetic(.multiply, value, .constant(.integer(-1)), .integer)
    case .double: return .arithmetic(.multiply, value, .constant(.double(-1)), .double)
    case .float: return .arithmetic(.multiply, value, .constant(.double(-1)), .float)
    default: throw .value("-\(Output.self)")
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
      return .arithmetic(
        operation,
        try lhs.translate(translation).asValue(),
        try rhs.translate(translation).asValue(),
        kind
      )
    default: throw .value("arithmetic of \(type)")
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
