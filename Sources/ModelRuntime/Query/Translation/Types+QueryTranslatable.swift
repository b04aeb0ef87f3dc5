import Foundation

extension PredicateExpressions.TypeCheck: QueryTranslatable where Input: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    guard case .row(let path) = try input.translate(translation),
      let type = Desired.self as? any PersistentModel.Type
    else { throw .combination("`is \(Desired.self)`") }
    return .isKind(path, of: .of(type))
  }
}

extension PredicateExpressions.ConditionalCast: QueryTranslatable where Input: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    // A value in the place of an optional has this form.
    if Desired.self == Input.Output.self { return try input.translate(translation) }
    guard case .row(let path) = try input.translate(translation),
      let type = Desired.self as? any PersistentModel.Type
    else { throw .combination("`as? \(Desired.self)`") }
    return .castRow(path, to: .of(type))
  }
}

extension PredicateExpressions.ForceCast: QueryTranslatable where Input: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    guard case .row(let path) = try input.translate(translation),
      let type = Desired.self as? any PersistentModel.Type,
      path.descriptor.isKind(of: .of(type))
    else { throw .combination("`as! \(Desired.self)`") }
    return .row(path.cast(to: .of(type)))
  }
}
