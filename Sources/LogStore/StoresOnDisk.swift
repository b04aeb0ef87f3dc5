import Foundation
import ModelRuntime

/// The stores on disk that are open to be written to: a process may open one in several containers, which then
/// have it together, as long as one of them lives.
enum StoresOnDisk {
  private static let stores = SharedStores()

  /// The store of a configuration: the one that is open, or one that is opened now.
  ///
  /// - Throws: ``LogStoreError``; among others if it is open for other models, or in another process.
  static func store(
    for configuration: ModelConfiguration,
    _ schema: Schema,
    _ plan: (any SchemaMigrationPlan.Type)?
  ) throws -> TableStore {
    let path = configuration.url.standardizedFileURL.path
    if configuration.allowsSave, let known = openStore(at: path, keeping: schema) { return known }
    do {
      // Not while others wait: a migration runs code of the app, which may open stores itself.
      let made = try TableStore(
        at: configuration.url,
        schema: schema,
        migrationPlan: plan,
        durability: .full,
        allowsSave: configuration.allowsSave,
        uniquenessPolicy: configuration.uniquenessPolicy
      )
      if configuration.allowsSave { stores.insert(made, named: path) }
      return made
    } catch {
      // Another thread may have been faster.
      guard configuration.allowsSave, let known = openStore(at: path, keeping: schema) else {
        throw error
      }
      return known
    }
  }

  private static func openStore(at path: String, keeping schema: Schema) -> TableStore? {
    guard let known = stores.store(named: path), known.keeps(schema) else { return nil }
    return known
  }
}
