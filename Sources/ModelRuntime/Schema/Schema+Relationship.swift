extension Schema {
  /// A property that refers to one model, or to many.
  ///
  /// Unchecked, like ``Schema/Entity``: a relationship is changed only while a schema is made.
  public final class Relationship: SchemaProperty, @unchecked Sendable {
    /// The property's name.
    public var name: String
    /// The name it had in the previous version of the schema, or its current name.
    public var originalName: String
    /// The key path to the property from the class that declares it.
    public var keypath: AnyKeyPath?
    /// The options of its `@Relationship`.
    public var options: [Option]
    /// The name of the entity it leads to.
    public var destination: String
    /// The action on the models it leads to when its own model is deleted.
    public var deleteRule: DeleteRule
    /// The name of the relationship that leads back.
    public var inverseName: String?
    /// The key path to the relationship that leads back.
    public var inverseKeyPath: AnyKeyPath?
    /// The minimum number of models it may lead to; `nil`, as 0, is no bound.
    ///
    /// `nil` for a property without a `@Relationship`, and 0 for one whose `@Relationship` states none.
    public var minimumModelCount: Int?
    /// The maximum number of models it may lead to; `nil`, as 0, is no bound.
    public var maximumModelCount: Int?
    /// Distinguishes two versions of the same shape.
    public var hashModifier: String?

    /// The Swift type of its values: `M`, `M?`, `[M]` or `[M]?`.
    public var valueType: any Any.Type {
      didSet {
        valueTypeName = ValueTypeName(valueType)
        isOptional = TypeMetadata.isOptional(valueType)
        isToOneRelationship = Relationship.isToOne(valueType)
      }
    }
    var valueTypeName: ValueTypeName

    /// Whether `nil` is one of its values.
    public private(set) var isOptional: Bool
    /// Whether it leads to at most one model.
    public private(set) var isToOneRelationship: Bool

    /// Whether it goes without an inverse because the one that it names is another list's.
    var isOneSided: Bool { inverseName == nil && (inverseKeyPath != nil || wasOneSided) }
    /// The same in a schema that was read: a key path cannot be written.
    private let wasOneSided: Bool

    /// Describes a relationship by its options alone: the argument of `@Relationship`.
    ///
    /// - Parameters:
    ///   - options: The options of the attribute or relationship.
    ///   - deleteRule: The action on the models it leads to.
    ///   - minimumModelCount: The minimum number of models it may lead to.
    ///   - maximumModelCount: The maximum number of models it may lead to; 0 is no bound.
    ///   - originalName: The name it had in the previous version.
    ///   - inverse: The key path to the relationship that leads back.
    ///   - hashModifier: Distinguishes two versions of the same shape.
    public init(
      _ options: Option...,
      deleteRule: DeleteRule = .nullify,
      minimumModelCount: Int? = 0,
      maximumModelCount: Int? = 0,
      originalName: String? = nil,
      inverse: AnyKeyPath? = nil,
      hashModifier: String? = nil
    ) {
      name = ""
      wasOneSided = false
      self.originalName = originalName ?? ""
      self.options = options
      destination = ""
      self.deleteRule = deleteRule
      inverseKeyPath = inverse
      self.minimumModelCount = minimumModelCount
      self.maximumModelCount = maximumModelCount
      self.hashModifier = hashModifier
      valueType = UnknownValue.self
      valueTypeName = .unknown
      isOptional = false
      isToOneRelationship = true
    }

    /// Creates the relationship of a declared property from its `@Relationship`.
    init(
      name: String,
      keypath: AnyKeyPath,
      destination: String,
      valueType: any Any.Type,
      options declared: Relationship
    ) {
      self.name = name
      wasOneSided = declared.wasOneSided
      originalName = declared.originalName.isEmpty ? name : declared.originalName
      self.keypath = keypath
      options = declared.options
      self.destination = destination
      deleteRule = declared.deleteRule
      inverseKeyPath = declared.inverseKeyPath
      minimumModelCount = declared.minimumModelCount
      maximumModelCount = declared.maximumModelCount
      hashModifier = declared.hashModifier
      self.valueType = valueType
      valueTypeName = ValueTypeName(valueType)
      isOptional = TypeMetadata.isOptional(valueType)
      isToOneRelationship = Relationship.isToOne(valueType)
    }

    /// Describes a relationship without a `@Relationship`, by the options of its `@Attribute`, of which those of values
    /// have no effect.
    private convenience init(_ attribute: Attribute) {
      self.init(
        minimumModelCount: nil,
        maximumModelCount: nil,
        originalName: attribute.originalName,
        hashModifier: attribute.hashModifier
      )
      if attribute.isUnique { options = [.unique] }
    }

    /// Returns the options that the declaration of a relationship states, by `@Relationship` or by `@Attribute`.
    static func declared(by metadata: (any SchemaProperty)?) -> Relationship? {
      metadata as? Relationship ?? (metadata as? Attribute).map { Relationship($0) }
    }

    private static func isToOne(_ type: any Any.Type) -> Bool {
      TypeMetadata.elementType(of: TypeMetadata.unwrapped(type)) == nil
    }

    public var isAttribute: Bool { false }
    public var isRelationship: Bool { true }
    public var isTransient: Bool { false }
    public var isUnique: Bool { options.contains(.unique) }

    // MARK: Coding

    private enum CodingKeys: CodingKey {
      case name, originalName, options, valueType, isOptional, isToOne, destination, deleteRule
      case inverseName, isOneSided, minimumModelCount, maximumModelCount, hashModifier
    }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      originalName = try container.decode(String.self, forKey: .originalName)
      options = try container.decode([Option].self, forKey: .options)
      valueTypeName = try container.decode(ValueTypeName.self, forKey: .valueType)
      valueType = valueTypeName.resolved
      isOptional = try container.decode(Bool.self, forKey: .isOptional)
      isToOneRelationship = try container.decode(Bool.self, forKey: .isToOne)
      destination = try container.decode(String.self, forKey: .destination)
      deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
      inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
      wasOneSided = try container.decodeIfPresent(Bool.self, forKey: .isOneSided) ?? false
      minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
      maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
      hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(originalName, forKey: .originalName)
      try container.encode(options, forKey: .options)
      try container.encode(valueTypeName, forKey: .valueType)
      try container.encode(isOptional, forKey: .isOptional)
      try container.encode(isToOneRelationship, forKey: .isToOne)
      try container.encode(destination, forKey: .destination)
      try container.encode(deleteRule, forKey: .deleteRule)
      try container.encodeIfPresent(inverseName, forKey: .inverseName)
      if isOneSided { try container.encode(true, forKey: .isOneSided) }
      try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
      try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
      try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
    }
  }
}

