import Synchronization

/// A schema and the stores that keep its models.
///
/// A container is safe to share between threads; the contexts made from it are not. The stores stay open
/// as long as the container or one of its contexts lives.
///
/// Unchecked, because the class is open to subclasses of the module; its properties are constants and Sendable.
public class ModelContainer: Equatable, @unchecked Sendable {
  final let coordinator: StoreCoordinator
  private final let mainContextBox = MainContextBox()

  /// The models that the container keeps.
  public final var schema: Schema { coordinator.schema }
  /// The plan that migrates older stores to the schema; `nil` if there is none.
  public final var migrationPlan: (any SchemaMigrationPlan.Type)? { coordinator.migrationPlan }

  /// The configurations of the standard kind; other kinds of stores are not included.
  ///
  /// They describe how the stores were opened. Setting them opens and closes nothing; it is possible because
  /// Apple's declaration lets sources do it.
  public var configurations: Set<ModelConfiguration> {
    get { statedConfigurations.withLock { $0 } ?? openedConfigurations }
    set { statedConfigurations.withLock { $0 = newValue } }
  }

  private final let statedConfigurations = Mutex<Set<ModelConfiguration>?>(nil)

  private var openedConfigurations: Set<ModelConfiguration> {
    Set(
      coordinator.connections.compactMap { ($0.store.configuration as Any) as? ModelConfiguration }
    )
  }

  /// Opens the stores.
  ///
  /// - Parameters:
  ///   - givenSchema: The models of the container.
  ///   - migrationPlan: The stages that migrate stores of earlier versions.
  ///   - configurations: The stores, each with the models of its schema; new models of a class that several keep go to the first that
  ///     may be written.
  /// - Throws: ``SwiftDataError`` for an invalid schema or configuration, otherwise the error of a store that fails to
  ///   open.
  public init(
    for givenSchema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [any DataStoreConfiguration]
  ) throws {
    coordinator = try StoreCoordinator(
      schema: givenSchema,
      migrationPlan: migrationPlan,
      configurations: configurations
    )
  }

  /// Makes the container of a store under migration, with the models of one version.
  ///
  /// - Parameters:
  ///   - stores: The store, and perhaps another for models it does not keep; each with its models.
  ///   - schema: The models of the version.
  ///   - uniquenessPolicy: The policy of a save for a new model whose unique values another model has.
  /// - Throws: ``SwiftDataError`` for models that cannot be stored.
  package init(
    migrating stores: [(any DataStore, Schema)],
    at schema: Schema,
    uniquenessPolicy: UniquenessPolicy = .upsert
  ) throws {
    coordinator = try StoreCoordinator(
      stores,
      schema: schema,
      uniquenessPolicy: uniquenessPolicy
    )
  }

  /// Makes a container of open stores, for a context that outlived its container.
  init(_ coordinator: StoreCoordinator) {
    self.coordinator = coordinator
  }

  /// The context of the main actor, created on first use.
  ///
  /// There is one for the stores: a context whose container is gone has another container with the same main context.
  @MainActor public var mainContext: ModelContext { mainContextBox.context(of: self) }

  public static func == (lhs: ModelContainer, rhs: ModelContainer) -> Bool {
    lhs.coordinator === rhs.coordinator
  }

  /// Removes everything from every store.
  ///
  /// Contexts made before must not be used afterwards.
  ///
  /// - Throws: The error of a store that could not be erased.
  public func erase() throws {
    for connection in coordinator.connections { try connection.store.erase() }
  }

  /// Removes everything from every store, as far as possible.
  @available(*, deprecated, renamed: "erase")
  public func deleteAllData() { try? erase() }

  /// The identifier of the store opened for a configuration, or `nil` for an unknown name.
  public func storeIdentifier(forConfigurationNamed name: String) -> String? {
    coordinator.connections.first { $0.configurationName == name }?.identifier
  }

  /// The name of the configuration a store was opened for, or `nil` if it is not one of this container's.
  public func configurationName(forStoreIdentifier identifier: String) -> String? {
    coordinator.connections.first { $0.identifier == identifier }?.configurationName
  }
}
