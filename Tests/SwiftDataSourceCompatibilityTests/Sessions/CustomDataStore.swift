import Foundation
import SwiftData

// In the style of "Create a custom data store with SwiftData" (WWDC24): an archive of snapshots in one JSON
// file, and a store with a snapshot of its own, both written against the documented protocols alone.

enum CustomDataStore {
  @Model
  class Trip {
    var name: String
    var destination: String
    var startDate: Date
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

    init(name: String, destination: String, startDate: Date = .now) {
      self.name = name
      self.destination = destination
      self.startDate = startDate
    }
  }

  @Model
  class Stop {
    var city: String
    var trip: Trip?

    init(city: String) { self.city = city }
  }

  @Model
  final class Memo {
    var text: String
    var stars: Int
    var tags: [String]?

    init(text: String, stars: Int) {
      self.text = text
      self.stars = stars
    }
  }

  static func makeArchive(at url: URL) throws -> ModelContainer {
    let schema = Schema([Trip.self, Stop.self])
    let configuration = ArchiveConfiguration(name: "Archive", schema: schema, fileURL: url)
    return try ModelContainer(for: Trip.self, Stop.self, configurations: configuration)
  }

  static func makeMemoStore() throws -> ModelContainer {
    try ModelContainer(for: Memo.self, configurations: MemoConfiguration())
  }
}

// MARK: An archive

final class ArchiveConfiguration: DataStoreConfiguration {
  typealias Store = Archive

  var name: String
  var schema: Schema?
  var fileURL: URL

  init(name: String, schema: Schema? = nil, fileURL: URL) {
    self.name = name
    self.schema = schema
    self.fileURL = fileURL
  }

  static func == (lhs: ArchiveConfiguration, rhs: ArchiveConfiguration) -> Bool {
    lhs.name == rhs.name
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(name)
  }
}

final class Archive: DataStore {
  typealias Configuration = ArchiveConfiguration
  typealias Snapshot = DefaultSnapshot

  var configuration: ArchiveConfiguration
  var name: String
  var schema: Schema
  var identifier: String

  init(
    _ configuration: ArchiveConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    self.configuration = configuration
    self.name = configuration.name
    self.schema = configuration.schema ?? Schema()
    self.identifier = configuration.fileURL.lastPathComponent
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    if request.descriptor.predicate != nil {
      throw DataStoreError.preferInMemoryFilter
    } else if !request.descriptor.sortBy.isEmpty {
      throw DataStoreError.preferInMemorySort
    }
    let snapshots = try read()
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: snapshots.values.map { $0 },
      relatedSnapshots: snapshots
    )
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var remappedIdentifiers = [PersistentIdentifier: PersistentIdentifier]()
    var archive = try read()

    for snapshot in request.inserted {
      let entityName = snapshot.persistentIdentifier.entityName
      remappedIdentifiers[snapshot.persistentIdentifier] =
        try PersistentIdentifier.identifier(
          for: identifier,
          entityName: entityName,
          primaryKey: UUID()
        )
    }
    for snapshot in request.inserted {
      guard let permanentIdentifier = remappedIdentifiers[snapshot.persistentIdentifier] else {
        continue
      }
      archive[permanentIdentifier] = snapshot.copy(
        persistentIdentifier: permanentIdentifier,
        remappedIdentifiers: remappedIdentifiers
      )
    }
    for snapshot in request.updated {
      archive[snapshot.persistentIdentifier] = snapshot.copy(
        persistentIdentifier: snapshot.persistentIdentifier,
        remappedIdentifiers: remappedIdentifiers
      )
    }
    for snapshot in request.deleted {
      archive[snapshot.persistentIdentifier] = nil
    }
    try write(archive)
    return DataStoreSaveChangesResult<DefaultSnapshot>(
      for: self.identifier,
      remappedIdentifiers: remappedIdentifiers
    )
  }

  func erase() throws {
    try FileManager.default.removeItem(at: configuration.fileURL)
  }

  private func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
    guard FileManager.default.fileExists(atPath: configuration.fileURL.path(percentEncoded: false))
    else { return [:] }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let trips = try decoder.decode(
      [DefaultSnapshot].self,
      from: try Data(contentsOf: configuration.fileURL)
    )
    var result = [PersistentIdentifier: DefaultSnapshot]()
    trips.forEach { result[$0.persistentIdentifier] = $0 }
    return result
  }

  private func write(_ archive: [PersistentIdentifier: DefaultSnapshot]) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(archive.values.map { $0 }).write(to: configuration.fileURL)
  }
}

// MARK: A snapshot of one's own

struct MemoSnapshot: DataStoreSnapshot {
  let persistentIdentifier: PersistentIdentifier
  let text: String
  let stars: Int
  let tags: [String]?

