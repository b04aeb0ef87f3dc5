import Foundation
import ModelRuntime
import Synchronization

/// The stores in memory that have a name: every container of the process that opens the name has the same one, as
/// long as one of them lives.
enum StoresInMemory {
  private struct Reference {
    weak var store: TableStore?
  }

  private static let stores = Mutex<[String: Reference]>([:])

  /// The store of a configuration: of its own without a name, otherwise the one that is there, or a new one.
  ///
  /// - Throws: ``LogStoreError/schemaNotShared(name:)`` if it is there for other models.
  static func store(
    for configuration: ModelConfiguration,
    _ schema: Schema,
    _ plan: (any SchemaMigrationPlan.Type)?
  ) throws -> TableStore {
    func make() throws -> TableStore {
      try TableStore(inMemoryFor: schema, migrationPlan: plan)
    }
    guard configuration.url.path != "/dev/null" else { return try make() }
    return try stores.withLock { stores in
      if let known = stores[configuration.url.path]?.store {
        guard known.keeps(schema) else {
          throw LogStoreError.schemaNotShared(name: configuration.name)
        }
        return known
      }
      let made = try make()
      stores[configuration.url.path] = Reference(store: made)
      return made
    }
  }
}

extension TableStore {
  /// Whether the store has exactly the classes of a schema.
  func keeps(_ other: Schema) -> Bool {
    Set(schema.modelTypes.map(ObjectIdentifier.init))
      == Set(other.modelTypes.map(ObjectIdentifier.init))
  }
}
