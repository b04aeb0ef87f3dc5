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
    // A decimal, say.
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
    case .integer: return .arithmetic(.multiply, value, .constant(.integer(-1)), .integer)
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
