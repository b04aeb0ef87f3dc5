public import Foundation

/// What ``Predicate(_:)`` writes into the source where Foundation has no single function for it.
///
/// The functions make Foundation's nodes wherever these can say it.
public enum _PredicateBuilder {
  /// A property of what a node comes to.
  @inlinable
  public static func keyPath<Root: PredicateExpression, Value>(
    _ root: Root,
    _ keyPath: any KeyPath<Root.Output, Value> & Sendable
  ) -> PredicateExpressions.KeyPath<Root, Value> {
    .init(root: root, keyPath: keyPath)
  }

  /// What a closure makes of a value that may be nil.
  public static func flatMap<LHS: PredicateExpression, RHS: PredicateExpression, Wrapped>(
    _ wrapped: LHS,
    _ transform: (PredicateExpressions.Variable<Wrapped>) -> RHS
  ) -> PredicateExpressions.OptionalFlatMap<LHS, Wrapped, RHS, RHS.Output>
  where LHS.Output == Wrapped? {
    .init(wrapped, transform)
  }

  /// What a closure makes of a value that may be nil, where it may have nothing to make of it.
  public static func flatMap<LHS: PredicateExpression, RHS: PredicateExpression, Wrapped, Result>(
    _ wrapped: LHS,
    _ transform: (PredicateExpressions.Variable<Wrapped>) -> RHS
  ) -> PredicateExpressions.OptionalFlatMap<LHS, Wrapped, RHS, Result>
  where LHS.Output == Wrapped?, RHS.Output == Result? {
    .init(wrapped, transform)
  }

  /// What a closure makes of a value that may be nil.
  public static func map<LHS: PredicateExpression, RHS: PredicateExpression, Wrapped>(
    _ wrapped: LHS,
    _ transform: (PredicateExpressions.Variable<Wrapped>) -> RHS
  ) -> PredicateExpressions.OptionalFlatMap<LHS, Wrapped, RHS, RHS.Output>
  where LHS.Output == Wrapped? {
    .init(wrapped, transform)
  }

  /// Gives a part of a predicate a name, for what follows.
  public static func naming<Value, Result>(_ value: Value, _ body: (Value) -> Result) -> Result {
    body(value)
  }
}
