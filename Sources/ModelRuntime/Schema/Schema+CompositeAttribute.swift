import Synchronization

extension Schema {
  /// An attribute whose values have fields: a `Codable` struct.
  ///
  /// Values are stored field by field and by name, in one column. A field that is added later is no
  /// change of the schema: the type's `init(from:)` decides how older values are read.
  ///
  /// Unchecked, like its superclass.
  public final class CompositeAttribute: Attribute, @unchecked Sendable {
    private let fields = Mutex<[Attribute]?>(nil)

    /// The fields, in the order in which the type decodes them.
    ///
    /// They are determined on first use, by decoding an empty value. That runs the
    /// type's `init(from:)`; no schema, and no store, depends on it.
    public var properties: [Attribute] {
      get {
        if let known = fields.withLock({ $0 }) { return known }
        let found = FieldRecorder.fields(of: valueType).map { field in
          Attribute.make(name: field.name, valueType: field.type)
        }
        fields.withLock { $0 = found }
        return found
      }
      set { fields.withLock { $0 = newValue } }
    }

    public override init(
      name: String,
      originalName: String? = nil,
      options: [Option] = [],
      valueType: any Any.Type,
      defaultValue: Any? = nil,
      hashModifier: String? = nil
    ) {
      super.init(
        name: name,
        originalName: originalName,
        options: options,
        valueType: valueType,
        defaultValue: defaultValue,
        hashModifier: hashModifier
      )
    }

    /// Whether both describe the same attribute with the same parts.
    public static func == (lhs: CompositeAttribute, rhs: CompositeAttribute) -> Bool {
      lhs.isEqual(to: rhs)
    }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case properties }

    /// Decodes the description of an attribute.
    public required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      let properties = try container.decode([CodedProperty].self, forKey: .properties)
        .compactMap { $0.property as? Attribute }
      try super.init(from: decoder)
      self.properties = properties
    }

    public override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(properties.map { CodedProperty($0) }, forKey: .properties)
    }
  }
}

extension Schema.Attribute {
  /// Creates an attribute of the kind that its type and its options require.
  static func make(
    name: String,
    originalName: String? = nil,
    options: [Option] = [],
    valueType: any Any.Type,
    defaultValue: Any? = nil,
    hashModifier: String? = nil
  ) -> Schema.Attribute {
    let isOpaque = options.contains { $0 == .codable || $0.isTransformable }
    if !isOpaque && CompositeShape.isComposite(valueType) {
      return Schema.CompositeAttribute(
        name: name,
        originalName: originalName,
        options: options,
        valueType: valueType,
        defaultValue: defaultValue,
        hashModifier: hashModifier
      )
    }
    return Schema.Attribute(
      name: name,
      originalName: originalName,
      options: options,
      valueType: valueType,
      defaultValue: defaultValue,
      hashModifier: hashModifier
    )
  }
}
