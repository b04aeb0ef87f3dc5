public import Foundation

/// Functions that ``Predicate(_:)`` generates calls to if Foundation has no single function for a construct.
///
/// The functions make Foundation's nodes wherever these suffice.
public enum _PredicateBuilder {
  /// A property of a node's value.
  @inlinable
  public static func keyPath<Root: PredicateExpression, Value>(
    _ root: Root,
    _ keyPath: any KeyPath<Root.Output, Value> & Sendable
  ) -> PredicateExpressions.KeyPath<Root, Value> {
    .init(root: root, keyPath: keyPath)
  }

  /// Makes the result of a closure for a value that may be nil.
  public static func flatMap<LHS: PredicateExpression, RHS: PredicateExpression, Wrapped>(
    _ wrapped: LHS,
    _ transform: (PredicateExpressions.Variable<Wrapped>) -> RHS
  ) -> PredicateExpressions.OptionalFlatMap<LHS, Wrapped, RHS, RHS.Output>
  where LHS.Output == Wrapped? {
    .init(wrapped, transform)
  }

  /// Makes the result of a closure, itself optional, for a value that may be nil.
  public static func flatMap<LHS: PredicateExpression, RHS: PredicateExpression, Wrapped, Result>(
    _ wrapped: LHS,
    _ transform: (PredicateExpressions.Variable<Wrapped>) -> RHS
  ) -> PredicateExpressions.OptionalFlatMap<LHS, Wrapped, RHS, Result>
  where LHS.Output == Wrapped?, RHS.Output == Result? {
    .init(wrapped, transform)
  }

  /// Makes the result of a closure for a value that may be nil.
  public static func map<LHS: PredicateExpression, RHS: PredicateExpression, Wrapped>(
    _ wrapped: LHS,
    _ transform: (PredicateExpressions.Variable<Wrapped>) -> RHS
  ) -> PredicateExpressions.OptionalFlatMap<LHS, Wrapped, RHS, RHS.Output>
  where LHS.Output == Wrapped? {
    .init(wrapped, transform)
  }

  /// A part of a predicate that is true or false.
  @inlinable
  public static func condition<Condition: PredicateExpression>(
    _ condition: Condition
  ) -> Condition where Condition.Output == Bool { condition }

  /// Names a part of a predicate for the code that follows.
  public static func naming<Value, Result>(_ value: Value, _ body: (Value) -> Result) -> Result {
    body(value)
  }
}
