/// A type whose values can be in a snapshot.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The values of one model at one moment, passed between a context and a store.
public protocol DataStoreSnapshot: Decodable, Encodable, Sendable {
  /// The identifier of the model: temporary for an unsaved one, and permanent otherwise.
  var persistentIdentifier: PersistentIdentifier { get }

  /// Takes the values of a model from its backing data.
  init(
    from backingData: any BackingData,
    relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  )

  /// Returns the snapshot under another identifier, with its references replaced by the table.
  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> Self
}

/// The keys under which a snapshot's values are coded.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable, Sendable {
  /// The identifier of the model.
  case persistentIdentifier
  /// A persisted property, by name.
  case modeledProperty(String)

  public var stringValue: String {
    switch self {
    case .persistentIdentifier: "persistentIdentifier"
    case .modeledProperty(let name): name
    }
  }

  public var intValue: Int? { nil }

  public init?(stringValue: String) {
    self =
      stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
  }

  public init?(intValue: Int) { nil }
}
