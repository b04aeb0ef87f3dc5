import Foundation
import LogEngine
package import ModelRuntime

extension StoreRequest {
  /// Decides whether the store could be brought to the schema, and leaves it as it is.
  ///
  /// - Throws: The error of an opening that is refused because of the models. What else may keep it from being opened is for
  ///   the opening to say.
  /// - Complexity: That of opening the store.
  func rehearse() throws {
    guard let engine = try? openForReading() else {
      // It may be there to be made.
      _ = try migration.route(from: Catalogue())
      return
    }
    defer { try? engine.close() }
    try migration.rehearse(engine.catalogue)
  }

  private func openForReading() throws -> StorageEngine {
    var options = EngineOptions()
    options.mode = .readOnly
    return try StorageEngine.open(at: url.path, options: options)
  }
}

extension LogStore: RehearsingStore {
  package static func rehearse(
    _ configuration: LogStoreConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    try StoreRequest(configuration, migrationPlan).rehearse()
  }
}

extension DefaultStore: RehearsingStore {
  package static func rehearse(
    _ configuration: ModelConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    if configuration.isStoredInMemoryOnly { return }
    try StoreRequest(configuration, migrationPlan).rehearse()
  }
}
