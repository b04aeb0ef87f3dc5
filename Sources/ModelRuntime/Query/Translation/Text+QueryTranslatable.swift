import Foundation

extension PredicateExpressions.CollectionContainsCollection: QueryTranslatable
where Base: QueryTranslatable, Other: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .textTest(.contains, base, other, translation)
  }
}

extension PredicateExpressions.SequenceStartsWith: QueryTranslatable
where Base: QueryTranslatable, Prefix: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .textTest(.startsWith, base, prefix, translation)
  }
}

extension QueryExpression {
  /// A question about two texts; other collections are not known here.
  static func textTest<Text: QueryTranslatable, Other: QueryTranslatable>(
    _ test: TextTest,
    _ text: Text,
    _ other: Other,
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression {
    guard Text.Output.self == String.self, Other.Output.self == String.self else {
      throw .combination("\(Text.Output.self) and \(Other.Output.self) as text")
    }
    return .text(
      test,
      try text.translate(translation).asValue(),
      try other.translate(translation).asValue()
    )
  }
}
