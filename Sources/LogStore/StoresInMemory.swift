import Foundation
import ModelRuntime

/// The stores in memory that have a name: every container of the process that opens the name has the same one, as
/// long as one of them lives.
enum StoresInMemory {
  private static let stores = SharedStores()

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
    let store = try stores.store(named: configuration.url.path, orMake: make)
    guard store.keeps(schema) else {
      throw LogStoreError.schemaNotShared(name: configuration.name)
    }
    return store
  }
}
