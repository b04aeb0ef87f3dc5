import Foundation
import RowFormat

// For stores that receive snapshots: they keep the values that the context computes.

extension ChangeSet {
  /// Computes the derived attributes of all models of a save, and adds the models to save only for these.
  ///
  /// - Parameter now: The time of the save.
  /// - Throws: ``SwiftDataError/modelValidationFailure`` for a sum that its type cannot hold.
  mutating func derive(at now: Date) throws {
    var attributes = AttributesByClass()
    try addOwners(&attributes)
    for model in [inserted, updated].joined() {
      let state = model._$state
      let descriptor = state.descriptor
      guard descriptor.isDeriving else { continue }
      state.prepareForEncoding(model)
      var values = _DerivedValues()
      // Totals first: reading a list may replace the model's row by one with a text that others have saved.
      for attribute in attributes[of: descriptor] {
        values[attribute.property.ordinal] = try attribute.value(of: model, at: now)
      }
      model._$derive(from: values)
    }
  }

  /// Adds the models whose counts and sums change because a number of a member was set, or a member was removed.
  private mutating func addOwners(_ attributes: inout AttributesByClass) throws {
    var known = Set([inserted, updated, deleted].joined().map { ObjectIdentifier($0) })
    var seen: Set<OwnedList> = []
    var owners: [any PersistentModel] = []
    for member in [inserted, updated, deleted].joined() {
      let state = member._$state
      for property in state.descriptor.relationships {
        guard let list = property.inverse, list.isDerivable, !property.isToMany,
          let owner = state.linkedModel(property), !owner._$state.isDeleted,
          owner._$state.flags.contains(.stored), owner._$state.descriptor.isDeriving,
          !known.contains(ObjectIdentifier(owner)),
          seen.insert(OwnedList(owner: owner._$state.reference, list: list.ordinal)).inserted
        else { continue }
        let totals = attributes[of: owner._$state.descriptor].filter { $0.isTotal(over: list) }
        guard !totals.isEmpty, owner._$state.exists() else { continue }
        owner._$state.prepareForEncoding(owner)
        guard try totals.contains(where: { try $0.isOutdated(in: owner) }) else { continue }
        known.insert(ObjectIdentifier(owner))
        owners.append(owner)
      }
    }
    updated += owners
  }
}

/// A list of a stored model, whose object may be gone by the time that another member leads to it.
private struct OwnedList: Hashable {
  let owner: RowReference
  let list: Int
}

/// The derived attributes of the classes of a save, each looked up once; those that read lists are the first.
private struct AttributesByClass {
  private var known: [ObjectIdentifier: [DerivedAttribute]] = [:]

  subscript(of descriptor: ModelDescriptor) -> [DerivedAttribute] {
    mutating get {
      if let found = known[ObjectIdentifier(descriptor)] { return found }
      let found = descriptor.derivedAttributes.totalsFirst
      known[ObjectIdentifier(descriptor)] = found
      return found
    }
  }
}

extension [DerivedAttribute] {
  /// The attributes, those that read lists before all others.
  fileprivate var totalsFirst: [DerivedAttribute] {
    filter(\.isTotal) + filter { !$0.isTotal }
  }
}

extension DerivedAttribute {
  /// Whether the attribute is a count of a list or a sum over one.
  fileprivate var isTotal: Bool {
    switch source {
    case .count, .sum: true
    case .canonical, .modificationDate: false
    }
  }

  /// Whether the attribute is a count of a list or a sum over it.
  fileprivate func isTotal(over list: ModelProperty) -> Bool {
    switch source {
    case .count(let own), .sum(let own, _, _): own === list
    case .canonical, .modificationDate: false
    }
  }

  /// Whether an object has another total than that of its list, with unsaved values.
  fileprivate func isOutdated(in model: any PersistentModel) throws -> Bool {
    let total = try value(of: model, at: .distantPast) as? AnyHashable
    return (model as Any)[keyPath: property.keyPath] as? AnyHashable != total
  }

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
    state.destinations(list).map { $0._$state.standIn ?? $0 }.filter { !$0._$state.isDeleted }
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

extension _ModelState {
  /// The object that represents the row now: during a save, a new one may take the place of one that lists still show.
  fileprivate var standIn: (any PersistentModel)? {
    guard flags.contains(.stored), let context, let connection else { return nil }
    return context.maps[connection.index][reference]?.model
  }
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
