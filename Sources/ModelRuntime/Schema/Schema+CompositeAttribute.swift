extension Schema {
  /// An attribute whose values have fields: a `Codable` struct.
  public final class CompositeAttribute: Attribute, @unchecked Sendable {
    /// The fields, in the order in which they are declared.
    public var properties: [Attribute]

    public override init(
      name: String,
      originalName: String? = nil,
      options: [Option] = [],
      valueType: any Any.Type,
      defaultValue: Any? = nil,
      hashModifier: String? = nil
    ) {
      properties = []
      super.init(
        name: name,
        originalName: originalName,
        options: options,
        valueType: valueType,
        defaultValue: defaultValue,
        hashModifier: hashModifier
      )
    }

    public static func == (lhs: CompositeAttribute, rhs: CompositeAttribute) -> Bool {
      lhs.isEqual(to: rhs)
    }

    override func isEqual(to other: Attribute) -> Bool {
      super.isEqual(to: other) && properties == (other as? CompositeAttribute)?.properties
    }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case properties }

    public required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      properties = try container.decode([CodedProperty].self, forKey: .properties)
        .compactMap { $0.property as? Attribute }
      try super.init(from: decoder)
    }

    public override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(properties.map { CodedProperty($0) }, forKey: .properties)
    }
  }
}
