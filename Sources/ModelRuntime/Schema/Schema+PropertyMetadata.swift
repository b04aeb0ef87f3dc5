extension Schema {
  /// One entry of a model's `schemaMetadata`: a stored property as its source declares it.
  ///
  /// Published stores read the labels of its fields by reflection: they keep these names.
  public struct PropertyMetadata {
    /// The property's name.
    package let name: String
    /// The key path to the property from the class that declares it.
    package let keypath: AnyKeyPath
    /// The value of its initialiser, if it has one.
    package let defaultValue: Any?
    /// The `@Attribute` or `@Relationship` in front of it.
    package let metadata: (any SchemaProperty)?

    /// Describes a stored property.
    ///
    /// - Parameters:
    ///   - name: The property's name.
    ///   - keypath: The key path to it.
    ///   - defaultValue: The value of its initialiser.
    ///   - metadata: The options of its `@Attribute` or `@Relationship`.
    public init(
      name: String,
      keypath: AnyKeyPath,
      defaultValue: Any? = nil,
      metadata: (any SchemaProperty)? = nil
    ) {
      self.name = name
      self.keypath = keypath
      self.defaultValue =
        defaultValue ?? (metadata as? Schema.Attribute)?.derivation?.initialValue(keypath)
      self.metadata = metadata
    }
  }
}