extension Schema.Relationship {
  /// The action on the models that a relationship leads to when its model is deleted.
  public enum DeleteRule: String, Codable, Sendable {
    /// No action: the reference of the inverse stays, and dangles.
    case noAction
    /// The inverse forgets the model.
    case nullify
    /// They are deleted, too.
    case cascade
    /// The model cannot be deleted while they exist.
    case deny
  }

  /// An option of `@Relationship`.
  public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
    private enum Kind: String, Codable { case unique }
    private let kind: Kind

    /// No two models may lead to the same model.
    public static var unique: Option { Option(kind: .unique) }

    public var debugDescription: String { ".\(kind.rawValue)" }
  }
}

// MARK: Comparing

extension Schema.Relationship {
  // Key paths are left out: they belong to the class, and a decoded relationship has none. A bound that is not stated
  // is as one of 0: both stand for one shape, and schemas in files from before have 0 in any case.
  public static func == (lhs: Schema.Relationship, rhs: Schema.Relationship) -> Bool {
    lhs === rhs
      || lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.options == rhs.options
        && lhs.destination == rhs.destination && lhs.deleteRule == rhs.deleteRule
        && lhs.inverseName == rhs.inverseName && lhs.isOptional == rhs.isOptional
        && lhs.isToOneRelationship == rhs.isToOneRelationship
        && (lhs.minimumModelCount ?? 0) == (rhs.minimumModelCount ?? 0)
        && (lhs.maximumModelCount ?? 0) == (rhs.maximumModelCount ?? 0)
        && lhs.hashModifier == rhs.hashModifier
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension Schema.Relationship: CustomDebugStringConvertible {
  public var debugDescription: String {
    let inverse = inverseName.map { ", inverse: \(destination).\($0)" } ?? ""
    return "Schema.Relationship(\(name): \(valueTypeName.name), .\(deleteRule)\(inverse))"
  }
}
