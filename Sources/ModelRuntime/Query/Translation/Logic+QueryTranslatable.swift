import Foundation

extension PredicateExpressions.Conjunction: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .conjunction(try lhs.translate(translation), try rhs.translate(translation))
  }

  func translateRequired(
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression {
    .conjunction(try lhs.translateRequired(translation), try rhs.translateRequired(translation))
  }
}

extension QueryExpression {
  /// Whether both hold; captured values often decide alone: no text to search for, or all of a list wanted.
  static func conjunction(_ lhs: QueryExpression, _ rhs: QueryExpression) -> QueryExpression {
    switch (lhs, rhs) {
    case (.constant(.bool(true)), let test), (let test, .constant(.bool(true))): test
    case (.constant(.bool(false)), _): .bool(false)
    case (let lhs, let rhs): .and(lhs, rhs)
    }
  }
}

extension PredicateExpressions.Disjunction: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    switch (try lhs.translate(translation), try rhs.translate(translation)) {
    case (.constant(.bool(false)), let test), (let test, .constant(.bool(false))): test
    case (.constant(.bool(true)), _): .bool(true)
    case (let lhs, let rhs): .or(lhs, rhs)
    }
  }
}

extension PredicateExpressions.Negation: QueryTranslatable where Wrapped: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    switch try wrapped.translate(translation) {
    case .constant(.bool(let value)): .bool(!value)
    case let test: .not(test)
    }
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
  var relation: QueryExpression.Relation {
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
  static func equality<T: Equatable>(
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    of type: T.Type
  ) throws(Untranslatable) -> QueryExpression {
    switch (lhs, rhs) {
    case (let value, .constant(.null)), (.constant(.null), let value):
      switch value {
      case .list: return .bool(false)
      default: return .isNull(value)
      }
    case (.textComparison(.caseInsensitive, let lhs, let rhs), .constant(.integer(0))),
      (.constant(.integer(0)), .textComparison(.caseInsensitive, let lhs, let rhs)):
      return .text(.equalsIgnoringCase, lhs, rhs)
    case (
      .ifPresent(let value, .textComparison(.caseInsensitive, let lhs, let rhs)),
      .constant(.integer(0))
    ),
      (
        .constant(.integer(0)),
        .ifPresent(let value, .textComparison(.caseInsensitive, let lhs, let rhs))
      ):
      return .coalesce(.ifPresent(value, .text(.equalsIgnoringCase, lhs, rhs)), .bool(false))
    case (.row(let lhs), .row(let rhs)):
      return .comparison(.equal, .identifier(lhs), .identifier(rhs), .identifier)
    default:
      let lhs = try lhs.asValue()
      let rhs = try rhs.asValue()
      if let kind = queryKind(of: type) { return .comparison(.equal, lhs, rhs, kind) }
      // Raw values represent the cases of an enumeration; a constant was checked to allow that.
      if lhs.isRawConstant || rhs.isRawConstant, let kind = rawValueKind(of: type) {
        return .comparison(.equal, lhs, rhs, kind)
      }
      return try .typed("==", lhs, rhs, T.self, ==)
    }
  }

  /// Whether one value of a type precedes another.
  static func order<T: Comparable>(
    _ relation: Relation,
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    of type: T.Type
  ) throws(Untranslatable) -> QueryExpression {
    let lhs = try lhs.asValue()
    let rhs = try rhs.asValue()
    if let kind = queryKind(of: type), kind.isOrdered {
      return .comparison(relation, lhs, rhs, kind)
    }
    // By the type's own order: that of an enumeration need not be the order of its raw values.
    return try .typed("\(relation)", lhs, rhs, T.self) { relation.holds($0, $1) }
  }

  /// Applies a function to two values of a type that expressions do not understand.
  static func typed<T, R>(
    _ name: String,
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    _: T.Type,
    _ function: @escaping (T, T) -> R
  ) throws(Untranslatable) -> QueryExpression {
    try checkIsTyped(T.self)
    return .combined(
      lhs,
      rhs,
      .init(name: name) { lhs, rhs in
        guard let lhs = lhs.typed(as: T.self), let rhs = rhs.typed(as: T.self) else { return .null }
        return QueryValue(of: function(lhs, rhs))
      }
    )
  }

  /// Checks that the values of a type keep it in an expression: the names of rows do not.
  static func checkIsTyped(_ type: any Any.Type) throws(Untranslatable) {
    if queryKind(of: type) == .identifier { throw .combination("an identifier as a value") }
  }

  /// The expression, if it has a single value: not a row, a list or a range.
  func asValue() throws(Untranslatable) -> QueryExpression {
    switch self {
    case .row, .castRow: throw .combination("a model as a value")
    case _ where isCollection: throw .combination("a collection as a value")
    default: return self
    }
  }

  /// Whether the expression's value is a collection, which is no single value.
  var isCollection: Bool {
    switch self {
    case .list, .constants, .range: true
    case .ifPresent(_, let value), .unwrapped(let value): value.isCollection
    case .coalesce(let value, let other), .conditional(_, then: let value, else: let other):
      value.isCollection || other.isCollection
    default: false
    }
  }

  /// Whether this is a captured case of an enumeration, held by its raw value.
  private var isRawConstant: Bool {
    switch self {
    case .constant(.opaque): false
    case .constant: true
    default: false
    }
  }
}

extension QueryKind {
  /// Whether the order of values in an expression is that of Swift.
  var isOrdered: Bool {
    switch self {
    case .integer, .unsigned, .double, .float, .date, .uuid, .text: true
    case .bool, .url, .bytes, .identifier: false
    }
  }
}
