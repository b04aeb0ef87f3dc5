extension _Slot {
  /// Creates an empty slot for values of the type of `initialValue`, which is not evaluated.
  ///
  /// A property without a type annotation has the type of its initial value. The slot must have it
  /// too, and only the compiler can infer it; the value itself is made once, by the property.
  @inlinable
  public init(of initialValue: @autoclosure () throws -> Value) { value = nil }
}
