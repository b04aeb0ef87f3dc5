import Foundation

// The code that `@Model` generates for `var title: String`, the property with ordinal 0:
//
//     @safe @exclusivity(unchecked) private var _$s_title = ModelRuntime._Slot<String>()
//
//     var title: String {
//       @storageRestrictions(initializes: _$s_title)
//       init(initialValue) { _$s_title = .init(initialValue) }
//       get {
//         if ModelRuntime._mayBeTracking { … ModelRuntime._noteAccess(self, \.title) }
//         return _$s_title._get(self, 0)
//       }
//       set {
//         ModelRuntime._mutate(self, \.title) … only when observed
//         _$s_title._set(newValue, self, 0)
//       }
//     }
//
// The property's type decides which `_get` and `_set` serve it, when the user's module is
// compiled: there is a family each for column values, raw-value enums, to-one and to-many
// relationships, and any other `Codable` type.

/// The storage of one persisted property: a value, or nothing while the value is still in the row.
@frozen public struct _Slot<Value> {
  public var value: Value?

  @inlinable public init() { value = nil }
  @inlinable public init(_ value: Value) { self.value = value }
}

/// A token for an attribute that is being changed in place.
@frozen public struct _SlotLoan {
  @inlinable init() {}
}

// MARK: Column values

extension _Slot where Value: _ColumnValue {
  @inlinable @inline(__always)
  public mutating func _get<M: PersistentModel>(_ model: M, _ ordinal: Int) -> Value {
    if value == nil { _decode(model, ordinal) }
    return unsafe value.unsafelyUnwrapped
  }

  /// Decodes the row's value into the slot; out of line, so that reading a value that is already there inlines.
  @inlinable @inline(never)
  mutating func _decode<M: PersistentModel>(_ model: M, _ ordinal: Int) {
    value = Value._decode(model.rowForReading(), ordinal)
  }

  @inlinable @inline(__always)
  public mutating func _set<M: PersistentModel>(_ newValue: Value, _ model: M, _ ordinal: Int) {
    model._$stateReference.willChange(ordinal)
    value = newValue
  }

  @inlinable @inline(__always)
  public func _encode(into encoder: inout _RowEncoder, _ ordinal: Int) {
    if let value { value._encode(into: &encoder, ordinal) } else { encoder.keep(ordinal) }
  }
}

// MARK: Enumerations with a raw value

extension _Slot where Value: RawRepresentable & Codable, Value.RawValue: _ColumnValue {
  @inlinable
  public mutating func _get<M: PersistentModel>(_ model: M, _ ordinal: Int) -> Value {
    if let value { return value }
    let decoded: Value = _decodeRaw(model.rowForReading(), ordinal, of: model)
    value = decoded
    return decoded
  }

  @inlinable
  public mutating func _set<M: PersistentModel>(_ newValue: Value, _ model: M, _ ordinal: Int) {
    model._$stateReference.willChange(ordinal)
    value = newValue
  }

  @inlinable
  public func _encode(into encoder: inout _RowEncoder, _ ordinal: Int) {
    if let value { value.rawValue._encode(into: &encoder, ordinal) } else { encoder.keep(ordinal) }
  }
}

extension _Slot {
  @inlinable
  public mutating func _get<M: PersistentModel, Wrapped: RawRepresentable & Codable>(
    _ model: M,
    _ ordinal: Int
  ) -> Value where Value == Wrapped?, Wrapped.RawValue: _ColumnValue {
    if let value { return value }
    let row = model.rowForReading()
    let decoded: Value = row.isNull(ordinal) ? nil : Wrapped(rawValue: ._decode(row, ordinal))
    value = .some(decoded)
    return decoded
  }

  @inlinable
  public mutating func _set<M: PersistentModel, Wrapped: RawRepresentable & Codable>(
    _ newValue: Value,
    _ model: M,
    _ ordinal: Int
  ) where Value == Wrapped?, Wrapped.RawValue: _ColumnValue {
    model._$stateReference.willChange(ordinal)
    value = .some(newValue)
  }

  @inlinable
  public func _encode<Wrapped: RawRepresentable & Codable>(
    into encoder: inout _RowEncoder,
    _ ordinal: Int
  ) where Value == Wrapped?, Wrapped.RawValue: _ColumnValue {
    guard let value else { return encoder.keep(ordinal) }
    value?.rawValue._encode(into: &encoder, ordinal)
  }
}

// MARK: Column values to which an app gives a raw value
//
// For `extension Date: RawRepresentable`, which apps declare for property wrappers: stored like any other date. Without these
// overloads, calls would be ambiguous between the two families above.

