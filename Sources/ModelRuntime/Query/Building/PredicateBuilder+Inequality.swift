public import Foundation

extension _PredicateBuilder {
  /// Whether the values of two nodes differ.
  public static func notEqual<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.NotEqual<LHS, RHS>
  where LHS.Output == RHS.Output, LHS.Output: Equatable {
    .init(lhs: lhs, rhs: rhs)
  }

  /// Whether the values of two nodes differ, the second of which may be nil.
  public static func notEqual<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.NotEqual<Promoted<LHS>, RHS>
  where RHS.Output == LHS.Output?, LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: rhs)
  }

  /// Whether the values of two nodes differ, the first of which may be nil.
  public static func notEqual<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.NotEqual<LHS, Promoted<RHS>>
  where LHS.Output == RHS.Output?, RHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(rhs))
  }

  /// Whether a node's value differs from a literal.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    literal value: LHS.Output
  ) -> PredicateExpressions.NotEqual<LHS, Constant<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(value))
  }

  /// Whether a node's value differs from a captured value.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant value: LHS.Output
  ) -> PredicateExpressions.NotEqual<LHS, Constant<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(value))
  }

  /// Whether a node's value differs from a captured value that may be nil.
  @_disfavoredOverload
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant value: LHS.Output?
  ) -> PredicateExpressions.NotEqual<Promoted<LHS>, Constant<LHS.Output?>>
  where LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: .init(value))
  }

  /// Whether a node's value differs from a captured value that must exist.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing value: _FailingConstant<LHS.Output>
  ) -> PredicateExpressions.NotEqual<LHS, Required<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: required(value))
  }

  /// Whether a node's optional value differs from a captured value that must exist.
  public static func notEqual<LHS: PredicateExpression, Value: Equatable>(
    _ lhs: LHS,
    failing value: _FailingConstant<Value>
  ) -> PredicateExpressions.NotEqual<LHS, Promoted<Required<Value>>> where LHS.Output == Value? {
    .init(lhs: lhs, rhs: .init(required(value)))
  }

  /// Whether a node's value differs from a captured optional value that must exist.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing value: _FailingConstant<LHS.Output?>
  ) -> PredicateExpressions.NotEqual<Promoted<LHS>, Required<LHS.Output?>>
  where LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: required(value))
  }

  /// Whether a node's value is not a captured model.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant model: LHS.Output
  ) -> PredicateExpressions.NotEqual<Identifier<LHS>, Constant<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: .init(model.persistentModelID))
  }

  /// Whether a node's value is not a captured model of a class that is related to its own.
  @_disfavoredOverload
  public static func notEqual<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    constant model: Model
  ) -> PredicateExpressions.NotEqual<Identifier<LHS>, Constant<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: .init(model.persistentModelID))
  }

  /// Whether a node's value is not a captured model, or not nil if that is nil.
  public static func notEqual<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    constant model: Model?
  )
    -> PredicateExpressions.NotEqual<
      OptionalIdentifier<LHS, Model>, Constant<PersistentIdentifier?>
    >
  where LHS.Output == Model? {
    .init(lhs: optionalIdentifier(lhs), rhs: .init(model?.persistentModelID))
  }

  /// Whether a node's value is not a captured model; true if that is nil.
  public static func notEqual<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    constant model: Model?
  ) -> PredicateExpressions.NotEqual<Promoted<Identifier<LHS>>, Constant<PersistentIdentifier?>>
  where LHS.Output == Model {
    .init(lhs: .init(identifier(lhs)), rhs: .init(model?.persistentModelID))
  }

  /// Whether a node's value is not a captured model that must exist.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing model: _FailingConstant<LHS.Output>
  ) -> PredicateExpressions.NotEqual<Identifier<LHS>, Required<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: required(model.map(\.persistentModelID)))
  }

  /// Whether a node's optional value is not a captured model that must exist.
  public static func notEqual<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    failing model: _FailingConstant<Model>
  )
    -> PredicateExpressions.NotEqual<
      OptionalIdentifier<LHS, Model>, Promoted<Required<PersistentIdentifier>>
    >
  where LHS.Output == Model? {
    .init(
      lhs: optionalIdentifier(lhs),
      rhs: .init(required(model.map(\.persistentModelID)))
    )
  }

  /// Whether a node's optional value is not a captured optional model that must exist.
  public static func notEqual<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    failing model: _FailingConstant<Model?>
  )
    -> PredicateExpressions.NotEqual<
      OptionalIdentifier<LHS, Model>, Required<PersistentIdentifier?>
    >
  where LHS.Output == Model? {
    .init(lhs: optionalIdentifier(lhs), rhs: required(model.map { $0?.persistentModelID }))
  }
}
