package import Foundation
public import ModelRuntime

/// A store that appends what a save changed to a log, and finds it through an index in memory.
///
/// Use it by naming it in a container's configuration; see ``LogStoreConfiguration``. The folder can be
/// looked into with `logstore-inspect`, also while an app writes to it.
public final class LogStore: LogBackedStore {
  /// The type that opens this store.
  public typealias Configuration = LogStoreConfiguration
  /// The form in which a context may ask for models; it uses rows instead.
  public typealias Snapshot = DefaultSnapshot
  /// The durability that a save promises.
  public typealias Durability = LogStoreConfiguration.Durability
  /// The rules by which the store reclaims space and keeps history.
  public typealias Compaction = LogStoreConfiguration.Compaction

  /// The configuration that the store was opened with, or what a `ModelConfiguration` comes to.
  public let configuration: LogStoreConfiguration
  let lease: StoreLease
  /// Deletes what has expired; `nil` if nothing does, or nothing can be deleted.
  let expirer: Expirer?

  /// Opens the store, or makes it.
  ///
  /// - Throws: ``LogStoreError``, naming the folder and what is wrong with it, or the rule of an expiration.
  public init(
    _ configuration: LogStoreConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    self.configuration = configuration
    let rules = try configuration.expirationRules()
    lease = try StoreLease.open(StoreRequest(configuration, migrationPlan))
    let isIdle = rules.isEmpty || !configuration.allowsSave
    expirer =
      isIdle
      ? nil
      : Expirer(
        rules,
        in: lease.tables,
        author: LogStore.expirationAuthor,
        every: configuration.expirationInterval,
        configuration.expirationClock
      )
  }

  /// The store of tables that are open already.
  init(_ lease: StoreLease, _ configuration: LogStoreConfiguration) {
    self.lease = lease
    self.configuration = configuration
    expirer = nil
  }

  /// The store of a `ModelConfiguration`, in which nothing expires.
  fileprivate init(_ lease: StoreLease, _ configuration: ModelConfiguration) {
    var own = LogStoreConfiguration(
      configuration.name,
      schema: configuration.schema,
      url: configuration.url,
      allowsSave: configuration.allowsSave,
      uniquenessPolicy: configuration.uniquenessPolicy
    )
    own.mergePolicy = configuration.mergePolicy
    own.newerStores = configuration.newerStores
    self.configuration = own
    self.lease = lease
    expirer = nil
  }
}

/// The store behind ``/ModelRuntime/ModelConfiguration``: a ``LogStore`` at the platform's usual place, or in memory.
///
/// A container that is asked for its stores of the kind ``LogStore`` returns these, too.
public final class DefaultStore: LogBackedStore {
  /// The type that opens this store.
  public typealias Configuration = ModelConfiguration
  /// The form in which a context may ask for models; it uses rows instead.
  public typealias Snapshot = DefaultSnapshot

  /// The configuration that the store was opened with, and where the store really is.
  public let configuration: ModelConfiguration
  /// The same store, for those who ask for a `LogStore`.
  fileprivate let log: LogStore
  var lease: StoreLease { log.lease }

  public var allowsSave: Bool { configuration.allowsSave && tables.past == nil }
  /// The name of the configuration.
  public var name: String { configuration.name }

  /// Opens the store, or makes it.
  ///
  /// - Throws: ``LogStoreError``, naming the folder and what is wrong with it.
  public convenience init(
    _ configuration: ModelConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil
  ) throws {
    if configuration.isStoredInMemoryOnly {
      self.init(try StoreLease.openInMemory(configuration, migrationPlan), configuration)
    } else if let place = DefaultPlace(configuration),
      place.isFormer(StoreRequest(configuration, migrationPlan))
    {
      let former = configuration.moved(to: place.former)
      let lease = try StoreLease.open(StoreRequest(former, migrationPlan))
      if former.allowsSave { try place.claim(lease.tables.engine) }
      self.init(lease, former)
    } else {
      self.init(
        try StoreLease.open(StoreRequest(configuration, migrationPlan)),
        configuration
      )
    }
  }

  /// The store of tables that are open already.
  init(_ lease: StoreLease, _ configuration: ModelConfiguration) {
    log = LogStore(lease, configuration)
    self.configuration = configuration
  }
}

extension DefaultStore: UnderlyingStoreProviding {
  package var underlyingStore: any DataStore { log }
}

extension LogStoreConfiguration: FolderConfiguring {
  package var folder: URL? { url }
}

extension ModelConfiguration: FolderConfiguring {
  package var folder: URL? { isStoredInMemoryOnly ? nil : url }
}

extension ModelConfiguration: UniquenessConfiguring, MergePolicyConfiguring {
  /// The store that this configuration opens.
  public typealias Store = DefaultStore

  /// Checks the name and the place.
  ///
  /// - Throws: ``/ModelRuntime/SwiftDataError`` for a file name that no file system takes.
  public func validate() throws {
    if !isStoredInMemoryOnly { try StoreLocation.validate(url, name: name) }
  }
}
