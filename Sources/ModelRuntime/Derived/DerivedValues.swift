/// Computed values for the derived properties of one model; the argument of every generated `_$derive(from:)`.
public struct _DerivedValues {
  private var values: [Int: Any] = [:]

  init() {}

  subscript(ordinal: Int) -> Any? {
    get { values[ordinal] }
    set { values[ordinal] = newValue }
  }

  /// Puts the value of a property into its slot, if there is one.
  public func set<Value>(_ slot: inout _Slot<Value>, _ ordinal: Int) {
    if let value = values[ordinal] as? Value { slot = _Slot(value) }
  }
}
