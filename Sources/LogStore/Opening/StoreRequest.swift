import Foundation
import LogEngine
import ModelRuntime

/// A request to open a store on disk; both kinds of configuration become one.
struct StoreRequest {
  let url: URL
  let schema: Schema
  let migrationPlan: (any SchemaMigrationPlan.Type)?
  var durability = LogStoreConfiguration.Durability.full
  var allowsSave = true
  var blobThreshold = LogStoreConfiguration.defaultExternalStorageThreshold
  var compaction = LogStoreConfiguration.Compaction.automatic
  var cacheByteCount = LogStoreConfiguration.defaultCacheByteCount
  var aggregateByteLimit = LogStoreConfiguration.defaultAggregateMemoryLimit
  var permissions = StorePermissions.owner
  var uniquenessPolicy = UniquenessPolicy.upsert
  var newerStores = NewerStorePolicy.refuse
  var observation = StoreObservation.none
  var writers = LogStoreConfiguration.Writers.oneProcess
  var turnTimeout: Duration?
  /// Whether a container of this process that has the store open shares it.
  var sharesOpenStore = true
  /// The store's lock, if it is held already.
  var lock: (any FileLock)?

  init(_ configuration: ModelConfiguration, _ plan: (any SchemaMigrationPlan.Type)?) {
    url = configuration.url
    schema = configuration.schema ?? Schema()
    migrationPlan = plan
    allowsSave = configuration.allowsSave
    uniquenessPolicy = configuration.uniquenessPolicy
    newerStores = configuration.newerStores
  }

  init(_ configuration: LogStoreConfiguration, _ plan: (any SchemaMigrationPlan.Type)?) {
    url = configuration.url
    schema = configuration.schema ?? Schema()
    migrationPlan = plan
    durability = configuration.durability
    allowsSave = configuration.allowsSave
    blobThreshold = configuration.externalStorageThreshold
    compaction = configuration.compaction
    cacheByteCount = configuration.cacheByteCount
    aggregateByteLimit = configuration.aggregateMemoryLimit
    permissions = configuration.permissions
    uniquenessPolicy = configuration.uniquenessPolicy
    newerStores = configuration.newerStores
    observation = StoreObservation(configuration)
    writers = configuration.writers
    turnTimeout = configuration.turnTimeout
    sharesOpenStore = configuration.sharesOpenStore
  }

  /// The configuration of the store's tables.
  var tables: TableStore.Configuration {
    TableStore.Configuration(
      path: url.path,
      schema: schema,
      allowsSave: allowsSave,
      blobThreshold: blobThreshold,
      aggregateByteLimit: aggregateByteLimit,
      durability: durability,
      observation: observation
    )
  }

  var engineOptions: EngineOptions {
    var options = EngineOptions()
    options.mode = allowsSave ? .readWrite : .readOnly
    options.writers = writers == .severalProcesses ? .severalProcesses : .oneProcess
    options.turnTimeout = turnTimeout
    options.durability =
      switch durability {
      case .full: .full
      case .relaxed(let interval): .relaxed(interval: interval)
      }
    options.take(compaction)
    options.blockCacheByteCount = max(0, cacheByteCount)
    options.permissions = permissions
    return options
  }

  var migration: StoreMigration {
    StoreMigration(
      path: url.path,
      schema: schema,
      plan: migrationPlan,
      allowsSave: allowsSave,
      blobThreshold: blobThreshold,
      uniquenessPolicy: uniquenessPolicy,
      newerStores: newerStores
    )
  }
}

extension LogStoreConfiguration.Durability {
  /// Whether a save of this durability promises all that another asks for.
  func promises(_ other: LogStoreConfiguration.Durability) -> Bool {
    switch (self, other) {
    case (.full, _): true
    case (.relaxed, .full): false
    case (.relaxed(let own), .relaxed(let asked)): own <= asked
    }
  }
}
