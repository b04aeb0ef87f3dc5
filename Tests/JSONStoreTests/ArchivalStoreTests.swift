import SwiftData
import Testing

// A custom store as an app's author writes one after the WWDC24 session on custom data stores: a class
// for the configuration, a dictionary of snapshots read and written whole, and the spellings of the
// session. It must compile and work as it is.

final class ArchiveConfiguration: DataStoreConfiguration {
  typealias Store = ArchiveStore

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

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

final class ArchiveStore: DataStore {
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
    name = configuration.name
    schema = try #require(configuration.schema)
    identifier = configuration.fileURL.lastPathComponent
  }

  @available(*, deprecated, message: "uses the session's spellings on purpose")
  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var remapped = [PersistentIdentifier: PersistentIdentifier]()
    var archive = try read()
    for snapshot in request.inserted {
      remapped[snapshot.persistentIdentifier] = try PersistentIdentifier.identifier(
        for: identifier,
        entityName: snapshot.persistentIdentifier.entityName,
        primaryKey: UUID()
      )
    }
    for snapshot in request.inserted {
      guard let permanent = remapped[snapshot.persistentIdentifier] else { continue }
      archive[permanent] = snapshot.copy(
        persistentIdentifier: permanent,
        remappedIdentifiers: remapped
      )
    }
    for snapshot in request.updated {
      archive[snapshot.persistentIdentifier] = snapshot.copy(
        persistentIdentifier: snapshot.persistentIdentifier,
        remappedIdentifiers: remapped
      )
    }
    for snapshot in request.deleted { archive[snapshot.persistentIdentifier] = nil }
    try write(archive)
    return DataStoreSaveChangesResult<DefaultSnapshot>(
      for: identifier,
      remappedPersistentIdentifiers: remapped,
      deletedIdentifiers: request.deleted.map { $0.persistentIdentifier }
    )
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    if request.descriptor.predicate != nil {
      throw DataStoreError.preferInMemoryFilter
    } else if request.descriptor.sortBy.count > 0 {
      throw DataStoreError.preferInMemorySort
    }
    let archive = try read()
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: archive.values.map { $0 },
      relatedSnapshots: archive
    )
  }

  func read() throws -> [PersistentIdentifier: DefaultSnapshot] {
    guard FileManager.default.fileExists(atPath: configuration.fileURL.path(percentEncoded: false))
    else { return [:] }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let snapshots = try decoder.decode(
      [DefaultSnapshot].self,
      from: try Data(contentsOf: configuration.fileURL)
    )
    var archive = [PersistentIdentifier: DefaultSnapshot]()
    snapshots.forEach { archive[$0.persistentIdentifier] = $0 }
    return archive
  }

  func write(_ archive: [PersistentIdentifier: DefaultSnapshot]) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(archive.values.map { $0 }).write(to: configuration.fileURL)
  }
}

@Suite struct `A custom store in the session's style` {
  @Test func `keeps models through its own file`() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "archive.json")
    func open() throws -> ModelContext {
      let configuration = ArchiveConfiguration(
        name: "archive",
        schema: Schema([Journey.self, Wish.self]),
        fileURL: file
      )
      return ModelContext(try ModelContainer(for: Journey.self, configurations: configuration))
    }
    let context = try open()
    let journey = Journey(name: "Spring", destination: "Lisbon", startDate: .day(100))
    journey.wishes = [Wish("tram 28")]
    context.insert(journey)
    try context.save()
    journey.destination = "Porto"
    try context.save()

    let reopened = try open()
    let found = try reopened.fetch(
      FetchDescriptor<Journey>(predicate: #Predicate { $0.destination == "Porto" })
    )
    #expect(found.map(\.name) == ["Spring"])
    #expect(found.first?.startDate == .day(100))
    #expect(found.first?.wishes.map(\.title) == ["tram 28"])
    #expect(try String(contentsOf: file, encoding: .utf8).contains("\"destination\" : \"Porto\""))
  }
}
