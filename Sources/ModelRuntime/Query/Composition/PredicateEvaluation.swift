public import Foundation

/// A predicate as a part of another: its variable is a node of the other.
///
/// Foundation has such a node on Apple's platforms only.
public struct _PredicateEvaluation<Input: PredicateExpression, Model>: PredicateExpression {
  public typealias Output = Bool

  private let predicate: Predicate<Model>
  private let input: Input

  init(_ predicate: Predicate<Model>, of input: Input) {
    self.predicate = predicate
    self.input = input
  }

  public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    try predicate.evaluate(input.evaluate(bindings, as: Model.self))
  }
}

extension _PredicateEvaluation: Sendable where Input: Sendable {}
extension _PredicateEvaluation: _UncodableNode, StandardPredicateExpression, Codable
where Input: StandardPredicateExpression {}

extension _PredicateEvaluation: QueryTranslatable where Input: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let (root, inner) = try translation.inlining(
      predicate.expression,
      predicate.variable.key,
      of: input
    )
    return try root.translate(inner)
  }

  func translateRequired(
    _ translation: QueryTranslation
  ) throws(Untranslatable) -> QueryExpression {
    let (root, inner) = try translation.inlining(
      predicate.expression,
      predicate.variable.key,
      of: input
    )
    return try root.translateRequired(inner)
  }
}

extension _PredicateEvaluation: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Bool> {
    let evaluate = predicate.expression.makeEvaluator()
    let input = input.makeEvaluator()
    let variable = predicate.variable
    return { bindings in
      guard let model = try input(bindings) as? Model else { throw QueryFailure.otherClass }
      return try evaluate(PredicateBindings((variable, model)))
    }
  }
}

/// An expression as a part of a predicate.
///
/// Foundation has such a node, but it is not sendable on Linux.
public struct _ExpressionEvaluation<Input: PredicateExpression, Model, Output>:
  PredicateExpression
{
  private let expression: Foundation.Expression<Model, Output>
  private let input: Input

  init(_ expression: Foundation.Expression<Model, Output>, of input: Input) {
    self.expression = expression
    self.input = input
  }

  public func evaluate(_ bindings: PredicateBindings) throws -> Output {
    try expression.evaluate(input.evaluate(bindings, as: Model.self))
  }
}

extension _ExpressionEvaluation: Sendable where Input: Sendable {}
extension _ExpressionEvaluation: _UncodableNode, StandardPredicateExpression, Codable
where Input: StandardPredicateExpression {}

extension _ExpressionEvaluation: QueryTranslatable where Input: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let (root, inner) = try translation.inlining(
      expression.expression,
      expression.variable.key,
      of: input
    )
    return try root.translate(inner)
  }
}

extension _ExpressionEvaluation: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Output> {
    let evaluate = expression.expression.makeEvaluator()
    let input = input.makeEvaluator()
    let variable = expression.variable
    return { bindings in
      guard let model = try input(bindings) as? Model else { throw QueryFailure.otherClass }
      return try evaluate(PredicateBindings((variable, model)))
    }
  }
}

extension _PredicateBuilder {
  /// Tests whether a captured predicate holds for a node's value.
  public static func evaluate<Input: PredicateExpression, Model>(
    _ predicate: Predicate<Model>,
    _ input: Input
  ) -> _PredicateEvaluation<Input, Model> {
    .init(predicate, of: input)
  }

  /// Makes the result of a captured expression for a node's value.
  public static func evaluate<Input: PredicateExpression, Model, Output>(
    _ expression: Foundation.Expression<Model, Output>,
    _ input: Input
  ) -> _ExpressionEvaluation<Input, Model, Output> {
    .init(expression, of: input)
  }
}

extension PredicateExpression {
  /// The value, cast to a class above or below the node's own.
  fileprivate func evaluate<Model>(_ bindings: PredicateBindings, as _: Model.Type) throws -> Model
  {
    guard let model = try evaluate(bindings) as? Model else {
      throw PredicateError.forceCastFailure
    }
    return model
  }
}

extension QueryTranslation {
  /// The root of another tree, and its translation with the variable replaced.
  fileprivate func inlining(
    _ tree: any PredicateExpression,
    _ variable: PredicateExpressions.VariableID,
    of input: some QueryTranslatable
  ) throws(Untranslatable) -> (root: any QueryTranslatable, translation: QueryTranslation) {
    guard let root = tree as? any QueryTranslatable else {
      throw .node("\(Swift.type(of: tree))")
    }
    return (root, ofOther(variable, boundTo: try input.translate(self)))
  }
}
