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
    return switch (above, below) {
    case (let above?, let below?): .and(above, below)
    case (let test?, nil), (nil, let test?): test
    case (nil, nil): .bool(true)
    }
  }
}
