/// A property in an encoded schema, under the name of its kind.
enum CodedProperty: Codable {
  case attribute(Schema.Attribute)
  case composite(Schema.CompositeAttribute)
  case relationship(Schema.Relationship)

  init(_ property: any SchemaProperty) {
    switch property {
    case let composite as Schema.CompositeAttribute: self = .composite(composite)
    case let attribute as Schema.Attribute: self = .attribute(attribute)
    case let relationship as Schema.Relationship: self = .relationship(relationship)
    // A property of an unknown kind keeps the common fields.
    default:
      self = .attribute(
        Schema.Attribute(
          name: property.name,
          originalName: property.originalName,
          valueType: property.valueType
        )
      )
    }
  }

  var property: any SchemaProperty {
    switch self {
    case .attribute(let attribute): attribute
    case .composite(let composite): composite
    case .relationship(let relationship): relationship
    }
  }

  private enum CodingKeys: CodingKey { case attribute, composite, relationship }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    if container.contains(.composite) {
      self = .composite(try container.decode(Schema.CompositeAttribute.self, forKey: .composite))
    } else if container.contains(.relationship) {
      self = .relationship(try container.decode(Schema.Relationship.self, forKey: .relationship))
    } else {
      self = .attribute(try container.decode(Schema.Attribute.self, forKey: .attribute))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .attribute(let attribute): try container.encode(attribute, forKey: .attribute)
    case .composite(let composite): try container.encode(composite, forKey: .composite)
    case .relationship(let relationship):
      try container.encode(relationship, forKey: .relationship)
    }
  }
}
