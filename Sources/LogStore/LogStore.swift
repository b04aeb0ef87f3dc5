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
  /// What a save promises when it returns.
  public typealias Durability = LogStoreConfiguration.Durability
  /// How the store keeps itself small, and how much history it keeps.
  public typealias Compaction = LogStoreConfiguration.Compaction

  /// The configuration that the store was opened with.
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
}

/// The store behind ``/ModelRuntime/ModelConfiguration``: a ``LogStore`` at the platform's usual place, or in memory.
public final class DefaultStore: LogBackedStore {
  /// The type that opens this store.
  public typealias Configuration = ModelConfiguration
  /// The form in which a context may ask for models; it uses rows instead.
  public typealias Snapshot = DefaultSnapshot

  /// The configuration that the store was opened with, and where the store really is.
  public let configuration: ModelConfiguration
  let lease: StoreLease

  public var allowsSave: Bool { configuration.allowsSave && tables.past == nil }
  /// The name of the configuration.
  public var name: String { configuration.name }

  /// Opens the store, or makes it.
  ///
  /// - Throws: ``LogStoreError``, naming the folder and what is wrong with it.
  public init(
    _ configuration: ModelConfiguration,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil
  ) throws {
    if configuration.isStoredInMemoryOnly {
      self.configuration = configuration
      lease = try StoreLease.openInMemory(configuration, migrationPlan)
    } else if let place = DefaultPlace(configuration),
      place.isFormer(StoreRequest(configuration, migrationPlan))
    {
      self.configuration = configuration.moved(to: place.former)
      lease = try StoreLease.open(StoreRequest(self.configuration, migrationPlan))
      if allowsSave { try place.claim(lease.tables.engine) }
    } else {
      self.configuration = configuration
      lease = try StoreLease.open(StoreRequest(configuration, migrationPlan))
    }
  }

  /// The store of tables that are open already.
  init(_ lease: StoreLease, _ configuration: ModelConfiguration) {
    self.lease = lease
    self.configuration = configuration
  }
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
