extension Schema {
  /// The lists of properties by which the models of a class are looked up: the form of `#Index`.
  public final class Index<T>: SchemaProperty where T: PersistentModel {
    /// A kind of index, with its properties.
    public enum Types<P> where P: PersistentModel {
      /// Ordered by value: for equality, ranges and sorting.
      case binary([PartialKeyPath<P>])
      /// By area: for ranges in several properties at once.
      case rtree([PartialKeyPath<P>])
    }

    /// The indices.
    public let indices: [Types<T>]

    public var name = "SwiftData.Schema.Index"
    public var originalName = "SwiftData.Schema.Index"
    public var valueType: any Any.Type = T.self
    public var isUnique: Bool { false }

    /// Describes indices, each of its own kind.
    ///
    /// - Parameter indices: The indices.
    public init(_ indices: Types<T>...) { self.indices = indices }

    /// Describes indices that are ordered by value.
    ///
    /// - Parameter binaryIndices: The properties of each index.
    public init(_ binaryIndices: [PartialKeyPath<T>]...) {
      indices = binaryIndices.map { .binary($0) }
    }

    /// The keys of an encoded description.
    public enum CodingKeys: CodingKey {
      /// The indices, each with the names of its properties.
      case indices
    }

    /// The encoded form of one index: by the names of its properties.
    private struct CodedIndex: Codable {
      let kind: IndexKind
      let properties: [String]
    }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      indices = try container.decode([CodedIndex].self, forKey: .indices).map { coded in
        let keyPaths = try T.keyPaths(named: coded.properties, at: container.codingPath)
        return coded.kind == .binary ? .binary(keyPaths) : .rtree(keyPaths)
      }
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      let coded = try indices.map { index in
        CodedIndex(
          kind: index.kind,
          properties: try T.names(of: index.keyPaths, at: container.codingPath)
        )
      }
      try container.encode(coded, forKey: .indices)
    }

    public static func == (lhs: Index, rhs: Index) -> Bool {
      lhs.indices.count == rhs.indices.count
        && zip(lhs.indices, rhs.indices).allSatisfy { left, right in
          left.kind == right.kind && left.keyPaths == right.keyPaths
        }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(keyPathLists) }
  }
}

extension Schema.Index: KeyPathLists {
  var keyPathLists: [[AnyKeyPath]] { indices.map(\.keyPaths) }
  var indexKinds: [Schema.IndexKind] { indices.map(\.kind) }
}

extension Schema.Index.Types {
  fileprivate var kind: Schema.IndexKind {
    switch self {
    case .binary: .binary
    case .rtree: .rtree
    }
  }

  fileprivate var keyPaths: [PartialKeyPath<P>] {
    switch self {
    case .binary(let keyPaths), .rtree(let keyPaths): keyPaths
    }
  }
}

extension Schema.Index: CustomDebugStringConvertible {
  public var debugDescription: String { "Schema.Index<\(T.self)>(\(indices))" }
}
