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

extension PredicateExpressions.StringLocalizedStandardContains: QueryTranslatable
where Root: QueryTranslatable, Other: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .textTest(.localizedStandardContains, root, other, translation)
  }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: QueryTranslatable
where Root: QueryTranslatable, Other: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .textComparison(.caseInsensitive, root, other, translation)
  }
}

extension PredicateExpressions.StringLocalizedCompare: QueryTranslatable
where Root: QueryTranslatable, Other: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    try .textComparison(.localized, root, other, translation)
  }
}

extension PredicateExpressions.StringContainsRegex: QueryTranslatable
where Subject: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    guard Subject.Output.self == String.self,
      let constant = regex as? PredicateExpressions.Value<Regex.Output>
    else { throw .combination("a pattern that is not captured") }
    let pattern = constant.value
    return .mapped(
      try subject.translate(translation).asValue(),
      .init(name: "contains(\(pattern))") { value in
        if case .text(let text) = value { .bool(text.contains(pattern)) } else { .null }
      }
    )
  }
}

extension QueryExpression {
  /// A test of two texts; other collections are not known here.
  fileprivate static func textTest<Text: QueryTranslatable, Other: QueryTranslatable>(
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

  /// A comparison of two texts.
  fileprivate static func textComparison<Text: QueryTranslatable, Other: QueryTranslatable>(
    _ comparison: TextComparison,
    _ text: Text,
    _ other: Other,
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression {
    guard Text.Output.self == String.self, Other.Output.self == String.self else {
      throw .combination("\(Text.Output.self) and \(Other.Output.self) as text")
    }
    return .textComparison(
      comparison,
      try text.translate(translation).asValue(),
      try other.translate(translation).asValue()
    )
  }
}
