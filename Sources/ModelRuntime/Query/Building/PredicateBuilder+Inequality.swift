public import Foundation

extension _PredicateBuilder {
  /// Whether two nodes do not come to the same.
  public static func notEqual<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.NotEqual<LHS, RHS>
  where LHS.Output == RHS.Output, LHS.Output: Equatable {
    .init(lhs: lhs, rhs: rhs)
  }

  /// Whether two nodes do not come to the same, the second of which may be nil.
  public static func notEqual<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.NotEqual<Promoted<LHS>, RHS>
  where RHS.Output == LHS.Output?, LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: rhs)
  }

  /// Whether two nodes do not come to the same, the first of which may be nil.
  public static func notEqual<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.NotEqual<LHS, Promoted<RHS>>
  where LHS.Output == RHS.Output?, RHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(rhs))
  }

  /// Whether a node does not come to what a literal says.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    literal value: LHS.Output
  ) -> PredicateExpressions.NotEqual<LHS, Constant<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(value))
  }

  /// Whether a node does not come to a captured value.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant value: LHS.Output
  ) -> PredicateExpressions.NotEqual<LHS, Constant<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: .init(value))
  }

  /// Whether a node does not come to a captured value that may be nil.
  @_disfavoredOverload
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant value: LHS.Output?
  ) -> PredicateExpressions.NotEqual<Promoted<LHS>, Constant<LHS.Output?>>
  where LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: .init(value))
  }

  /// Whether a node does not come to a captured value that must be there.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing value: _FailingConstant<LHS.Output>
  ) -> PredicateExpressions.NotEqual<LHS, Required<LHS.Output>> where LHS.Output: Equatable {
    .init(lhs: lhs, rhs: required(value))
  }

  /// Whether a node that may be nil does not come to a captured value that must be there.
  public static func notEqual<LHS: PredicateExpression, Value: Equatable>(
    _ lhs: LHS,
    failing value: _FailingConstant<Value>
  ) -> PredicateExpressions.NotEqual<LHS, Promoted<Required<Value>>> where LHS.Output == Value? {
    .init(lhs: lhs, rhs: .init(required(value)))
  }

  /// Whether a node does not come to a captured value that may be nil, and must be there.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing value: _FailingConstant<LHS.Output?>
  ) -> PredicateExpressions.NotEqual<Promoted<LHS>, Required<LHS.Output?>>
  where LHS.Output: Equatable {
    .init(lhs: .init(lhs), rhs: required(value))
  }

  /// Whether a node does not come to a captured model.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    constant model: LHS.Output
  ) -> PredicateExpressions.NotEqual<Identifier<LHS>, Constant<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: .init(model.persistentModelID))
  }

  /// Whether a node does not come to a captured model of a class that is related to its own.
  @_disfavoredOverload
  public static func notEqual<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    constant model: Model
  ) -> PredicateExpressions.NotEqual<Identifier<LHS>, Constant<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: .init(model.persistentModelID))
  }

  /// Whether a node does not come to a captured model, or to nil if that is nil.
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

  /// Whether a node does not come to a captured model; it does not, either, if that is nil.
  public static func notEqual<LHS: PredicateExpression, Model: PersistentModel>(
    _ lhs: LHS,
    constant model: Model?
  ) -> PredicateExpressions.NotEqual<Promoted<Identifier<LHS>>, Constant<PersistentIdentifier?>>
  where LHS.Output == Model {
    .init(lhs: .init(identifier(lhs)), rhs: .init(model?.persistentModelID))
  }

  /// Whether a node does not come to a captured model that must be there.
  public static func notEqual<LHS: PredicateExpression>(
    _ lhs: LHS,
    failing model: _FailingConstant<LHS.Output>
  ) -> PredicateExpressions.NotEqual<Identifier<LHS>, Required<PersistentIdentifier>>
  where LHS.Output: PersistentModel {
    .init(lhs: identifier(lhs), rhs: required(model.map(\.persistentModelID)))
  }

  /// Whether a node that may be nil does not come to a captured model that must be there.
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

  /// Whether a node that may be nil does not come to a captured model that may be nil, and must be there.
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
