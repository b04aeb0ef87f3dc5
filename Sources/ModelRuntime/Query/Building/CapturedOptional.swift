public import Foundation

/// The result of a closure for a captured optional, or nil: the choice is known when the predicate is made.
public struct _CapturedOptional<Body: PredicateExpression, Wrapped>: PredicateExpression {
  public typealias Output = Wrapped?

  private let body: Body?

  fileprivate init(_ body: Body?) { self.body = body }

  public func evaluate(_ bindings: PredicateBindings) throws -> Wrapped? {
    // The body gives either the value or an optional of it.
    guard let value = try body?.evaluate(bindings) else { return nil }
    return value as? Wrapped
  }
}

extension _CapturedOptional: Sendable where Body: Sendable {}
extension _CapturedOptional: _UncodableNode, StandardPredicateExpression, Codable
where Body: StandardPredicateExpression {}

extension _CapturedOptional: QueryTranslatable where Body: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    guard let body else { return .constant(.null) }
    return try body.translate(translation)
  }
}

extension _CapturedOptional: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Wrapped?> {
    guard let evaluate = body?.makeEvaluator() else { return { _ in nil } }
    return { try evaluate($0) as? Wrapped }
  }
}

extension _PredicateBuilder {
  /// Makes the result of a closure for a captured optional.
  public static func ifPresent<Captured, Body: PredicateExpression>(
    _ captured: Captured?,
    _ body: (Captured) -> Body
  ) -> _CapturedOptional<Body, Body.Output> {
    .init(captured.map(body))
  }

  /// Makes the result of a closure, itself optional, for a captured optional.
  public static func ifPresent<Captured, Body: PredicateExpression, Result>(
    _ captured: Captured?,
    _ body: (Captured) -> Body
  ) -> _CapturedOptional<Body, Result> where Body.Output == Result? {
    .init(captured.map(body))
  }
}
