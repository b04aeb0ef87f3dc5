#if PostgreSQL
import Foundation
import ModelRuntime
import Synchronization

/// Stands for the other stores of a container while the code of a stage runs: there is nothing in it at first, and what
/// the code saves goes with it.
final class StageMemory: DataStore {
  /// Nobody opens such a store by a configuration; a store has to have the type of one.
  struct Configuration: DataStoreConfiguration {
    typealias Store = StageMemory

    let name = "elsewhere"
    var schema: Schema?

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.schema == rhs.schema }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  typealias Snapshot = DefaultSnapshot

  let schema: Schema
  let identifier = UUID().uuidString
  private let snapshots = Mutex<[PersistentIdentifier: DefaultSnapshot]>([:])

  init(_ schema: Schema) { self.schema = schema }

  init(
    _ configuration: Configuration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    schema = configuration.schema ?? Schema()
  }

  var configuration: Configuration { Configuration(schema: schema) }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> where T: PersistentModel {
    if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
    if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
    let base = ModelDescriptor.of(T.self)
    let names = Set(
      schema.descriptors.filter { $0.isKind(of: base) }.map(\.entityName)
    )
    let found = snapshots.withLock { $0.values.map(\.self) }
      .filter { names.contains($0.persistentIdentifier.entityName) }
    let rest = found.dropFirst(request.descriptor.fetchOffset ?? 0)
    return DataStoreFetchResult(
      descriptor: request.descriptor,
      fetchedSnapshots: Array(request.descriptor.fetchLimit.map { rest.prefix($0) } ?? rest)
    )
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    var remapped: [PersistentIdentifier: PersistentIdentifier] = [:]
    for snapshot in request.inserted {
      remapped[snapshot.persistentIdentifier] = try .identifier(
        for: identifier,
        entityName: snapshot.persistentIdentifier.entityName,
        primaryKey: UUID().uuidString
      )
    }
    snapshots.withLock { known in
      for snapshot in request.inserted + request.updated {
        let own = remapped[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
        known[own] = snapshot.copy(persistentIdentifier: own, remappedIdentifiers: remapped)
      }
      for snapshot in request.deleted { known[snapshot.persistentIdentifier] = nil }
    }
    return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: remapped)
  }

  func erase() throws { snapshots.withLock { $0 = [:] } }
}
#endif
