import Foundation
import LogStore
import ModelRuntime
import PostgresStore

enum StoreKind: CaseIterable { case log, server }

/// A store of one kind, for tests of what the two have in common; a log goes with it.
final class StorePlace {
  let kind: StoreKind
  let namespace: TestNamespace
  let folder: URL

  init(
    _ kind: StoreKind,
    in folder: URL = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  ) throws {
    self.kind = kind
    self.folder = folder
    namespace = try TestNamespace()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func open(
    _ schema: any VersionedSchema.Type,
    plan: (any SchemaMigrationPlan.Type)?,
    newerStores: NewerStorePolicy = .refuse
  ) throws -> ModelContext {
    try open(Schema(versionedSchema: schema), plan: plan, newerStores: newerStores)
  }

  func open(
    _ schema: Schema,
    plan: (any SchemaMigrationPlan.Type)?,
    newerStores: NewerStorePolicy = .refuse
  ) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: schema,
        migrationPlan: plan,
        configurations: [configuration(newerStores)]
      )
    )
  }

  private func configuration(_ newerStores: NewerStorePolicy) -> any DataStoreConfiguration {
    switch kind {
    case .log:
      var log = LogStoreConfiguration(url: folder.appending(path: "a.store"))
      log.newerStores = newerStores
      return log
    case .server:
      var server = namespace.configuration
      server.newerStores = newerStores
      return server
    }
  }
}
