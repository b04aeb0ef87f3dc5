import Foundation
import RowFormat

/// A derived attribute of a class, with the properties that it is computed from.
package struct DerivedAttribute: Sendable {
  /// The derivation of the attribute, with its properties.
  package enum Source: Sendable {
    /// The number of members of a list.
    case count(ModelProperty)
    /// The sum of a property of the members of a list.
    case sum(ModelProperty, of: ModelProperty, SumArithmetic)
    /// The canonical form of a text.
    case canonical(ModelProperty)
    /// The time when the row was written.
    case modificationDate
  }

  package let property: ModelProperty
  package let source: Source
}

extension ModelProperty {
  /// Whether the store computes the property.
  package var isDerived: Bool { derivation != nil }

  /// Whether only the model has the value, and its row the initial one; see ``Schema/Attribute/Option/ephemeral``.
  package var isEphemeral: Bool {
    attribute?.isTransient == true && (isOptional || defaultValue != nil)
  }
}

extension ModelDescriptor {
  /// The derived attributes of the class, inherited ones included; requires a valid schema.
  package var derivedAttributes: [DerivedAttribute] {
    properties.compactMap { property in
      guard let derivation = property.derivation else { return nil }
      return try? DerivationCheck(derivation, of: property, in: self).attribute()
    }
  }
}

/// Resolves the properties that a derivation reads, and diagnoses its errors.
struct DerivationCheck {
  private let derivation: Schema.Derivation
  private let property: ModelProperty
  private let descriptor: ModelDescriptor

  init(
    _ derivation: Schema.Derivation,
    of property: ModelProperty,
    in descriptor: ModelDescriptor
  ) {
    self.derivation = derivation
    self.property = property
    self.descriptor = descriptor
  }

  /// - Throws: ``SwiftDataError/invalidSchema`` with the required correction.
  func attribute() throws(SwiftDataError) -> DerivedAttribute {
    try checkOptions()
    return DerivedAttribute(property: property, source: try source())
  }

  private func source() throws(SwiftDataError) -> DerivedAttribute.Source {
    switch derivation.kind {
    case .count:
      let list = try list()
      try require(Int.self)
      return .count(list)
    case .sum:
      let list = try list()
      guard list.isDerivable else {
        throw problem(
          "is a sum over \(list.name), whose inverse is not a relationship to one model: only such members name their owner"
        )
      }
      guard let member = list.destination.map(ModelDescriptor.of),
        let summand = derivation.summand.flatMap({ member.ownOrInheritedProperty(for: $0.keyPath) }
        )
      else {
        throw problem("is a sum of what is no stored property of the members of \(list.name)")
      }
      if summand.isDerived {
        throw problem("is a sum of \(summand.name), which is derived itself")
      }
      guard let arithmetic = SumArithmetic(summand.wrappedType), !summand.isRelationship else {
        throw problem("is a sum of \(summand.name), which is no integer, Double or Float")
      }
      guard ObjectIdentifier(property.valueType) == ObjectIdentifier(summand.wrappedType) else {
        throw problem(
          "is a sum of \(summand.wrappedType) and must be one, and is \(property.valueType)"
        )
      }
      return .sum(list, of: summand, arithmetic)
    case .canonical:
      guard
        let text = derivation.source.flatMap({ descriptor.ownOrInheritedProperty(for: $0.keyPath) }
        ),
        text.columnType == .text, text.wrappedType == String.self
      else { throw problem("is the canonical form of what is no stored text of the class") }
      if text.isDerived { throw problem("is made of \(text.name), which is derived itself") }
      guard ObjectIdentifier(property.valueType) == ObjectIdentifier(text.valueType) else {
        throw problem(
          "is made of a \(text.valueType) and must be one, and is \(property.valueType)"
        )
      }
      return .canonical(text)
    case .modificationDate:
      guard property.valueType == Date.self || property.valueType == Date?.self else {
        throw problem("is a date and must be a Date or a Date?, and is \(property.valueType)")
      }
      return .modificationDate
    }
  }

  private func list() throws(SwiftDataError) -> ModelProperty {
    guard let source = derivation.source,
      let list = descriptor.ownOrInheritedProperty(for: source.keyPath), list.isToMany
    else { throw problem("counts or adds up what is no list of the class") }
    guard list.inverse != nil else {
      throw problem(
        "reads \(list.name), which has no inverse: nobody says when a member is deleted"
      )
    }
    return list
  }

  private func require(_ type: any Any.Type) throws(SwiftDataError) {
    guard ObjectIdentifier(property.valueType) == ObjectIdentifier(type) else {
      throw problem("is a number of models and must be \(type), and is \(property.valueType)")
    }
  }

  private func checkOptions() throws(SwiftDataError) {
    let refused: [Schema.Attribute.Option] = [.unique, .externalStorage, .ephemeral, .codable]
    let options = property.attribute?.options ?? []
    if let option = options.first(where: { refused.contains($0) || $0.isTransformable }) {
      throw problem("cannot be \(option.debugDescription) as well")
    }
    // From 63 on columns share a mark, so a save of one also writes the others as it has them.
    if property.ordinal >= 63 {
      throw problem(
        "is property \(property.ordinal + 1) of its class: declare it among the first 63"
      )
    }
  }

  private func problem(_ text: String) -> SwiftDataError {
    .invalidSchema.explained(
      "the derived attribute \(descriptor.entityName).\(property.name) \(text)",
      entity: descriptor.entityName,
      property: property.name
    )
  }
}

extension ModelProperty {
  /// The type of the values, `Optional` included.
  package var valueType: any Any.Type { Swift.type(of: keyPath).valueType }

  /// The type of the values that are not nil.
  fileprivate var wrappedType: any Any.Type {
    TypeMetadata.unwrapped(valueType)
  }
}

extension Schema.Derivation {
  /// Returns the errors in the derivations of a class.
  static func problems(of type: any PersistentModel.Type) -> [SwiftDataError] {
    let descriptor = ModelDescriptor.of(type)
    let inherited = descriptor.superclass?.properties.count ?? 0
    return descriptor.properties[inherited...].compactMap { property in
      guard let derivation = property.derivation else { return nil }
      do throws(SwiftDataError) {
        _ = try DerivationCheck(derivation, of: property, in: descriptor).attribute()
        return nil
      } catch {
        return error
      }
    }
  }
}