  init(
    from backingData: any BackingData,
    relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
  ) {
    guard let memo = backingData as? any BackingData<CustomDataStore.Memo>,
      let identifier = backingData.persistentModelID
    else { fatalError("\(backingData) is not the backing data of a memo") }
    persistentIdentifier = identifier
    text = memo.getValue(forKey: \.text)
    stars = memo.getValue(forKey: \.stars)
    tags = memo.getValue(forKey: \.tags)
  }

  private init(_ identifier: PersistentIdentifier, _ other: MemoSnapshot, stars: Int) {
    persistentIdentifier = identifier
    text = other.text
    self.stars = stars
    tags = other.tags
  }

  func copy(
    persistentIdentifier: PersistentIdentifier,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
  ) -> MemoSnapshot {
    MemoSnapshot(persistentIdentifier, self, stars: stars)
  }

  func rated(_ stars: Int) -> MemoSnapshot {
    MemoSnapshot(persistentIdentifier, self, stars: stars)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    persistentIdentifier = try container.decode(
      PersistentIdentifier.self,
      forKey: .persistentIdentifier
    )
    text = try container.decode(String.self, forKey: .modeledProperty("text"))
    stars = try container.decode(Int.self, forKey: .modeledProperty("stars"))
    tags = try container.decode([String]?.self, forKey: .modeledProperty("tags"))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
    try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
    try container.encode(text, forKey: .modeledProperty("text"))
    try container.encode(stars, forKey: .modeledProperty("stars"))
    try container.encode(tags, forKey: .modeledProperty("tags"))
  }
}

struct MemoConfiguration: DataStoreConfiguration {
  typealias Store = MemoStore
  var name = "memos"
  var schema: Schema?

  static func == (lhs: Self, rhs: Self) -> Bool { lhs.name == rhs.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Keeps memos in memory; texts are unique, and nobody gets more than five stars.
final class MemoStore: DataStore, DataStoreBatching {
  typealias Configuration = MemoConfiguration
  typealias Snapshot = MemoSnapshot

  let configuration: MemoConfiguration
  let identifier = "memos"
  let schema: Schema
  private let lock = NSLock()
  private var memos: [PersistentIdentifier: MemoSnapshot] = [:]
  private var editors: Set<UUID> = []

  init(
    _ configuration: MemoConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    self.configuration = configuration
    schema = configuration.schema ?? Schema()
  }

  func initializeState(for editingState: EditingState) {
    lock.withLock { _ = editors.insert(editingState.id) }
  }

  func invalidateState(for editingState: EditingState) {
    lock.withLock { _ = editors.remove(editingState.id) }
  }

  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier],
    editingState: EditingState
  ) throws -> [PersistentIdentifier: MemoSnapshot] {
    lock.withLock { memos.filter { persistentIdentifiers.contains($0.key) } }
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, MemoSnapshot> where T: PersistentModel {
    guard request.descriptor.predicate == nil else { throw DataStoreError.preferInMemoryFilter }
    guard request.descriptor.sortBy.isEmpty else { throw DataStoreError.preferInMemorySort }
    let found = lock.withLock { memos.values.sorted { $0.text < $1.text } }
    return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: found)
  }

  func save(
    _ request: DataStoreSaveChangesRequest<MemoSnapshot>
  ) throws -> DataStoreSaveChangesResult<MemoSnapshot> {
    lock.lock()
    defer { lock.unlock() }
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    var changed: [PersistentIdentifier: MemoSnapshot] = [:]
    for snapshot in request.inserted {
      let known = memos.values.first { $0.text == snapshot.text }
      let identifier =
        try known?.persistentIdentifier
        ?? .identifier(for: self.identifier, entityName: "Memo", primaryKey: UUID().uuidString)
      remapped[snapshot.persistentIdentifier] = identifier
      let copy = snapshot.copy(persistentIdentifier: identifier, remappedIdentifiers: remapped)
      memos[identifier] = copy
      if copy.stars > 5 { changed[identifier] = copy.rated(5) }
    }
    for snapshot in request.updated {
      memos[snapshot.persistentIdentifier] = snapshot
      if snapshot.stars > 5 { changed[snapshot.persistentIdentifier] = snapshot.rated(5) }
    }
    for snapshot in request.deleted { memos[snapshot.persistentIdentifier] = nil }
    memos.merge(changed) { $1 }
    return DataStoreSaveChangesResult(
      for: identifier,
      remappedIdentifiers: remapped,
      snapshotsToReregister: changed
    )
  }

  func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
    throw DataStoreError.preferInMemoryFilter
  }

  var editorCount: Int { lock.withLock { editors.count } }
}