extension _Slot
where Value: _ColumnValue & RawRepresentable, Value.RawValue: _ColumnValue {
  @inlinable @inline(__always)
  public mutating func _get<M: PersistentModel>(_ model: M, _ ordinal: Int) -> Value {
    if value == nil { _decode(model, ordinal) }
    return unsafe value.unsafelyUnwrapped
  }

  @inlinable @inline(__always)
  public mutating func _set<M: PersistentModel>(_ newValue: Value, _ model: M, _ ordinal: Int) {
    model._$stateReference.willChange(ordinal)
    value = newValue
  }

  @inlinable @inline(__always)
  public func _encode(into encoder: inout _RowEncoder, _ ordinal: Int) {
    if let value { value._encode(into: &encoder, ordinal) } else { encoder.keep(ordinal) }
  }
}

extension _Slot {
  @inlinable
  public mutating func _get<M: PersistentModel, Wrapped: _ColumnValue & RawRepresentable>(
    _ model: M,
    _ ordinal: Int
  ) -> Value where Value == Wrapped?, Wrapped.RawValue: _ColumnValue {
    if value == nil { _decode(model, ordinal) }
    return unsafe value.unsafelyUnwrapped
  }

  @inlinable
  public mutating func _set<M: PersistentModel, Wrapped: _ColumnValue & RawRepresentable>(
    _ newValue: Value,
    _ model: M,
    _ ordinal: Int
  ) where Value == Wrapped?, Wrapped.RawValue: _ColumnValue {
    model._$stateReference.willChange(ordinal)
    value = newValue
  }

  @inlinable
  public func _encode<Wrapped: _ColumnValue & RawRepresentable>(
    into encoder: inout _RowEncoder,
    _ ordinal: Int
  ) where Value == Wrapped?, Wrapped.RawValue: _ColumnValue {
    if let value { value._encode(into: &encoder, ordinal) } else { encoder.keep(ordinal) }
  }
}

// MARK: Other Codable values

extension _Slot where Value: Codable {
  @_disfavoredOverload
  public mutating func _get<M: PersistentModel>(_ model: M, _ ordinal: Int) -> Value {
    if let value { return value }
    let decoded: Value = _decodeStructured(
      model.rowForReading(),
      ordinal,
      of: model
    )
    value = decoded
    return decoded
  }

  @_disfavoredOverload
  public mutating func _set<M: PersistentModel>(_ newValue: Value, _ model: M, _ ordinal: Int) {
    model._$stateReference.willChange(ordinal)
    value = newValue
  }

  @_disfavoredOverload
  public func _encode(into encoder: inout _RowEncoder, _ ordinal: Int) {
    if let value, encoder.writesValue(ordinal) {
      encoder.set(ordinal, structured: value)
    } else {
      encoder.keepValue(ordinal)
    }
  }
}

extension _Slot {
  /// Attributes need no adopting: an initializer's value stays in the slot.
  @_disfavoredOverload
  @inlinable public mutating func _adopt<M: PersistentModel>(_ model: M, _ ordinal: Int) {}
}

// MARK: Changing in place

extension _Slot {
  /// Leaves the value of an attribute in the slot, for code that reads it while it is changed:
  /// `note.tags.removeAll { !note.tags.contains($0) }`.
  ///
  /// So a collection is copied when it is changed in place, as by the getter and the setter of Apple's models.
  @_disfavoredOverload
  @inlinable @inline(__always)
  public mutating func _lend<M: PersistentModel>(
    _ variable: inout Value,
    _ model: M,
    _ ordinal: Int
  ) -> _SlotLoan {
    _SlotLoan()
  }

  @inlinable @inline(__always)
  public func _takeBack(_ loan: _SlotLoan) {}

  /// Lends the list of a relationship, so that one model is appended to it without copying all.
  public mutating func _lend<M: PersistentModel, D: PersistentModel>(
    _ variable: inout Value,
    _ model: M,
    _ ordinal: Int
  ) -> _ListModification where Value == [D] {
    value = nil
    variable = []
    let loan = unsafe withUnsafePointer(to: &variable) {
      unsafe model._$state.lendDestinations(in: $0, ordinal, of: model, as: D.self)
    }
    variable = loan.list
    return loan.modification
  }

  public mutating func _lend<M: PersistentModel, D: PersistentModel>(
    _ variable: inout Value,
    _ model: M,
    _ ordinal: Int
  ) -> _ListModification where Value == [D]? {
    value = nil
    variable = nil
    let loan = unsafe withUnsafePointer(to: &variable) {
      unsafe model._$state.lendDestinations(in: $0, ordinal, of: model, as: D.self)
    }
    variable = loan.list
    return loan.modification
  }

  public func _takeBack(_ loan: _ListModification) { loan.end() }
}

