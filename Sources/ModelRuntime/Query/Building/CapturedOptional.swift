public import Foundation

/// What is made of a captured optional, or nothing if that is nil: which of both is known when the predicate is made.
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
  /// What a closure makes of a captured optional.
  public static func ifPresent<Captured, Body: PredicateExpression>(
    _ captured: Captured?,
    _ body: (Captured) -> Body
  ) -> _CapturedOptional<Body, Body.Output> {
    .init(captured.map(body))
  }

  /// What a closure makes of a captured optional, where it may have nothing to make of it.
  public static func ifPresent<Captured, Body: PredicateExpression, Result>(
    _ captured: Captured?,
    _ body: (Captured) -> Body
  ) -> _CapturedOptional<Body, Result> where Body.Output == Result? {
    .init(captured.map(body))
  }
}
