import RowFormat

extension PersistentModel {
  /// Adds to a number, so that what others add at the same time counts, too.
  ///
  /// ```swift
  /// article.add(1, to: \.viewCount)
  /// try context.save()
  /// ```
  ///
  /// The property changes at once. At the save, whatever its merge policy, the amount is added to what is stored by then,
  /// and the property becomes that. Setting the property afterwards makes it a value like any other.
  ///
  /// Stores over a log do so; with any other the save throws, with the store's name.
  ///
  /// - Parameters:
  ///   - amount: What is added; a negative number to subtract.
  ///   - property: An attribute of the model.
  public func add<Value: FixedWidthInteger & Codable>(
    _ amount: Value,
    to property: ReferenceWritableKeyPath<Self, Value>
  ) {
    add(amount, to: property) { $0.addingReportingOverflow($1) }
  }

  /// Adds to a number, so that what others add at the same time counts, too.
  ///
  /// - Parameters:
  ///   - amount: What is added; a negative number to subtract.
  ///   - property: An attribute of the model.
  public func add<Value: BinaryFloatingPoint & Codable>(
    _ amount: Value,
    to property: ReferenceWritableKeyPath<Self, Value>
  ) {
    add(amount, to: property) { ($0 + $1, false) }
  }

  private func add<Value: AdditiveArithmetic>(
    _ amount: Value,
    to keyPath: ReferenceWritableKeyPath<Self, Value>,
    _ sum: @escaping Increment.Sum<Value>
  ) {
    let state = _$state
    guard state.flags.contains(.stored), state.context != nil, !state.isDeleted,
      let property = state.descriptor(of: self).property(for: keyPath)
    else {
      self[keyPath: keyPath] += amount
      return
    }
    state.loadRow()
    let former = state.intactIncrement(property, of: self)?.amount as? Value
    let isSet = former == nil && state.isSet(property, of: self)
    self[keyPath: keyPath] += amount
    let total = sum(former ?? .zero, amount)
    let isSum = !isSet && !total.overflow
    state.setIncrement(
      isSum ? Increment(total.partialValue, to: keyPath, of: self, property, sum) : nil,
      property.ordinal
    )
  }
}

/// What is to be added to a property, whatever is stored.
struct Increment {
  typealias Sum<Value> = (Value, Value) -> (partialValue: Value, overflow: Bool)

  let amount: Any
  /// Whether the property of the object still is what adding has made it.
  let isIntact: (any PersistentModel) -> Bool
  /// Makes the property of the object what adding to a stored row makes it.
  let add: (any PersistentModel, MergeBase) throws -> Increment

  /// Describes what was added to a property until it got the value that it has now.
  init<M: PersistentModel, Value: AdditiveArithmetic>(
    _ amount: Value,
    to keyPath: ReferenceWritableKeyPath<M, Value>,
    of model: M,
    _ property: ModelProperty,
    _ sum: @escaping Sum<Value>
  ) {
    let result = model[keyPath: keyPath]
    self.amount = amount
    isIntact = { ($0 as? M)?[keyPath: keyPath] == result }
    add = { model, stored in
      guard let model = model as? M else {
        preconditionFailure("\(type(of: model)) has no \(property.name)")
      }
      let descriptor = model._$state.descriptor
      let value = stored.value(of: property, descriptor) as? Value ?? .zero
      let new = sum(value, amount)
      if new.overflow {
        throw SwiftDataError.modelValidationFailure.explained(
          "adding \(amount) to \(value), which is stored by now, overflows "
            + "\(descriptor.entityName).\(property.name)",
          entity: descriptor.entityName,
          property: property.name
        )
      }
      model[keyPath: keyPath] = new.partialValue
      return Increment(amount, to: keyPath, of: model, property, sum)
    }
  }
}

extension _ModelState {
  /// What was added to a property, if nothing else was done to it since.
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

  /// Whether a property has an unsaved value.
  fileprivate func isSet(_ property: ModelProperty, of model: any PersistentModel) -> Bool {
    guard changed.contains(property.ordinal) else { return false }
    // From 63 on properties share a mark.
    guard property.ordinal >= 63, let keyPath = property.keyPath as? any PropertySetting,
      let value = keyPath.value(of: model) as? AnyHashable,
      let stored = base(of: property.ordinal)?.value(of: property, descriptor) as? AnyHashable
    else { return true }
    return value != stored
  }
}
