/// A property of an entity: an attribute or a relationship.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
  /// The property's name.
  var name: String { get set }
  /// The name it had in the previous version of the schema, or its current name.
  var originalName: String { get set }
  /// The Swift type of its values.
  var valueType: any Any.Type { get set }
  /// Whether it is a ``Schema/Attribute``.
  var isAttribute: Bool { get }
  /// Whether it is a ``Schema/Relationship``.
  var isRelationship: Bool { get }
  /// Whether it is not stored.
  var isTransient: Bool { get }
  /// Whether `nil` is one of its values.
  var isOptional: Bool { get }
  /// Whether no two models may share a value.
  var isUnique: Bool { get }
}

extension SchemaProperty {
  public var isAttribute: Bool { self is Schema.Attribute }
  public var isRelationship: Bool { self is Schema.Relationship }
  public var isTransient: Bool { false }
  public var isOptional: Bool { TypeMetadata.isOptional(valueType) }
}
