extension Schema {
  /// The source from which a store computes a derived attribute: the argument of `@Derived`.
  ///
  /// ```swift
  /// @Derived(.count(\Trip.stops)) var stopCount: Int
  /// @Derived(.sum(of: \Expense.amount, over: \Trip.expenses)) var total: Int
  /// @Derived(.canonical(\Trip.name)) var searchName: String
  /// @Derived(.modificationDate) var lastModified: Date?
  /// ```
  public struct Derivation: Sendable {
    package enum Kind: String, Codable, Sendable {
      case count, sum, canonical, modificationDate
    }

    package let kind: Kind
    /// The list whose members are counted or added up, or the text: a property of the class.
    let source: SourceKeyPath?
    /// The summand: a property of the list's members.
    let summand: SourceKeyPath?

    private init(_ kind: Kind, _ source: AnyKeyPath? = nil, summand: AnyKeyPath? = nil) {
      self.kind = kind
      self.source = source.map(SourceKeyPath.init)
      self.summand = summand.map(SourceKeyPath.init)
    }

    /// The number of models in a list; the attribute is an `Int`.
    ///
    /// - Parameter list: A relationship to many models, with an inverse.
    /// - Returns: The derivation.
    public static func count<Model, Member>(_ list: KeyPath<Model, [Member]>) -> Derivation
    where Model: PersistentModel, Member: PersistentModel { Derivation(.count, list) }

    /// The number of models in a list; nil is an empty list.
    ///
    /// - Parameter list: A relationship to many models, with an inverse.
    /// - Returns: The derivation.
    public static func count<Model, Member>(_ list: KeyPath<Model, [Member]?>) -> Derivation
    where Model: PersistentModel, Member: PersistentModel { Derivation(.count, list) }

    /// The sum of an attribute over the members of a list; the derived attribute is of the same type.
    ///
    /// A sum of integers is exact, and a save whose sum does not fit into the type throws. A sum of floating point numbers is
    /// computed again from all members when a number leaves it or changes.
    ///
    /// - Parameters:
    ///   - attribute: A number of the members; a member whose number is nil adds nothing.
    ///   - list: A relationship to many models, whose inverse is a relationship to one.
    /// - Returns: The derivation.
    public static func sum<Model, Member, Value>(
      of attribute: KeyPath<Member, Value>,
      over list: KeyPath<Model, [Member]>
    ) -> Derivation where Model: PersistentModel, Member: PersistentModel, Value: _ColumnValue {
      Derivation(.sum, list, summand: attribute)
    }

    /// The sum of an attribute over the members of a list; nil is an empty list.
    ///
    /// - Parameters:
    ///   - attribute: A number of the members; a member whose number is nil adds nothing.
    ///   - list: A relationship to many models, whose inverse is a relationship to one.
    /// - Returns: The derivation.
    public static func sum<Model, Member, Value>(
      of attribute: KeyPath<Member, Value>,
      over list: KeyPath<Model, [Member]?>
    ) -> Derivation where Model: PersistentModel, Member: PersistentModel, Value: _ColumnValue {
      Derivation(.sum, list, summand: attribute)
    }

    /// A text without regard to case and diacritics, to be compared with the ``canonicalText(of:)`` of another text.
    ///
    /// - Parameter text: A text of the same model.
    /// - Returns: The derivation.
    public static func canonical<Model>(_ text: KeyPath<Model, String>) -> Derivation
    where Model: PersistentModel { Derivation(.canonical, text) }

    /// A text without regard to case and diacritics; nil stays nil.
    ///
    /// - Parameter text: A text of the same model.
    /// - Returns: The derivation.
    public static func canonical<Model>(_ text: KeyPath<Model, String?>) -> Derivation
    where Model: PersistentModel { Derivation(.canonical, text) }

    /// The time of the last write of the model's row: a `Date`, or a `Date?`, which is nil before the first save.
    ///
    /// A save writes the row if it sets an attribute or a relationship of the model, or changes another derived attribute.
    public static var modificationDate: Derivation { Derivation(.modificationDate) }

    /// Returns the value of an attribute until it is computed; `nil` is an optional attribute's nil.
    func initialValue(_ keyPath: AnyKeyPath) -> Any? {
      let type = Swift.type(of: keyPath).valueType
      if TypeMetadata.isOptional(type) { return nil }
      return columnType(type)?._absent
    }
  }
}

extension Schema.Derivation {
  /// A key path of a derivation.
  ///
  /// Unchecked, because key paths are not declared Sendable; those to properties of models are constants.
  struct SourceKeyPath: @unchecked Sendable {
    let keyPath: AnyKeyPath
  }

  /// A derivation by the names of its properties, as schemas and stores record it.
  package struct Names: Codable, Hashable, Sendable, CustomStringConvertible {
    package let kind: Kind
    package let source: String?
    package let summand: String?

    package var description: String {
      ([kind.rawValue] + [source, summand].compactMap { $0 }).joined(separator: " ")
    }
  }
}

extension Schema.Attribute {
  /// Makes the store compute the attribute; written by `@Model` for `@Derived`.
  ///
  /// - Parameter derivation: The source of the attribute.
  /// - Returns: The same attribute.
  public func derived(_ derivation: Schema.Derivation) -> Schema.Attribute {
    self.derivation = derivation
    return self
  }
}
