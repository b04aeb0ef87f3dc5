public import ModelRuntime

/// A store that appends what a save changed to a log, and finds it through an index in memory.
///
/// Use it by naming it in a container's configuration; see ``LogStoreConfiguration``. The folder can be
/// looked into with `logstore-inspect`, also while an app writes to it.
public final class LogStore: LogBackedStore {
  public typealias Configuration = LogStoreConfiguration
  public typealias Snapshot = DefaultSnapshot
  public typealias Durability = LogStoreConfiguration.Durability
  public typealias Compaction = LogStoreConfiguration.Compaction

  public let configuration: LogStoreConfiguration
  let tables: TableStore

  /// Opens the store, or makes it.
  ///
  /// - Throws: ``LogStoreError``, naming the folder and what is wrong with it.
  public init(
    _ configuration: LogStoreConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    self.configuration = configuration
    tables = try TableStore(
      at: configuration.url,
      schema: configuration.schema ?? Schema(),
      migrationPlan: migrationPlan,
      durability: configuration.durability,
      allowsSave: configuration.allowsSave,
      blobThreshold: configuration.externalStorageThreshold,
      compaction: configuration.compaction,
      cacheByteCount: configuration.cacheByteCount,
      permissions: configuration.permissions,
      uniquenessPolicy: configuration.uniquenessPolicy,
      observation: StoreObservation(configuration)
    )
  }
}

/// The store behind ``ModelConfiguration``: a ``LogStore`` at the platform's usual place, or in memory.
public final class DefaultStore: LogBackedStore {
  public typealias Configuration = ModelConfiguration
  public typealias Snapshot = DefaultSnapshot

  public let configuration: ModelConfiguration
  let tables: TableStore

  public var allowsSave: Bool { configuration.allowsSave }
  public var name: String { configuration.name }

  /// Opens the store, or makes it.
  ///
  /// - Throws: ``LogStoreError``, naming the folder and what is wrong with it.
  public init(
    _ configuration: ModelConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil
  ) throws {
    self.configuration = configuration
    let schema = configuration.schema ?? Schema()
    tables =
      configuration.isStoredInMemoryOnly
      ? try StoresInMemory.store(for: configuration, schema, migrationPlan)
      : try StoresOnDisk.store(for: configuration, schema, migrationPlan)
  }

  /// The store of tables that are open already.
  init(_ tables: TableStore, _ configuration: ModelConfiguration) {
    self.tables = tables
    self.configuration = configuration
  }
}

extension ModelConfiguration: UniquenessConfiguring {
  public typealias Store = DefaultStore

  /// Checks the name and the place.
  ///
  /// - Throws: ``SwiftDataError`` for a file name that no file system takes.
  public func validate() throws {
    if !isStoredInMemoryOnly { try StoreLocation.validate(url, name: name) }
  }
}
