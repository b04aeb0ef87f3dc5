/// The shape of a property's type: a relationship, or an attribute that can be stored.
enum ValueShape {
  case toOne(any PersistentModel.Type)
  case toMany(any PersistentModel.Type)
  case attribute
  /// A type that cannot be stored, with the reason.
  case unsupported(String)

  init(_ type: any Any.Type, options: [Schema.Attribute.Option]) {
    let type = TypeMetadata.unwrapped(type)
    if plainColumnType(type) != nil {
      self = .attribute
    } else if let model = modelType(type) {
      self = .toOne(model)
    } else if let model = TypeMetadata.elementType(of: type).flatMap(modelType) {
      self = .toMany(model)
    } else if TypeMetadata.memberTypes(of: type).contains(where: { modelType($0) != nil }) {
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

/// The type as a model class, or `nil` if it is none.
func modelType(_ type: any Any.Type) -> (any PersistentModel.Type)? {
  TypeMetadata.isClass(type) ? type as? any PersistentModel.Type : nil
}
