/// The shape of a property's type: a relationship, or an attribute that can be stored.
enum ValueShape {
  case toOne(any PersistentModel.Type)
  case toMany(any PersistentModel.Type)
  case attribute
  /// A type that cannot be stored, with the reason.
  case unsupported(String)

  init(_ type: any Any.Type, options: [Schema.Attribute.Option]) {
    let type = (type as? any OptionalType.Type)?.wrappedType ?? type
    if let model = type as? any PersistentModel.Type {
      self = .toOne(model)
    } else if let array = type as? any ArrayType.Type,
      let model = array.elementType as? any PersistentModel.Type
    {
      self = .toMany(model)
    } else if let container = type as? any ModelContainingType.Type, container.containsModels {
      self = .unsupported("a relationship to many models is an array")
    } else if options.contains(where: \.isTransformable) {
      self = .attribute
    } else if type is any (Decodable & Encodable).Type {
      self = .attribute
    } else {
      self = .unsupported("the type is neither Codable, nor a model, nor transformable")
    }
  }
}

/// `Optional` of any wrapped type.
package protocol OptionalType {
  static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
  package static var wrappedType: any Any.Type { Wrapped.self }
}

/// `Array` of any elements.
protocol ArrayType {
  static var elementType: any Any.Type { get }
}

extension Array: ArrayType {
  static var elementType: any Any.Type { Element.self }
}

/// A collection that could be mistaken for a to-many relationship.
private protocol ModelContainingType {
  static var containsModels: Bool { get }
}

extension Set: ModelContainingType {
  static var containsModels: Bool { Element.self is any PersistentModel.Type }
}

extension Dictionary: ModelContainingType {
  static var containsModels: Bool {
    Key.self is any PersistentModel.Type || Value.self is any PersistentModel.Type
  }
}
