public import Foundation

/// A captured value that may not be there: what was unwrapped by force, an element of a collection.
///
/// Nothing is wrong with that until the predicate gets there, and then it does not match.
public struct _FailingConstant<Value> {
  /// The value, if it is there.
  public let optional: Value?

  fileprivate init(_ optional: Value?) { self.optional = optional }

  /// What a closure makes of the value.
  public func map<Result>(_ transform: (Value) -> Result) -> _FailingConstant<Result> {
    .init(optional.map(transform))
  }
}

extension _PredicateBuilder {
  /// What a captured optional holds.
  public static func unwrapping<Value>(_ optional: Value?) -> _FailingConstant<Value> {
    .init(optional)
  }

  /// An element of a captured collection.
  public static func element<Base: Collection>(
    of base: Base,
    at index: Base.Index
  ) -> _FailingConstant<Base.Element> {
    .init(index >= base.startIndex && index < base.endIndex ? base[index] : nil)
  }

  /// The value of a captured dictionary for a key; that there is none does not fail.
  public static func element<Key, Value>(
    of base: [Key: Value],
    at key: Key
  ) -> _FailingConstant<Value?> {
    .init(.some(base[key]))
  }

  /// A captured value that must be there when the predicate gets to it.
  public static func required<Value>(_ constant: _FailingConstant<Value>) -> Required<Value> {
    .init(.init(constant.optional))
  }

  /// The node of a captured value that must be there.
  public typealias Required<Value> =
    PredicateExpressions.ForcedUnwrap<PredicateExpressions.Value<Value?>, Value>
}
