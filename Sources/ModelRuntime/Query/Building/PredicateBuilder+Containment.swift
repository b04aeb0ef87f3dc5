public import Foundation

// MARK: In tested values

extension _PredicateBuilder {
  /// Whether a sequence contains a captured element.
  public static func contains<LHS: PredicateExpression>(
    _ sequence: LHS,
    constant element: LHS.Output.Element
  ) -> PredicateExpressions.SequenceContains<LHS, Constant<LHS.Output.Element>>
  where LHS.Output: Sequence, LHS.Output.Element: Equatable {
    .init(sequence: sequence, element: .init(element))
  }

  /// Whether a collection, such as a text, contains a captured one.
  public static func contains<LHS: PredicateExpression, Other: Collection>(
    _ base: LHS,
    constant other: Other
  ) -> PredicateExpressions.CollectionContainsCollection<LHS, Constant<Other>>
  where LHS.Output: Collection, LHS.Output.Element == Other.Element, Other.Element: Equatable {
    .init(base: base, other: .init(other))
  }

  /// Whether a range contains a captured value.
  public static func contains<LHS: PredicateExpression>(
    _ range: LHS,
    constant value: LHS.Output.Bound
  ) -> PredicateExpressions.RangeExpressionContains<LHS, Constant<LHS.Output.Bound>>
  where LHS.Output: RangeExpression {
    .init(range: range, element: .init(value))
  }

  /// Whether a text contains a captured pattern.
  @_disfavoredOverload
  public static func contains<LHS: PredicateExpression>(
    _ text: LHS,
    constant pattern: some RegexComponent
  )
    -> PredicateExpressions.StringContainsRegex<
      LHS, Constant<PredicateExpressions.PredicateRegex>
    >
  where LHS.Output: BidirectionalCollection, LHS.Output.SubSequence == Substring {
    PredicateExpressions.build_contains(text, PredicateExpressions.build_Arg(pattern))
  }

  /// Whether a list contains a captured model.
  public static func contains<LHS: PredicateExpression>(
    _ list: LHS,
    constant model: LHS.Output.Element
  )
    -> PredicateExpressions.SequenceContainsWhere<
      LHS,
      PredicateExpressions.Equal<
        Identifier<PredicateExpressions.Variable<LHS.Output.Element>>,
        Constant<PersistentIdentifier>
      >
    >
  where LHS.Output: Sequence, LHS.Output.Element: PersistentModel {
    PredicateExpressions.build_contains(list) { equal($0, constant: model) }
  }
}

extension _PredicateBuilder {
  /// Whether a sequence contains a captured element that must exist.
  public static func contains<LHS: PredicateExpression>(
    _ sequence: LHS,
    failing element: _FailingConstant<LHS.Output.Element>
  ) -> PredicateExpressions.SequenceContains<LHS, Required<LHS.Output.Element>>
  where LHS.Output: Sequence, LHS.Output.Element: Equatable {
    .init(sequence: sequence, element: required(element))
  }

  /// Whether a collection, such as a text, contains a captured one that must exist.
  public static func contains<LHS: PredicateExpression, Other: Collection>(
    _ base: LHS,
    failing other: _FailingConstant<Other>
  ) -> PredicateExpressions.CollectionContainsCollection<LHS, Required<Other>>
  where LHS.Output: Collection, LHS.Output.Element == Other.Element, Other.Element: Equatable {
    .init(base: base, other: required(other))
  }

  /// Whether a list contains a captured model that must exist.
  public static func contains<LHS: PredicateExpression>(
    _ list: LHS,
    failing model: _FailingConstant<LHS.Output.Element>
  )
    -> PredicateExpressions.SequenceContainsWhere<
      LHS,
      PredicateExpressions.Equal<
        Identifier<PredicateExpressions.Variable<LHS.Output.Element>>,
        Required<PersistentIdentifier>
      >
    >
  where LHS.Output: Sequence, LHS.Output.Element: PersistentModel {
    PredicateExpressions.build_contains(list) { equal($0, failing: model) }
  }
}

// MARK: In captured values

extension _PredicateBuilder {
  /// Whether a captured sequence contains a node's value.
  public static func contains<Elements, RHS: PredicateExpression>(
    constant elements: Elements,
    _ element: RHS
  ) -> PredicateExpressions.SequenceContains<Constant<Elements>, RHS>
  where
    Elements: Sequence & Codable & Sendable, Elements.Element == RHS.Output, RHS.Output: Equatable
  {
    .init(sequence: .init(elements), element: element)
  }

  /// Whether a captured sequence of a kind that cannot be encoded contains a node's value.
  @_disfavoredOverload
  public static func contains<Elements: Sequence, RHS: PredicateExpression>(
    constant elements: Elements,
    _ element: RHS
  ) -> PredicateExpressions.SequenceContains<Constant<[RHS.Output]>, RHS>
  where Elements.Element == RHS.Output, RHS.Output: Equatable {
    .init(sequence: .init(Array(elements)), element: element)
  }

  /// Whether a captured range contains a node's value.
  public static func contains<Interval: RangeExpression, RHS: PredicateExpression>(
    constant range: Interval,
    _ value: RHS
  ) -> PredicateExpressions.RangeExpressionContains<Constant<Interval>, RHS>
  where Interval.Bound == RHS.Output {
    .init(range: .init(range), element: value)
  }

  /// Whether a captured range of integers contains a node's value.
  public static func contains<Interval, RHS: PredicateExpression>(
    constant range: Interval,
    _ value: RHS
  ) -> PredicateExpressions.RangeExpressionContains<Constant<Interval>, RHS>
  where
    Interval: RangeExpression & Sequence & Codable & Sendable, Interval.Bound == RHS.Output,
    Interval.Element == RHS.Output
  {
    .init(range: .init(range), element: value)
  }

  /// Whether a captured collection, such as a text, contains a node's collection.
  public static func contains<Base: Collection, RHS: PredicateExpression>(
    constant base: Base,
    _ other: RHS
  ) -> PredicateExpressions.CollectionContainsCollection<Constant<Base>, RHS>
  where RHS.Output: Collection, RHS.Output.Element == Base.Element, Base.Element: Equatable {
    .init(base: .init(base), other: other)
  }

  /// Whether a node's value is one of some captured models.
  public static func contains<Models: Sequence, RHS: PredicateExpression>(
    constant models: Models,
    _ model: RHS
  )
    -> PredicateExpressions.SequenceContains<
      Constant<[PersistentIdentifier]>, Identifier<RHS>
    >
  where Models.Element == RHS.Output, RHS.Output: PersistentModel {
    .init(sequence: .init(models.map(\.persistentModelID)), element: identifier(model))
  }
}
