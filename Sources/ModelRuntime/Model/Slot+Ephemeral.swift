// The code that `@Model` generates for `@Attribute(.ephemeral) var draft = "none"` begins the property anew after each fetch,
// and writes a row with its initial value. A relationship with that option is stored as any other: its values are in the state,
// and its slot is empty.

extension _Slot {
  /// Gives an attribute that is not stored its first value after a fetch.
  @_disfavoredOverload
  @inlinable @inline(__always)
  public mutating func _begin(with initialValue: @autoclosure () -> Value) {
    if value == nil { value = initialValue() }
  }

  /// Returns the slot that a row is written from.
  @_disfavoredOverload
  @inlinable
  public func _stored(as initialValue: @autoclosure () -> Value) -> _Slot { _Slot(initialValue()) }
}

// MARK: Relationships

extension _Slot {
  @inlinable public func _begin<D: PersistentModel>(with initialValue: @autoclosure () -> Value)
  where Value == D? {}

  @inlinable public func _begin<D: PersistentModel>(with initialValue: @autoclosure () -> Value)
  where Value == [D] {}

  @inlinable public func _begin<D: PersistentModel>(with initialValue: @autoclosure () -> Value)
  where Value == [D]? {}

  @inlinable
  public func _stored<D: PersistentModel>(as initialValue: @autoclosure () -> Value) -> _Slot
  where Value == D? { self }

  @inlinable
  public func _stored<D: PersistentModel>(as initialValue: @autoclosure () -> Value) -> _Slot
  where Value == [D] { self }

  @inlinable
  public func _stored<D: PersistentModel>(as initialValue: @autoclosure () -> Value) -> _Slot
  where Value == [D]? { self }
}
