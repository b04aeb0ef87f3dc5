import Foundation

extension PredicateExpressions.OptionalFlatMap: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let wrapped = try wrapped.translate(translation)
    var inner = translation
    switch wrapped {
    case .list:
      // A to-many relationship that is optional in the source is an empty list, never nil.
      inner.bind(variable.key, to: wrapped)
      return try transform.translate(inner)
    case .row(let path):
      inner.bind(variable.key, to: wrapped)
      let result = try transform.translate(inner)
      return result.isNull(whereMissing: path) ? result : .ifPresent(wrapped, result)
    case .castRow(let path, let descriptor):
      inner.bind(variable.key, to: .row(path.cast(to: descriptor)))
      return .ifPresent(wrapped, try transform.translate(inner).asValue())
    case .ifPresent(let condition, let list) where list.isList:
      // The list of an existing model; without one, the result is nil.
      inner.bind(variable.key, to: list)
      let result = try transform.translate(inner)
      return .ifPresent(condition, result.isList ? result : try result.asValue())
    default:
      inner.bind(variable.key, to: try wrapped.asValue())
      return .ifPresent(wrapped, try transform.translate(inner).asValue())
    }
  }
}

extension QueryExpression {
  fileprivate var isList: Bool { if case .list = self { true } else { false } }

  /// Whether the expression is true or false for any row.
  fileprivate var isTest: Bool {
    switch self {
    case .comparison, .membership, .isNull, .isKind, .not, .and, .or, .text, .exists,
      .constant(.bool):
      true
    default: false
    }
  }

  /// Whether the expression is null anyway if a path leads to no row.
  fileprivate func isNull(whereMissing path: RowPath) -> Bool {
    switch self {
    case .column(let other, _), .identifier(let other), .row(let other), .castRow(let other, _):
      path.isPrefix(of: other) && path.steps.last?.absence == .null
    default: false
    }
  }
}

extension PredicateExpressions.NilCoalesce: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let wrapped = try lhs.translate(translation)
    switch wrapped {
    case .list: return wrapped
    // A captured optional is known to be nil, or is a test that is never nil.
    case .constant(.null): return try rhs.translate(translation)
    case _ where wrapped.isTest: return wrapped
    default: break
    }
    return .coalesce(try wrapped.asValue(), try rhs.translate(translation).asValue())
  }
}

extension PredicateExpressions.ForcedUnwrap: QueryTranslatable where Inner: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    // A captured optional of an optional may hold nil, which differs here from holding nothing.
    if let captured = inner as? PredicateExpressions.Value<Wrapped?>, let value = captured.value {
      return try PredicateExpressions.Value(value).translate(translation)
    }
    switch try inner.translate(translation) {
    case .row(let path): return .row(path.unwrapped())
    case .list(let list): return .list(list)
    case .constant(let value) where !value.isNull: return .constant(value)
    case let value: return .unwrapped(try value.asValue())
    }
  }
}
