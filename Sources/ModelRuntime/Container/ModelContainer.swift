import Foundation
import RowFormat

/// A schema and the stores that keep its models.
///
/// A container is safe to share between threads; the contexts made from it are not.
public class ModelContainer: Equatable, @unchecked Sendable {
  public final let schema: Schema
  public final let migrationPlan: (any SchemaMigrationPlan.Type)?

  /// The configurations of the standard kind; a store of another kind is not among them.
  public internal(set) var configurations: Set<ModelConfiguration> = []

  final let connections: [StoreConnection]
  private final let connectionsByEntity: [ObjectIdentifier: StoreConnection]

  /// Opens the stores.
  ///
  /// - Parameters:
  ///   - givenSchema: The models of the container.
  ///   - migrationPlan: How stores of earlier versions become current.
  ///   - configurations: The stores; each entity goes to the first one whose schema has it.
  /// - Throws: ``SwiftDataError`` for a schema or configuration that cannot be, otherwise what a store
  ///   throws when it opens.
  public init(
    for givenSchema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: [any DataStoreConfiguration]
  ) throws {
    try givenSchema.validate()
    schema = givenSchema
    self.migrationPlan = migrationPlan
    EntityNames.register(givenSchema.modelTypes.map(ModelDescriptor.of))
    var connections: [StoreConnection] = []
    var names: Set<String> = []
    for configuration in configurations {
      guard names.insert(configuration.name).inserted else {
        throw SwiftDataError.duplicateConfiguration(named: configuration.name)
      }
      connections.append(
        try ModelContainer.connect(
          configuration,
          index: connections.count,
          schema: givenSchema,
          migrationPlan: migrationPlan
        )
      )
    }
    self.connections = connections
    var byEntity: [ObjectIdentifier: StoreConnection] = [:]
    for connection in connections {
      for descriptor in connection.descriptors where byEntity[ObjectIdentifier(descriptor)] == nil {
        byEntity[ObjectIdentifier(descriptor)] = connection
      }
    }
    connectionsByEntity = byEntity
    self.configurations = Set(
      connections.compactMap { ($0.configuration as Any) as? ModelConfiguration }
    )
  }

  /// Opens the stores for models and everything they are related to.
  public convenience init(
    for forTypes: any PersistentModel.Type...,
    configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(for: Schema(forTypes), configurations: configurations)
  }

  /// Opens the stores, variadically.
  public convenience init(
    for givenSchema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: any DataStoreConfiguration...
  ) throws {
    try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
  }

  private static func connect<C: DataStoreConfiguration>(
    _ configuration: C,
    index: Int,
    schema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws -> StoreConnection {
    var configuration = configuration
    if configuration.schema == nil { configuration.schema = schema }
    try configuration.validate()
    let own = configuration.schema ?? schema
    for type in own.modelTypes where !schema.contains(type) {
      throw SwiftDataError.configurationSchemaNotFound(
        entity: String(describing: type),
        configuration: configuration.name
      )
    }
    let store = try C.Store(configuration, migrationPlan: migrationPlan)
    func connectRows<S: RowStore>(_ store: S) throws -> StoreConnection {
      try RowStoreConnection(
        store,
        index: index,
        configurationName: configuration.name,
        schema: own,
        allowsSave: store.allowsSave
      )
    }
    if let rows = store as? any RowStore { return try connectRows(rows) }
    return SnapshotStoreConnection(
      store,
      index: index,
      configurationName: configuration.name,
      schema: own,
      allowsSave: true
    )
  }

  private final let mainContextBox = MainContextBox()

  /// The context of the main actor, made when it is first asked for.
  @MainActor public var mainContext: ModelContext { mainContextBox.context(of: self) }

  public static func == (lhs: ModelContainer, rhs: ModelContainer) -> Bool { lhs === rhs }

  /// Removes everything from every store.
  ///
  /// Contexts made before must not be used afterwards.
  ///
  /// - Throws: What a store could not remove.
  public func erase() throws {
    for connection in connections { try connection.erase() }
  }

  /// Removes everything from every store, as far as possible.
  @available(*, deprecated, renamed: "erase")
  public func deleteAllData() { try? erase() }

  /// The identifier of the store opened for a configuration, or `nil` for a name that is not known.
  public func storeIdentifier(forConfigurationNamed name: String) -> String? {
    connections.first { $0.configurationName == name }?.identifier
  }

  /// The name of the configuration a store was opened for, or `nil` if it is none of this container's.
  public func configurationName(forStoreIdentifier identifier: String) -> String? {
    connections.first { $0.identifier == identifier }?.configurationName
  }
}

/// The main actor's context; apart, because only the main actor may touch it.
private final class MainContextBox: @unchecked Sendable {
  @MainActor private var made: ModelContext?

  nonisolated init() {}

  @MainActor func context(of container: ModelContainer) -> ModelContext {
    if let made { return made }
    let context = ModelContext(container)
    made = context
    return context
  }
}

// MARK: Finding the store of a model

extension ModelContainer {
  func connection(for descriptor: ModelDescriptor) -> StoreConnection? {
    connectionsByEntity[ObjectIdentifier(descriptor)]
  }

  func row(for identifier: PersistentIdentifier) -> (StoreConnection, RowReference)? {
    for connection in connections where connection.identifier == identifier.storeIdentifier {
      if let reference = connection.reference(of: identifier) { return (connection, reference) }
    }
    return nil
  }

  /// A model that stands for nothing, of the class its identifier names.
  func placeholder(for identifier: PersistentIdentifier) -> any PersistentModel {
    func make<M: PersistentModel>(_: M.Type) -> any PersistentModel {
      let model = M(backingData: _EmptyBackingData<M>())
      model._$reset()
      model._$state.flags.insert([.deleted, .vanished])
      return model
    }
    guard let type = schema.modelTypes.first(where: { "\($0)" == identifier.entityName }) else {
      preconditionFailure(
        "the container's schema has no entity \"\(identifier.entityName)\" for \(identifier)"
      )
    }
    return make(type)
  }
}
