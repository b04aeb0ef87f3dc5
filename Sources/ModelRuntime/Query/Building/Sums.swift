public import Foundation

// `+` and `-` for operands without a node in Foundation: a date and seconds, two texts.

/// A date moved by some seconds, forward or back.
public struct _ShiftedDate<LHS: PredicateExpression, RHS: PredicateExpression>: PredicateExpression
where LHS.Output == Date, RHS.Output == TimeInterval {
  public typealias Output = Date

  private let date: LHS
  private let interval: RHS
  private let isEarlier: Bool

  fileprivate init(_ date: LHS, _ interval: RHS, isEarlier: Bool) {
    self.date = date
    self.interval = interval
    self.isEarlier = isEarlier
  }

  public func evaluate(_ bindings: PredicateBindings) throws -> Date {
    let interval = try interval.evaluate(bindings)
    return try date.evaluate(bindings) + (isEarlier ? -interval : interval)
  }
}

extension _ShiftedDate: Sendable where LHS: Sendable, RHS: Sendable {}
extension _ShiftedDate: _UncodableNode, StandardPredicateExpression, Codable
where LHS: StandardPredicateExpression, RHS: StandardPredicateExpression {}

extension _ShiftedDate: QueryTranslatable where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    let isEarlier = isEarlier
    return .combining(
      try date.translate(translation),
      try interval.translate(translation),
      .init(name: isEarlier ? "-" : "+") { date, interval in
        guard case .double(let date) = date, case .double(let interval) = interval else {
          return .null
        }
        return .double(isEarlier ? date - interval : date + interval)
      }
    )
  }
}

extension _ShiftedDate: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<Date> {
    let (date, interval) = (date.makeEvaluator(), interval.makeEvaluator())
    let isEarlier = isEarlier
    return { try date($0) + (isEarlier ? -interval($0) : interval($0)) }
  }
}

/// The concatenation of two texts.
public struct _JoinedText<LHS: PredicateExpression, RHS: PredicateExpression>: PredicateExpression
where LHS.Output == String, RHS.Output == String {
  public typealias Output = String

  private let lhs: LHS
  private let rhs: RHS

  fileprivate init(_ lhs: LHS, _ rhs: RHS) {
    self.lhs = lhs
    self.rhs = rhs
  }

  public func evaluate(_ bindings: PredicateBindings) throws -> String {
    try lhs.evaluate(bindings) + rhs.evaluate(bindings)
  }
}

extension _JoinedText: Sendable where LHS: Sendable, RHS: Sendable {}
extension _JoinedText: _UncodableNode, StandardPredicateExpression, Codable
where LHS: StandardPredicateExpression, RHS: StandardPredicateExpression {}

extension _JoinedText: QueryTranslatable where LHS: QueryTranslatable, RHS: QueryTranslatable {
  func translate(_ translation: QueryTranslation) throws(Untranslatable) -> QueryExpression {
    .combining(
      try lhs.translate(translation),
      try rhs.translate(translation),
      .init(name: "+") { lhs, rhs in
        guard case .text(let lhs) = lhs, case .text(let rhs) = rhs else { return .null }
        return .text(lhs + rhs)
      }
    )
  }
}

extension _JoinedText: ObjectEvaluable {
  func makeObjectEvaluator() -> NodeEvaluator<String> {
    let (lhs, rhs) = (lhs.makeEvaluator(), rhs.makeEvaluator())
    return { try lhs($0) + rhs($0) }
  }
}

extension QueryExpression {
  /// Applies a function of two values; for two constants, to a constant result.
  fileprivate static func combining(
    _ lhs: QueryExpression,
    _ rhs: QueryExpression,
    _ combination: ValueCombination
  ) -> QueryExpression {
    if case .constant(let lhs) = lhs, case .constant(let rhs) = rhs {
      return .constant(combination.apply(lhs, rhs))
    }
    return .combined(lhs, rhs, combination)
  }
}

extension _PredicateBuilder {
  /// The sum of two numbers.
  public static func sum<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.Arithmetic<LHS, RHS>
  where LHS.Output == RHS.Output, LHS.Output: Numeric {
    .init(lhs: lhs, rhs: rhs, op: .add)
  }

  /// A date moved forward by some seconds.
  public static func sum<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ date: LHS,
    _ interval: RHS
  ) -> _ShiftedDate<LHS, RHS> {
    .init(date, interval, isEarlier: false)
  }

  /// The concatenation of two texts.
  public static func sum<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> _JoinedText<LHS, RHS> {
    .init(lhs, rhs)
  }

  /// The difference of two numbers.
  public static func difference<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ lhs: LHS,
    _ rhs: RHS
  ) -> PredicateExpressions.Arithmetic<LHS, RHS>
  where LHS.Output == RHS.Output, LHS.Output: Numeric {
    .init(lhs: lhs, rhs: rhs, op: .subtract)
  }

  /// A date moved back by some seconds.
  public static func difference<LHS: PredicateExpression, RHS: PredicateExpression>(
    _ date: LHS,
    _ interval: RHS
  ) -> _ShiftedDate<LHS, RHS> {
    .init(date, interval, isEarlier: true)
  }
}
