import Foundation

extension PredicateExpressions.Range: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .range(
      .init(
        lower: try lower.translate(translation).asValue(),
        upper: try upper.translate(translation).asValue(),
        includesUpper: false
      )
    )
  }
}

extension PredicateExpressions.ClosedRange: QueryTranslatable
where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .range(
      .init(
        lower: try lower.translate(translation).asValue(),
        upper: try upper.translate(translation).asValue(),
        includesUpper: true
      )
    )
  }
}

extension PredicateExpressions.RangeExpressionContains: QueryTranslatable
where RangeExpression: QueryTranslatable, Element: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let (test, areInOrder) = try translateTests(translation)
    guard let areInOrder else { return test }
    // A range with reversed bounds contains nothing, and excludes nothing either: it does not exist.
    return .unwrapped(.conditional(areInOrder, then: test, else: .constant(.null)))
  }

  func translateRequired(
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression {
    // A value between two bounds proves them to be in order; so columns and indexes can answer.
    try translateTests(translation).test
  }

  /// Translates the test of the element, and that of the bounds; `nil` for bounds that are known to be in order.
  private func translateTests(
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> (test: QueryExpression, areInOrder: QueryExpression?) {
    guard case .range(let bounds) = try range.translate(translation) else {
      throw .combination("\(RangeExpression.Output.self).contains")
    }
    let element = try element.translate(translation).asValue()
    let type = Element.Output.self
    let above: QueryExpression? =
      if let lower = bounds.lower { try .order(.greaterOrEqual, element, lower, of: type) } else {
        nil
      }
    let below: QueryExpression? =
      if let upper = bounds.upper {
        try .order(bounds.includesUpper ? .lessOrEqual : .less, element, upper, of: type)
      } else { nil }
    switch (above, below) {
    case (let above?, let below?): return (.and(above, below), try bounds.order(of: type))
    case (let test?, nil), (nil, let test?): return (test, nil)
    case (nil, nil): return (.bool(true), nil)
    }
  }
}

extension QueryExpression.Bounds {
  /// The test whether the lower bound is not above the upper one; `nil` if that is already known.
  fileprivate func order<T: Comparable>(
    of type: T.Type
  ) throws(Untranslatable) -> QueryExpression? {
    guard let lower, let upper else { return nil }
    let test = try QueryExpression.order(.lessOrEqual, lower, upper, of: type)
    if case .comparison(let relation, .constant(let lower), .constant(let upper), let kind) = test,
      relation.holds(lower, upper, as: kind)
    {
      return nil
    }
    return test
  }
}
