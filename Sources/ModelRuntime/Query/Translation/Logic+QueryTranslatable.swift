import Foundation

extension PredicateExpressions.Conjunction: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .and(try lhs.translate(translation), try rhs.translate(translation))
  }
}

extension PredicateExpressions.Disjunction: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .or(try lhs.translate(translation), try rhs.translate(translation))
  }
}

extension PredicateExpressions.Negation: QueryTranslatable where Wrapped: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .not(try wrapped.translate(translation))
  }
}

extension PredicateExpressions.Equal: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .equality(
      lhs.translate(translation),
      rhs.translate(translation),
      of: LHS.Output.self
    )
  }
}

extension PredicateExpressions.NotEqual: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .not(
      .equality(lhs.translate(translation), rhs.translate(translation), of: LHS.Output.self)
    )
  }
}

extension PredicateExpressions.Comparison: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .order(
      op.relation,
      lhs.translate(translation),
      rhs.translate(translation),
      of: LHS.Output.self
    )
  }
}

extension PredicateExpressions.ComparisonOperator {
  fileprivate var relation: QueryExpression.Relation {
    switch self {
    case .lessThan: .less
    case .lessThanOrEqual: .lessOrEqual
    case .greaterThan: .greater
    case .greaterThanOrEqual: .greaterOrEqual
    @unknown default: preconditionFailure("a comparison that is neither of four")
    }
  }
}

extension PredicateExpressions.Conditional: QueryTranslatable
where Test: QueryTranslatable, If: QueryTranslatable, Else: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .conditional(
      try test.translate(translation),
      then: try trueBranch.translate(translation).asValue(),
      else: try falseBranch.translate(translation).asValue()
    )
  }
}

extension QueryExpression {
  /// Whether two values of a type are equal.
  static func equality(
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    of type: any Any.Type
  ) throws(Untranslatable) -> QueryExpression {
    switch (lhs, rhs) {
    case (let value, .constant(.null)), (.constant(.null), let value):
      switch value {
      case .list: return .bool(false)
      default: return .isNull(value)
      }
    case (.textComparison(.caseInsensitive, let lhs, let rhs), .constant(.integer(0))):
      return .text(.equalsIgnoringCase, lhs, rhs)
    case (.row(let lhs), .row(let rhs)):
      return .comparison(.equal, .identifier(lhs), .identifier(rhs), .identifier)
    default:
      let lhs = try lhs.asValue()
      let rhs = try rhs.asValue()
      if let kind = queryKind(of: type) { return .comparison(.equal, lhs, rhs, kind) }
      // Raw values stand for the cases of an enumeration; a constant has been found to allow that.
      guard lhs.isConstant || rhs.isConstant, let kind = rawValueKind(of: type) else {
        throw .value("\(type)")
      }
      return .comparison(.equal, lhs, rhs, kind)
    }
  }

  /// Whether one value of a type comes before another.
  static func order(
    _ relation: Relation,
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    of type: any Any.Type
  ) throws(Untranslatable) -> QueryExpression {
    guard let kind = queryKind(of: type), kind.isOrdered else { throw .value("order of \(type)") }
    return .comparison(relation, try lhs.asValue(), try rhs.asValue(), kind)
  }

  /// The expression, if it has a single value: not a row, a list or a range.
  func asValue() throws(Untranslatable) -> QueryExpression {
    switch self {
    case .row, .castRow: throw .combination("a model as a value")
    case .list, .constants, .range: throw .combination("a collection as a value")
    default: return self
    }
  }

  var isConstant: Bool {
    if case .constant = self { true } else { false }
  }
}

extension QueryKind {
  /// Whether the order of values in an expression is the order of values in Swift.
  var isOrdered: Bool {
    switch self {
    case .integer, .unsigned, .double, .float, .date, .uuid, .text: true
    case .bool, .url, .bytes, .identifier: false
    }
  }
}
