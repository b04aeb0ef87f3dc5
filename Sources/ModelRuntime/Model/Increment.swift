import RowFormat

extension PersistentModel {
  /// Adds to a number, so that concurrent additions of others also count.
  ///
  /// ```swift
  /// article.add(1, to: \.viewCount)
  /// try context.save()
  /// ```
  ///
  /// The property changes at once. At the save, whatever its merge policy, the amount is added to the value stored by then,
  /// and the property becomes the sum. A property that is later set to anything else has a value like any other.
  ///
  /// Stores over a log and on a server support it; with any other the save throws, with the store's name. Undoing it subtracts
  /// the amount again, also a saved one. A sum that overflows leaves the property as it is, and the next save or fetch throws.
  ///
  /// - Parameters:
  ///   - amount: The amount to add; a negative number to subtract.
  ///   - property: An attribute of the model.
  /// - Precondition: The model is in a context, or the sum does not overflow.
  public func add<Value: FixedWidthInteger & Codable>(
    _ amount: Value,
    to property: ReferenceWritableKeyPath<Self, Value>
  ) {
    let arithmetic = CheckedArithmetic<Value>(
      add: { $0.addingReportingOverflow($1) },
      subtract: { $0.subtractingReportingOverflow($1) }
    )
    add(Amount(added: amount), to: property, arithmetic)
  }

  /// Adds to a number, so that concurrent additions of others also count.
  ///
  /// - Parameters:
  ///   - amount: The amount to add; a negative number to subtract.
  ///   - property: An attribute of the model.
  public func add<Value: BinaryFloatingPoint & Codable>(
    _ amount: Value,
    to property: ReferenceWritableKeyPath<Self, Value>
  ) {
    let arithmetic = CheckedArithmetic<Value>(
      add: { ($0 + $1, false) },
      subtract: { ($0 - $1, false) }
    )
    add(Amount(added: amount), to: property, arithmetic)
  }

  private func add<Value>(
    _ amount: Amount<Value>,
    to keyPath: ReferenceWritableKeyPath<Self, Value>,
    _ arithmetic: CheckedArithmetic<Value>
  ) {
    let state = _$state
    // Load the row first: the addition applies to the row's value, not to an older one.
    state.loadRow()
    let value = self[keyPath: keyPath]
    guard let sum = arithmetic.add(amount, to: value) else {
      return state.deferOverflow(
        of: amount,
        value,
        state.descriptor(of: self).ownOrInheritedProperty(for: keyPath)
      )
    }
    guard state.flags.contains(.stored), let context = state.context, !state.isDeleted,
      let property = state.descriptor(of: self).ownOrInheritedProperty(for: keyPath)
    else {
      self[keyPath: keyPath] = sum
      return
    }
    let former = state.intactIncrement(property, of: self)
    let isSet = former == nil && state.changed.contains(property.ordinal)
    context.registerUndo(
      ofAddingTo: keyPath,
      property,
      in: self,
      former,
      redo: { $0.add(amount, to: keyPath, arithmetic) },
      undoSaved: { $0.add(amount.negated, to: keyPath, arithmetic) }
    )
    context.withoutUndo { self[keyPath: keyPath] = sum }
    let total = isSet ? nil : arithmetic.total(former?.amount as? Amount<Value>, amount)
    state.setIncrement(
      total.map { Increment($0, to: keyPath, of: self, property, arithmetic) },
      property.ordinal
    )
  }
}

/// The sum of additions to a number, less the subtractions; an unsigned difference may be below zero.
struct Amount<Value: AdditiveArithmetic & Comparable> {
  var added = Value.zero
  var removed = Value.zero

  var negated: Amount { Amount(added: removed, removed: added) }
}

/// Arithmetic that detects results beyond its type.
struct CheckedArithmetic<Value: AdditiveArithmetic & Comparable> {
  typealias Operation = (Value, Value) -> (partialValue: Value, overflow: Bool)

  let add: Operation
  let subtract: Operation

