public import Foundation

/// A captured value that may be missing: a force-unwrapped optional, or an element of a collection.
///
/// A missing value has no effect until the predicate reaches it; then the predicate does not match.
public struct _FailingConstant<Value> {
  /// The value, if it exists.
  public let optional: Value?

  fileprivate init(_ optional: Value?) { self.optional = optional }

  /// Returns the result of a closure for the value.
  public func map<Result>(_ transform: (Value) -> Result) -> _FailingConstant<Result> {
    .init(optional.map(transform))
  }
}

extension _PredicateBuilder {
  /// Force-unwraps a captured optional.
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

  /// The value of a captured dictionary for a key; a missing key does not fail.
  public static func element<Key, Value>(
    of base: [Key: Value],
    at key: Key
  ) -> _FailingConstant<Value?> {
    .init(.some(base[key]))
  }

  /// A captured value that must exist when the predicate reaches it.
  public static func required<Value>(_ constant: _FailingConstant<Value>) -> Required<Value> {
    .init(.init(constant.optional))
  }

  /// The node of a captured value that must exist.
  public typealias Required<Value> =
    PredicateExpressions.ForcedUnwrap<PredicateExpressions.Value<Value?>, Value>
}
