extension Schema {
  /// A property whose values are stored with the model.
  ///
  /// Unchecked, as ``Schema/Entity`` is: an attribute is changed while a schema is made, and not any more afterwards.
  public class Attribute: SchemaProperty, @unchecked Sendable {
    /// The property's name.
    public var name: String
    /// The name it had in the previous version of the schema, or its name.
    public var originalName: String
    /// What its `@Attribute` asked for.
    public var options: [Option]
    /// The value a new model starts with, if its source gives one.
    public var defaultValue: Any?
    /// Whether `nil` is one of its values.
    public var isOptional: Bool
    /// Tells two versions of one shape apart.
    public var hashModifier: String?
    /// What the store computes the values from; `nil` for values that are set.
    package internal(set) var derivation: Schema.Derivation?
    /// The same by names, once the entities are linked.
    package internal(set) var derivationNames: Schema.Derivation.Names?

    /// The Swift type of its values, `Optional` included.
    public var valueType: any Any.Type {
      didSet {
        valueTypeName = ValueTypeName(valueType)
        isOptional = valueType is any OptionalType.Type
      }
    }
    /// How the type is called, also when this process does not know it.
    var valueTypeName: ValueTypeName

    /// Describes an attribute of which only the options are known: the argument of `@Attribute`.
    ///
    /// - Parameters:
    ///   - options: The options of the attribute or relationship.
    ///   - originalName: The name it had in the previous version.
    ///   - hashModifier: Tells two versions of one shape apart.
    public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
      name = ""
      self.originalName = originalName ?? ""
      self.options = options
      self.hashModifier = hashModifier
      valueType = UnknownValue.self
      valueTypeName = ValueTypeName(UnknownValue.self)
      isOptional = false
    }

    /// Creates an attribute.
    ///
    /// - Parameters:
    ///   - name: The property's name.
    ///   - originalName: The name it had in the previous version.
    ///   - options: The options of the attribute or relationship.
    ///   - valueType: The Swift type of its values.
    ///   - defaultValue: The value a new model starts with.
    ///   - hashModifier: Tells two versions of one shape apart.
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
      isOptional = valueType is any OptionalType.Type
      self.defaultValue = defaultValue
      self.hashModifier = hashModifier
    }

    public var isAttribute: Bool { true }
    public var isRelationship: Bool { false }
    /// Whether it is not stored: an `.ephemeral` attribute.
    public var isTransient: Bool { options.contains(.ephemeral) }
    public var isUnique: Bool { options.contains(.unique) }
    /// Whether its values are stored as the bytes a `ValueTransformer` makes of them.
    public var isTransformable: Bool { options.contains(where: \.isTransformable) }
    /// Whether its values are stored whole, without their fields being known to the store.
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
