public import Foundation

// MARK: Values

extension _PredicateBuilder {
  /// Whether the values of two nodes are equal.
  public static func equal<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.Equal<LHS, RHS> where LHS.Output == RHS.Output, LHS.Output: Equatable {
    .init(lhs: lhs, rhs: rhs)
  }

  /// Whether the values of two nodes are equal, the second of which may be nil.
  public static func equal<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.Equal<Promoted<LHS>, RHS>
  where RHS.Output == LHS.Output?, LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: rhs)
  }

  /// Whether the values of two nodes are equal, the first of which may be nil.
  public static func equal<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.Equal<LHS, Promoted<RHS>>
  where LHS.Output == RHS.Output?, RHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(rhs))
  }

  /// Whether a node's value equals a literal.
  @inlinable
  public static func equal<LHS: PredicateExpression>(
    _ lhs: LHS,
    literal value: LHS.Output
  ) -> PredicateExpressions.Equal<LHS, Constant<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(value))
  }

  /// Whether a node's value equals a captured value.
  @inlinable
  public static func equal<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant value: LHS.Output
  ) -> PredicateExpressions.Equal<LHS, Constant<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(value))
  }

  /// Whether a node's value equals a captured value that may be nil.
  @_disfavoredOverload
  public static func equal<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant value: LHS.Output?
  ) -> PredicateExpressions.Equal<Promoted<LHS>, Constant<LHS.Output?>>
  where LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: .init(value))
  }

  /// Whether a node's value equals a captured value that must exist.
  public static func equal<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing value: _FailingConstant<LHS.Output>
  ) -> PredicateExpressions.Equal<LHS, Required<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: required(value))
  }

  /// Whether a node's optional value equals a captured value that must exist.
  public static func equal<LHS: PredicateExpression, Value: Equatable>(
    _ lhs: LHS,
    failing value: _FailingConstant<Value>
  ) -> PredicateExpressions.Equal<LHS, Promoted<Required<Value>>> where LHS.Output == Value? {
    .init(lhs: lhs, rhs: .init(required(value)))
  }

  /// Whether a node's value equals a captured optional value that must exist.
  public static func equal<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing value: _FailingConstant<LHS.Output?>
  ) -> PredicateExpressions.Equal<Promoted<LHS>, Required<LHS.Output?>>
  where LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: required(value))
  }
}

// MARK: Models

extension _PredicateBuilder {
  /// Whether a node's value is a captured model.
  public static func equal<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant model: LHS.Output
  ) -> PredicateExpressions.Equal<Identifier<LHS>, Constant<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: .init(model.persistentModelID))
  }

  /// Whether a node's value is a captured model of a class that is related to its own.
  @_disfavoredOverload
  public static func equal<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    constant model: Model
  ) -> PredicateExpressions.Equal<Identifier<LHS>, Constant<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: .init(model.persistentModelID))
  }

  /// Whether a node's value is a captured model, or nil if that is nil.
  public static func equal<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    constant model: Model?
  ) -> PredicateExpressions.Equal<OptionalIdentifier<LHS, Model>, Constant<PersistentIdentifier?>>
  where LHS.Output == Model? {
    .init(lhs: optionalIdentifier(lhs), rhs: .init(model?.persistentModelID))
  }

  /// Whether a node's value is a captured model; false if that is nil.
  public static func equal<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    constant model: Model?
  ) -> PredicateExpressions.Equal<Promoted<Identifier<LHS>>, Constant<PersistentIdentifier?>>
  where LHS.Output == Model {
    .init(lhs: .init(identifier(lhs)), rhs: .init(model?.persistentModelID))
  }

  /// Whether a node's value is a captured model that must exist.
  public static func equal<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing model: _FailingConstant<LHS.Output>
  ) -> PredicateExpressions.Equal<Identifier<LHS>, Required<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: required(model.map(\.persistentModelID)))
  }

  /// Whether a node's optional value is a captured model that must exist.
  public static func equal<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    failing model: _FailingConstant<Model>
  )
    -> PredicateExpressions.Equal<
      OptionalIdentifier<LHS, Model>, Promoted<Required<PersistentIdentifier>>
    >
  where LHS.Output == Model? {
    .init(
      lhs: optionalIdentifier(lhs),
      rhs: .init(required(model.map(\.persistentModelID)))
    )
  }

  /// Whether a node's optional value is a captured optional model that must exist.
  public static func equal<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    failing model: _FailingConstant<Model?>
  )
    -> PredicateExpressions.Equal<
      OptionalIdentifier<LHS, Model>, Required<PersistentIdentifier?>
    >
  where LHS.Output == Model? {
    .init(lhs: optionalIdentifier(lhs), rhs: required(model.map { $0?.persistentModelID }))
  }
}

// MARK: Nodes

extension _PredicateBuilder {
  /// A captured value.
  public typealias Constant<Value> = PredicateExpressions.Value<Value>
  /// A value in the place of an optional.
  public typealias Promoted<Node: PredicateExpression> =
    PredicateExpressions.ConditionalCast<Node, Node.Output>
  /// The identifier of a model.
  public typealias Identifier<Node: PredicateExpression> =
    PredicateExpressions.KeyPath<Node, PersistentIdentifier>
  /// The identifier of a model that may be nil.
  public typealias OptionalIdentifier<Node: PredicateExpression, Model: PersistentModel> =
    PredicateExpressions.OptionalFlatMap<
      Node, Model,
      PredicateExpressions.KeyPath<PredicateExpressions.Variable<Model>, PersistentIdentifier>,
      PersistentIdentifier
    > where Node.Output == Model?

  static func identifier<Node: PredicateExpression>(
    _ node: Node
  ) -> Identifier<Node> where Node.Output: PersistentModel {
    .init(root: node, keyPath: \.persistentModelID)
  }

  static func optionalIdentifier<Node: PredicateExpression, Model: PersistentModel>(
    _ node: Node
  ) -> OptionalIdentifier<Node, Model> where Node.Output == Model? {
    .init(node) { .init(root: $0, keyPath: \.persistentModelID) }
  }
}