// MARK: Relationships: the values are in the state, where both sides are kept consistent

extension _Slot where Value: PersistentModel {
  public mutating func _get<M: PersistentModel>(_ model: M, _ ordinal: Int) -> Value {
    _adopt(model, ordinal)
    return model._$state.requiredDestination(ordinal, of: model, as: Value.self)
  }

  public mutating func _set<M: PersistentModel>(_ newValue: Value, _ model: M, _ ordinal: Int) {
    value = nil
    model._$state.setDestination(newValue, ordinal, of: model)
  }

  public func _encode(into encoder: inout _RowEncoder, _ ordinal: Int) {
    encoder.setRelationship(ordinal)
  }

  /// Moves a value that an initializer put into the slot to its relationship.
  public mutating func _adopt<M: PersistentModel>(_ model: M, _ ordinal: Int) {
    guard let initial = value, !model._$state.noteInitial([initial], ordinal, of: model) else {
      return
    }
    value = nil
    model._$state.setDestination(initial, ordinal, of: model)
  }
}

extension _Slot {
  public mutating func _get<M: PersistentModel, D: PersistentModel>(
    _ model: M,
    _ ordinal: Int
  ) -> Value where Value == D? {
    _adopt(model, ordinal)
    if let known = model._$fetchedRow.destination(ordinal, as: D.self) { return known }
    return model._$state.destination(ordinal, of: model, as: D.self)
  }

  public mutating func _set<M: PersistentModel, D: PersistentModel>(
    _ newValue: Value,
    _ model: M,
    _ ordinal: Int
  ) where Value == D? {
    value = nil
    model._$state.setDestination(newValue, ordinal, of: model)
  }

  public func _encode<D: PersistentModel>(
    into encoder: inout _RowEncoder,
    _ ordinal: Int
  ) where Value == D? {
    encoder.setRelationship(ordinal)
  }

  public mutating func _get<M: PersistentModel, D: PersistentModel>(
    _ model: M,
    _ ordinal: Int
  ) -> Value where Value == [D] {
    _adopt(model, ordinal)
    return model._$state.destinations(ordinal, of: model, as: D.self)
  }

  public mutating func _set<M: PersistentModel, D: PersistentModel>(
    _ newValue: Value,
    _ model: M,
    _ ordinal: Int
  ) where Value == [D] {
    value = nil
    model._$state.setDestinations(newValue, ordinal, of: model)
  }

  public func _encode<D: PersistentModel>(
    into encoder: inout _RowEncoder,
    _ ordinal: Int
  ) where Value == [D] {
    encoder.setRelationship(ordinal)
  }

  public mutating func _get<M: PersistentModel, D: PersistentModel>(
    _ model: M,
    _ ordinal: Int
  ) -> Value where Value == [D]? {
    _adopt(model, ordinal)
    let members = model._$state.destinations(ordinal, of: model, as: D.self)
    if case .some(.none) = value, members.isEmpty, model._$state.mayLackLists { return nil }
    return members
  }

  public mutating func _set<M: PersistentModel, D: PersistentModel>(
    _ newValue: Value,
    _ model: M,
    _ ordinal: Int
  ) where Value == [D]? {
    value = newValue == nil && model._$state.mayLackLists ? .some(nil) : nil
    model._$state.setDestinations(newValue ?? [], ordinal, of: model)
  }

  public func _encode<D: PersistentModel>(
    into encoder: inout _RowEncoder,
    _ ordinal: Int
  ) where Value == [D]? {
    encoder.setRelationship(ordinal)
  }

  public mutating func _adopt<M: PersistentModel, D: PersistentModel>(
    _ model: M,
    _ ordinal: Int
  ) where Value == D? {
    guard case .some(let initial) = value,
      !model._$state.noteInitial(initial.map { [$0] } ?? [], ordinal, of: model)
    else { return }
    value = nil
    model._$state.setDestination(initial, ordinal, of: model)
  }

  public mutating func _adopt<M: PersistentModel, D: PersistentModel>(
    _ model: M,
    _ ordinal: Int
  ) where Value == [D] {
    guard let initial = value, !model._$state.noteInitial(initial, ordinal, of: model) else {
      return
    }
    value = nil
    model._$state.adoptDestinations(initial, ordinal, of: model)
  }

  public mutating func _adopt<M: PersistentModel, D: PersistentModel>(
    _ model: M,
    _ ordinal: Int
  ) where Value == [D]? {
    guard case .some(.some(let initial)) = value,
      !model._$state.noteInitial(initial, ordinal, of: model)
    else { return }
    value = nil
    model._$state.adoptDestinations(initial, ordinal, of: model)
  }
}