  /// Adds an amount to a number.
  ///
  /// - Returns: The sum; `nil` if it overflows.
  func add(_ amount: Amount<Value>, to value: Value) -> Value? {
    if amount.removed == .zero { return checked(add(value, amount.added)) }
    if amount.added == .zero { return checked(subtract(value, amount.removed)) }
    if amount.added >= amount.removed {
      return checked(subtract(amount.added, amount.removed)).flatMap { checked(add(value, $0)) }
    }
    return checked(subtract(amount.removed, amount.added)).flatMap { checked(subtract(value, $0)) }
  }

  /// The sum of two amounts; `nil` if it overflows.
  func total(_ former: Amount<Value>?, _ amount: Amount<Value>) -> Amount<Value>? {
    guard let former else { return amount }
    guard let added = checked(add(former.added, amount.added)),
      let removed = checked(add(former.removed, amount.removed))
    else { return nil }
    return Amount(added: added, removed: removed)
  }

  private func checked(_ result: (partialValue: Value, overflow: Bool)) -> Value? {
    result.overflow ? nil : result.partialValue
  }
}

/// A pending addition to a property, independent of the stored value.
struct Increment {
  let amount: Any
  /// Whether the property of the object still has the value that adding gave it.
  let isIntact: (any PersistentModel) -> Bool
  /// Sets the property of the object to the sum with a stored row's value.
  let add: (any PersistentModel, MergeBase) throws -> Increment

  /// Describes the additions to a property up to its current value.
  init<M: PersistentModel, Value>(
    _ amount: Amount<Value>,
    to keyPath: ReferenceWritableKeyPath<M, Value>,
    of model: M,
    _ property: ModelProperty,
    _ arithmetic: CheckedArithmetic<Value>
  ) {
    let result = model[keyPath: keyPath]
    self.amount = amount
    isIntact = { model in
      guard let value = (model as? M)?[keyPath: keyPath] else { return false }
      // NaN is not equal to itself.
      return value == result || value != value && result != result
    }
    add = { model, stored in
      guard let model = model as? M else {
        preconditionFailure("\(type(of: model)) has no \(property.name)")
      }
      let descriptor = model._$state.descriptor
      let value = stored.value(of: property, descriptor) as? Value ?? .zero
      guard let sum = arithmetic.add(amount, to: value) else {
        throw SwiftDataError.overflow(of: amount, value, descriptor, property, "stored by now")
      }
      model[keyPath: keyPath] = sum
      return Increment(amount, to: keyPath, of: model, property, arithmetic)
    }
  }
}

extension SwiftDataError {
  fileprivate static func overflow<Value>(
    of amount: Amount<Value>,
    _ value: Value,
    _ descriptor: ModelDescriptor,
    _ property: ModelProperty?,
    _ place: String
  ) -> SwiftDataError {
    let name = "\(descriptor.entityName).\(property?.name ?? "a property")"
    let change =
      amount.removed == .zero
      ? "adding \(amount.added) to" : "taking \(amount.removed) less \(amount.added) off"
    return modelValidationFailure.explained(
      "\(change) \(value), which is \(place), overflows \(name)",
      entity: descriptor.entityName,
      property: property?.name
    )
  }
}

extension _ModelState {
  /// Makes the next save or fetch throw an overflow error.
  fileprivate func deferOverflow<Value>(
    of amount: Amount<Value>,
    _ value: Value,
    _ property: ModelProperty?
  ) {
    let error = SwiftDataError.overflow(of: amount, value, descriptor, property, "the object's")
    guard let context else { preconditionFailure("\(error)") }
    context.deferredError = context.deferredError ?? error
  }
}

extension _ModelState {
  /// The pending addition to a property, if the property was not changed otherwise since.
  func intactIncrement(_ property: ModelProperty, of model: any PersistentModel) -> Increment? {
    guard let increment = mergeMemory?.increments[property.ordinal], increment.isIntact(model)
    else {
      return nil
    }
    return increment
  }

  func setIncrement(_ increment: Increment?, _ ordinal: Int) {
    if increment == nil && mergeMemory == nil { return }
    mergeMemory = mergeMemory ?? MergeMemory()
    mergeMemory?.increments[ordinal] = increment
  }
}
