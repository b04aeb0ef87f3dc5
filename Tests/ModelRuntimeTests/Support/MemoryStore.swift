import Foundation
import ModelRuntime

/// A store that keeps snapshots in a dictionary: the least a custom store can be.
final class MemoryStore: DataStore {
  struct Configuration: DataStoreConfiguration {
    typealias Store = MemoryStore
    var name = "memory"
    var schema: Schema?
    /// Whether saving fails, to see what a context does then.
    var refusesToSave = false
    /// What every store opened with this configuration sees.
    let archive = Archive()

    static func == (lhs: Configuration, rhs: Configuration) -> Bool { lhs.archive === rhs.archive }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(archive)) }
  }

  /// The snapshots, which outlive the store.
  final class Archive {
    var snapshots: [PersistentIdentifier: DefaultSnapshot] = [:]
    var nextKey = 1
    /// How often it was asked for models.
    var fetchCount = 0
    /// Whether being asked for models fails.
    var refusesToFetch = false
    /// Whether saving fails for now, and how often it was tried.
    var refusesToSave = false
    var saveCount = 0
  }

  struct Refusal: Error {}

  typealias Snapshot = DefaultSnapshot

  let configuration: Configuration
  let identifier = "memory"
  let schema: Schema

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema ?? Schema()
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    configuration.archive.fetchCount += 1
    if configuration.archive.refusesToFetch { throw Refusal() }
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let entity = Schema.entityName(for: T.self)
    let found = configuration.archive.snapshots.values.filter {
      $0.persistentIdentifier.entityName == entity
    }
    .sorted { $0.persistentIdentifier < $1.persistentIdentifier }
    .dropFirst(request.descriptor.fetchOffset ?? 0)
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: Array(found.prefix(request.descriptor.fetchLimit ?? .max))
    )
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    configuration.archive.saveCount += 1
    if configuration.refusesToSave || configuration.archive.refusesToSave { throw Refusal() }
    for snapshot in request.updated {
      let own = snapshot.persistentIdentifier
      if configuration.archive.snapshots[own] == nil {
        throw SwiftDataError.modelValidationFailure.explained("\(own) was deleted elsewhere")
      }
    }
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      remapped[snapshot.persistentIdentifier] = try .identifier(
        for: identifier,
        entityName: snapshot.persistentIdentifier.entityName,
        primaryKey: configuration.archive.nextKey
      )
      configuration.archive.nextKey += 1
    }
    for snapshot in request.inserted + request.updated {
      let id = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
      configuration.archive.snapshots[id] = snapshot.copy(
        persistentIdentifier: id,
        remappedIdentifiers: remapped
      )
    }
    for snapshot in request.deleted {
      configuration.archive.snapshots[snapshot.persistentIdentifier] = nil
    }
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }
}

/// A container of the library's models over a ``MemoryStore``.
func makeLibrary(refusesToSave: Bool = false) throws -> ModelContainer {
  try ModelContainer(
    for: Schema([Author.self, Book.self, Chapter.self, Reader.self]),
    configurations: [MemoryStore.Configuration(refusesToSave: refusesToSave)]
  )
}
