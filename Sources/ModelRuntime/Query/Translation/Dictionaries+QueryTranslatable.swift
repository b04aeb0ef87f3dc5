import Foundation

extension PredicateExpressions.DictionaryKeySubscript: QueryTranslatable
where Wrapped: QueryTranslatable, Key: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try QueryExpression.checkIsTyped(Key.Output.self)
    let result = QueryValue.maker(of: Value.self)
    return .combined(
      try wrapped.translate(translation).asValue(),
      try key.translate(translation).asValue(),
      .init(name: "subscript") { dictionary, key in
        guard let dictionary = dictionary.typed(as: Wrapped.Output.self),
          let key = key.typed(as: Key.Output.self)
        else { return .null }
        return dictionary[key].map(result) ?? .null
      }
    )
  }
}
