import Foundation

// For stores that receive snapshots: they keep the values that the context computes.

extension ChangeSet {
  /// Computes the derived attributes of all models of a save, and adds the models to save only for these.
  ///
  /// - Parameter now: The time of the save.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a sum that its type cannot hold.
  mutating func derive(at now: Date) throws {
    addOwnersOfSummands()
    var attributes: [ObjectIdentifier: [DerivedAttribute]] = [:]
    for model in [inserted, updated].joined() {
      let state = model._$state
      let descriptor = state.descriptor
      guard descriptor.isDeriving else { continue }
      let known = attributes[ObjectIdentifier(descriptor)] ?? descriptor.derivedAttributes
      attributes[ObjectIdentifier(descriptor)] = known
      state.prepareForEncoding(model)
      var values = _DerivedValues()
      for attribute in known {
        values[attribute.property.ordinal] = try attribute.value(of: model, at: now)
      }
      model._$derive(from: values)
    }
  }

  /// Adds the models whose sums change because a number of a member was set, or a member was removed.
  private mutating func addOwnersOfSummands() {
    var known = Set([inserted, updated, deleted].joined().map { ObjectIdentifier($0) })
    var owners: [any PersistentModel] = []
    for member in [inserted, updated, deleted].joined() {
      let state = member._$state
      for property in state.descriptor.relationships {
        guard let list = property.inverse, list.isDerivable, !property.isToMany,
          let owner = state.linkedModel(property), !owner._$state.isDeleted,
          owner._$state.flags.contains(.stored), owner._$state.descriptor.isDeriving,
          owner._$state.exists(), known.insert(ObjectIdentifier(owner)).inserted
        else { continue }
        owners.append(owner)
      }
    }
    updated += owners
  }
}

extension DerivedAttribute {
  /// The derived value from an object's unsaved values, of the property's type.
  fileprivate func value(of model: any PersistentModel, at now: Date) throws -> Any {
    let state = model._$state
    switch source {
    case .count(let list): return members(list, of: state).count
    case .sum(let list, let summand, let arithmetic):
      let read = summand.makeReader()
      let numbers = members(list, of: state).map(read)
      return try sum(numbers, arithmetic, state.descriptor)
    case .canonical(let text):
      if case .text(let value) = text.makeReader()(model) {
        return Schema.Derivation.canonicalText(of: value)
      }
      return String?.none as Any
    case .modificationDate: return now
    }
  }

  private func members(_ list: ModelProperty, of state: _ModelState) -> [any PersistentModel] {
    state.destinations(list).filter { !$0._$state.isDeleted }
  }

  private func sum(
    _ numbers: [QueryValue],
    _ arithmetic: SumArithmetic,
    _ descriptor: ModelDescriptor
  ) throws -> Any {
    switch arithmetic {
    case .integer:
      var sum: Int128 = 0
      for case .integer(let number) in numbers { sum += arithmetic.integer(number) }
      let type = Swift.type(of: property.keyPath).valueType
      guard let integer = type as? any FixedWidthInteger.Type,
        let value = exactly(integer, sum)
      else { throw SwiftDataError.overflow(ofSum: sum, property, descriptor) }
      return value
    case .double, .float:
      var sum = 0.0
      for case .double(let number) in numbers { sum += number }
      if case .float = arithmetic { return Float(sum) }
      return sum
    }
  }

  private func exactly<I: FixedWidthInteger>(_: I.Type, _ sum: Int128) -> Any? { I(exactly: sum) }
}

extension SwiftDataError {
  /// The error of a sum that its attribute cannot hold.
  package static func overflow(
    ofSum sum: Int128,
    _ property: ModelProperty,
    _ descriptor: ModelDescriptor
  ) -> SwiftDataError {
    modelValidationFailure.explained(
      "the sum \(sum) overflows \(descriptor.entityName).\(property.name), which is derived",
      entity: descriptor.entityName,
      property: property.name
    )
  }
}
