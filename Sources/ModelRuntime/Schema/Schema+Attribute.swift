extension Schema {
  /// A property whose values are stored with the model.
  ///
  /// Unchecked, like ``Schema/Entity``: an attribute is changed only while a schema is made.
  public class Attribute: SchemaProperty, @unchecked Sendable {
    /// The property's name.
    public var name: String
    /// The name it had in the previous version of the schema, or its current name.
    public var originalName: String
    /// The options of its `@Attribute`.
    public var options: [Option]
    /// The initial value in a new model, if its source gives one.
    public var defaultValue: Any?
    /// Whether `nil` is one of its values.
    public var isOptional: Bool
    /// Distinguishes two versions of the same shape.
    public var hashModifier: String?
    /// The derivation from which the store computes the values; `nil` for values that are set.
    package internal(set) var derivation: Schema.Derivation?
    /// The derivation by names, once the entities are linked.
    package internal(set) var derivationNames: Schema.Derivation.Names?

    /// The Swift type of its values, `Optional` included.
    public var valueType: any Any.Type {
      didSet {
        valueTypeName = ValueTypeName(valueType)
        isOptional = TypeMetadata.isOptional(valueType)
      }
    }
    /// The name of the type, even if this process does not know the type.
    var valueTypeName: ValueTypeName

    /// Describes an attribute by its options alone: the argument of `@Attribute`.
    ///
    /// - Parameters:
    ///   - options: The options of the attribute or relationship.
    ///   - originalName: The name it had in the previous version.
    ///   - hashModifier: Distinguishes two versions of the same shape.
    public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
      name = ""
      self.originalName = originalName ?? ""
      self.options = options
      self.hashModifier = hashModifier
      valueType = UnknownValue.self
      valueTypeName = .unknown
      isOptional = false
    }

    /// Creates an attribute.
    ///
    /// - Parameters:
    ///   - name: The property's name.
    ///   - originalName: The name it had in the previous version.
    ///   - options: The options of the attribute or relationship.
    ///   - valueType: The Swift type of its values.
    ///   - defaultValue: The initial value in a new model.
    ///   - hashModifier: Distinguishes two versions of the same shape.
    public init(
      name: String,
      originalName: String? = nil,
      options: [Option] = [],
      valueType: any Any.Type,
      defaultValue: Any? = nil,
      hashModifier: String? = nil
    ) {
      self.name = name
      self.originalName = originalName ?? name
      self.options = options
      self.valueType = valueType
      valueTypeName = ValueTypeName(valueType)
      isOptional = TypeMetadata.isOptional(valueType)
      self.defaultValue = defaultValue
      self.hashModifier = hashModifier
    }

    public var isAttribute: Bool { true }
    public var isRelationship: Bool { false }
    /// Whether it is not stored: an `.ephemeral` attribute.
    public var isTransient: Bool { options.contains(.ephemeral) }
    public var isUnique: Bool { options.contains(.unique) }
    /// Whether its values are stored as the output of a `ValueTransformer`.
    public var isTransformable: Bool { options.contains(where: \.isTransformable) }
    /// Whether its values are stored whole, without the store knowing their fields.
    public var isCodable: Bool { options.contains(.codable) }

    // MARK: Coding

    private enum CodingKeys: CodingKey {
      case name, originalName, options, valueType, isOptional, hashModifier
      case derivation
    }

    public required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      originalName = try container.decode(String.self, forKey: .originalName)
      options = try container.decode([Option].self, forKey: .options)
      valueTypeName = try container.decode(ValueTypeName.self, forKey: .valueType)
      valueType = valueTypeName.resolved
      isOptional = try container.decode(Bool.self, forKey: .isOptional)
      hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
      derivationNames = try container.decodeIfPresent(
        Schema.Derivation.Names.self,
        forKey: .derivation
      )
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(originalName, forKey: .originalName)
      try container.encode(options, forKey: .options)
      try container.encode(valueTypeName, forKey: .valueType)
      try container.encode(isOptional, forKey: .isOptional)
      try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
      try container.encodeIfPresent(derivationNames, forKey: .derivation)
    }

    // MARK: Comparing

    public static func == (lhs: Attribute, rhs: Attribute) -> Bool { lhs.isEqual(to: rhs) }

    func isEqual(to other: Attribute) -> Bool {
      type(of: self) == type(of: other) && name == other.name
        && originalName == other.originalName && options == other.options
        && valueTypeName == other.valueTypeName && isOptional == other.isOptional
        && hashModifier == other.hashModifier && derivationNames == other.derivationNames
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }
}

extension Schema.Attribute: CustomDebugStringConvertible {
  public var debugDescription: String {
    let listed = options.map { " \($0.debugDescription)" }.joined()
    return "Schema.Attribute(\(name): \(valueTypeName.name)\(listed))"
  }
}
