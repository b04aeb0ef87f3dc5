extension Schema {
  /// The lists of properties whose combined values no two models may share: the form of `#Unique`.
  public final class Unique<T>: SchemaProperty where T: PersistentModel {
    /// The lists of properties.
    public let constraints: [[PartialKeyPath<T>]]

    public var name = "SwiftData.Schema.Unique"
    public var originalName = "SwiftData.Schema.Unique"
    public var valueType: any Any.Type = T.self
    public var isUnique: Bool { true }

    /// Describes constraints.
    ///
    /// - Parameter constraints: The properties of each constraint.
    public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

    /// The keys of an encoded description.
    public enum CodingKeys: CodingKey {
      /// The constraints, each with the names of its properties.
      case constraints
    }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      constraints = try container.decode([[String]].self, forKey: .constraints).map {
        try T.keyPaths(named: $0, at: container.codingPath)
      }
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(
        constraints.map { try T.names(of: $0, at: container.codingPath) },
        forKey: .constraints
      )
    }

    public static func == (lhs: Unique, rhs: Unique) -> Bool {
      lhs.constraints == rhs.constraints
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }
  }
}

extension Schema.Unique: KeyPathLists {
  var keyPathLists: [[AnyKeyPath]] { constraints }
  var indexKinds: [Schema.IndexKind] { [] }
}

extension Schema.Unique: CustomDebugStringConvertible {
  public var debugDescription: String { "Schema.Unique<\(T.self)>(\(constraints))" }
}
