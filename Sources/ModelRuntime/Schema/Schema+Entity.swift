extension Schema {
  /// The stored shape of one model class's objects.
  ///
  /// An entity is changed only while a schema is made; a schema's entities never change, so the class can be
  /// Sendable although the compiler cannot check it.
  public final class Entity: Codable, @unchecked Sendable {
    /// The name of the entity: the class's, without enclosing types.
    public var name: String
    /// The entities of the subclasses in the schema.
    public var subentities: Set<Entity>
    /// The name of the superclass's entity.
    public var superentityName: String?
    /// The lists of properties whose combined values no two models may share.
    public var uniquenessConstraints: [[String]]
    /// The lists of properties by which models are looked up, each behind its kind: `["binary", "name", "start"]`, or
    /// `["rtree", …]`.
    public var indices: [[String]]

    /// The superclass's entity.
    ///
    /// Weak, since it holds this one among its subentities.
    public var superentity: Entity? {
      get { parent }
      set {
        parent = newValue
        superentityName = newValue?.name
      }
    }
    private weak var parent: Entity?

    /// The properties that the class declares itself, in the order of its source.
    public var storedProperties: [any SchemaProperty] {
      didSet { storedPropertiesByName = storedProperties.byName }
    }
    /// The properties of the superclasses, the topmost first.
    public var inheritedProperties: [any SchemaProperty] {
      didSet { inheritedPropertiesByName = inheritedProperties.byName }
    }
    /// The properties that the class declares itself, by name.
    public private(set) var storedPropertiesByName: [String: any SchemaProperty]
    /// The properties of the superclasses, by name.
    public private(set) var inheritedPropertiesByName: [String: any SchemaProperty]

    /// The class the entity was made from, unless it was made by hand or decoded.
    package var modelType: (any PersistentModel.Type)? { _objectType }
    /// The same, by the name under which apps find it in a `Mirror`, since no API tells it.
    private let _objectType: (any PersistentModel.Type)?
    /// The properties that the class declares, in the order of its source, with key paths and default values.
    package let metadata: [PropertyMetadata]
    /// The `#Index` and `#Unique` lists of the class, until they are merged into the entity.
    var lists: [any SchemaProperty & KeyPathLists] = []

    init(
      _ name: String,
      modelType: (any PersistentModel.Type)?,
      metadata: [PropertyMetadata],
      properties: [any SchemaProperty]
    ) {
      self.name = name
      _objectType = modelType
      self.metadata = metadata
      subentities = []
      uniquenessConstraints = properties.filter(\.isKey).map { [$0.name] }
      indices = []
      storedProperties = properties
      storedPropertiesByName = properties.byName
      inheritedProperties = []
      inheritedPropertiesByName = [:]
    }

    /// Creates an entity without properties.
    ///
    /// - Parameter name: The name of the entity.
    public convenience init(_ name: String) {
      self.init(name, modelType: nil, metadata: [], properties: [])
    }

    /// Creates an entity.
    ///
    /// - Parameters:
    ///   - name: The name of the entity.
    ///   - properties: Its own properties.
    public convenience init(_ name: String, properties: any SchemaProperty...) {
      self.init(name, modelType: nil, metadata: [], properties: properties)
    }

    /// Creates an entity with subentities.
    ///
    /// - Parameters:
    ///   - name: The name of the entity.
    ///   - subentities: The entities that inherit its properties.
    ///   - properties: Its own properties.
    public convenience init(
      _ name: String,
      subentities: Entity...,
      properties: any SchemaProperty...
    ) {
      self.init(name, modelType: nil, metadata: [], properties: properties)
      self.subentities = Set(subentities)
      for entity in subentities { entity.superentity = self }
    }

    public convenience init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let coded = try container.decode([CodedProperty].self, forKey: .properties)
      self.init(
        try container.decode(String.self, forKey: .name),
        modelType: nil,
        metadata: [],
        properties: coded.map(\.property)
      )
      superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
      uniquenessConstraints = try container.decode([[String]].self, forKey: .uniquenessConstraints)
      let lists = try container.decode([[String]].self, forKey: .indices)
      let kinds = try container.decodeIfPresent([String].self, forKey: .indexKinds)
      indices = zip(kinds ?? lists.map { _ in IndexKind.binary.rawValue }, lists).map { [$0] + $1 }
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encodeIfPresent(superentityName, forKey: .superentityName)
      try container.encode(storedProperties.map(CodedProperty.init), forKey: .properties)
      try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
      // Without their kinds, as in files that were written before these were known.
      let parts = indices.map(Self.parts(ofIndex:))
      try container.encode(parts.map(\.properties), forKey: .indices)
      try container.encode(parts.map(\.kind.rawValue), forKey: .indexKinds)
    }

    private enum CodingKeys: CodingKey {
      case name, superentityName, properties, uniquenessConstraints, indices, indexKinds
    }
  }
}

extension [any SchemaProperty] {
  fileprivate var byName: [String: any SchemaProperty] {
    Dictionary(map { ($0.name, $0) }) { first, _ in first }
  }
}

extension SchemaProperty {
  /// Whether no two models may have its value.
  ///
  /// A list is no value: two empty ones would be equal.
  fileprivate var isKey: Bool {
    isUnique && (self as? Schema.Relationship)?.isToOneRelationship ?? true
  }
}
