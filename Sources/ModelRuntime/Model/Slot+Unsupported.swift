// The overloads chosen when a property's type cannot be stored. The compiler
// then reports that in words, where it would otherwise list the overloads that do not fit.

extension _Slot {
  @available(
    *,
    unavailable,
    message: """
      a persisted property is a model, an array of models, or Codable; make its type Codable, \
      or mark the property @Transient
      """
  )
  @_disfavoredOverload
  public mutating func _get(_ model: Any, _ ordinal: Int) -> Value {
    fatalError("only called by code that does not compile")
  }

  /// Silent, because one error for a property is enough.
  @_disfavoredOverload
  public mutating func _set(_ newValue: Value, _ model: Any, _ ordinal: Int) {}

  /// Silent, because one error for a property is enough.
  @_disfavoredOverload
  public func _encode<Encoder>(into encoder: inout Encoder, _ ordinal: Int)
  where Encoder: ~Copyable {}
}
