import Foundation
import RowFormat
import Synchronization

/// The open stores of a container, and the entities that each keeps.
///
/// Contexts hold the coordinator, not the container: so a container can hold its main context without a reference
/// cycle, which would keep the stores open for ever.
final class StoreCoordinator: Sendable {
  let schema: Schema
  let migrationPlan: (any SchemaMigrationPlan.Type)?
  let connections: [StoreConnection]
  /// Delivers saves of one context to the others.
  let inboxes = SaveInboxes()
  /// Makes the inboxes receive the saves of other processes.
  let remoteSaves = RemoteSaves()
  /// Notified of every save.
  let saveListeners = SaveListeners()
  /// The notices of the changes of each store, by its index.
  let changeNotices: [StoreChangeNotice]
  /// The containers that have a store open, by its index; none where a container hears of no others.
  let sharers: [StoreSharers?]
  /// The lanes that run the reads and writes of all containers of these stores.
  let lanes = WorkLanes()
  /// Number of reads of the stores' contexts that hold a state.
  let heldStateCount = Atomic<Int>(0)
  /// The main context of all containers of these stores, which keep it alive.
  @MainActor weak var mainContext: ModelContext?
  /// Number of saves that the main context has before it, at the main actor's next turn, or is at.
  let dueAutosaveCount = Atomic<Int>(0)
  /// Whether the last save by itself of the main context has failed, and there was no handler for the error.
  let hasUnheardAutosave = Atomic<Bool>(false)
  private let hasClosed = Atomic<Bool>(false)
  /// Held while the stores are closed: a second call waits for the first.
  private let closing = Mutex<Void>(())
  private let storesByClass: StoresByClass
  /// Whether the stores show an earlier state.
  let isOfThePast: Bool

  /// Opens the stores.
  ///
  /// - Parameters:
  ///   - schema: The models of the container.
  ///   - migrationPlan: The stages that migrate stores of earlier versions.
  ///   - configurations: The stores; new models go to the first one whose schema has their class and that may be written.
  /// - Throws: ``SwiftDataError`` for an invalid schema or configuration, otherwise the error of a store that fails to
  ///   open.
  init(
    schema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)?,
    configurations: [any DataStoreConfiguration]
  ) throws {
    try schema.validate()
    isOfThePast = false
    self.schema = schema
    self.migrationPlan = migrationPlan
    let descriptors = schema.descriptors
    EntityNames.register(descriptors)
    for descriptor in descriptors {
      if let problem = descriptor.problems.first { throw problem }
    }
    var names: Set<String> = []
    for configuration in configurations {
      guard names.insert(configuration.name).inserted else {
        throw SwiftDataError.duplicateConfiguration(named: configuration.name)
      }
    }
    var folders = StoreFolders()
    for configuration in configurations { try folders.add(configuration) }
    let rehearsed = try StoreCoordinator.rehearse(configurations, schema, migrationPlan)
    defer { for opening in rehearsed.openings { opening.end() } }
    var opened: [Int: StoreConnection] = [:]
    folders = StoreFolders()
    // First those that cannot tell whether they can be opened: all others can.
    let unknown = configurations.indices.filter { !rehearsed.indices.contains($0) }
    for index in unknown + configurations.indices.filter(rehearsed.indices.contains) {
      let configuration = configurations[index]
      // Of two names of one place, links are told apart only once there is something.
      try folders.add(configuration)
      let connection = try StoreCoordinator.connect(
        configuration,
        index: index,
        schema: schema,
        migrationPlan: migrationPlan
      )
      if let unique = configuration as? any UniquenessConfiguring {
        connection.uniquenessPolicy = unique.uniquenessPolicy
      }
      if let merging = configuration as? any MergePolicyConfiguring {
        connection.mergePolicy = merging.mergePolicy
      }
      opened[index] = connection
    }
    let connections = configurations.indices.compactMap { opened[$0] }
    self.connections = connections
    storesByClass = StoresByClass(connections)
    changeNotices = connections.map { StoreChangeNotice(of: $0.identifier) }
    sharers = connections.map(StoreSharers.sharers)
    for connection in connections {
      guard let store = connection.store.openStore as? any ContainedStore else { continue }
      store.didOpen { [weak self] in self.map { ModelContainer($0) } }
    }
    joinSharers()
  }

  deinit { leaveSharers() }

  /// Takes over open stores, in the middle of a migration.
  ///
  /// - Parameters:
  ///   - stores: The stores, with the models each keeps, which need not be those of the rest of the process.
  ///   - schema: All the models.
  ///   - uniquenessPolicy: The policy of a save for a new model whose unique values another model has.
  /// - Throws: ``SwiftDataError`` for models that cannot be stored.
  init(
    _ stores: [(any DataStore, Schema)],
    schema: Schema,
    uniquenessPolicy: UniquenessPolicy
  ) throws {
    try schema.validate()
    isOfThePast = false
    self.schema = schema
    migrationPlan = nil
    for type in schema.modelTypes {
      if let problem = ModelDescriptor.of(type).problems.first { throw problem }
    }
    connections = try stores.enumerated().map { index, store in
      let connection = try StoreCoordinator.connect(
        store.0,
        named: "\(index)",
        index: index,
        schema: store.1
      )
      connection.uniquenessPolicy = uniquenessPolicy
      return connection
    }
    storesByClass = StoresByClass(connections)
    changeNotices = connections.map { StoreChangeNotice(of: $0.identifier) }
    sharers = []
  }

  /// Takes over earlier states of another coordinator's stores.
  ///
  /// - Parameters:
  ///   - stores: The stores, in the order of the other's, each of an earlier state.
  ///   - present: The other coordinator.
  /// - Throws: ``SwiftDataError`` for models that cannot be stored.
  init(past stores: [any DataStore], of present: StoreCoordinator) throws {
    isOfThePast = true
    schema = present.schema
    migrationPlan = present.migrationPlan
    var connections: [StoreConnection] = []
    for (store, connection) in zip(stores, present.connections) {
      let past = try StoreCoordinator.connect(
        store,
        named: connection.configurationName,
        index: connection.index,
        schema: connection.schema,
        isOfThePast: true
      )
      connections.append(past)
    }
    self.connections = connections
    storesByClass = StoresByClass(connections)
    changeNotices = connections.map { StoreChangeNotice(of: $0.identifier) }
    sharers = []
  }

  /// The stores that can be opened, and are held for it; of others it is not known.
  private struct Rehearsed {
    var openings: [any RehearsedOpening] = []
    /// The positions of their configurations.
    var indices: Set<Int> = []
  }

  /// Has the stores decide, before any is changed, whether they can be opened; one alone decides as it is opened.
  private static func rehearse(
    _ configurations: [any DataStoreConfiguration],
    _ schema: Schema,
    _ migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws -> Rehearsed {
    var rehearsed = Rehearsed()
    if configurations.count < 2 { return rehearsed }
    // All threads hold stores in this order, so that none waits for another that waits for it.
    let order = configurations.indices.sorted {
      StoreFolders.path(of: configurations[$0]) ?? "" < StoreFolders.path(of: configurations[$1])
        ?? ""
    }
    do {
      for index in order {
        guard let opening = try rehearse(configurations[index], schema, migrationPlan) else {
          continue
        }
        rehearsed.openings.append(opening)
        rehearsed.indices.insert(index)
      }
    } catch {
      for opening in rehearsed.openings { opening.end() }
      throw error
    }
    return rehearsed
  }

  private static func rehearse<C: DataStoreConfiguration>(
    _ configuration: C,
    _ schema: Schema,
    _ migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws -> (any RehearsedOpening)? {
    let configuration = try completed(configuration, schema, migrationPlan)
    guard let store = C.Store.self as? any RehearsingStore.Type else { return nil }
    func rehearse<S: RehearsingStore>(_ store: S.Type) throws -> (any RehearsedOpening)? {
      guard let configuration = configuration as? S.Configuration else { return nil }
      return try store.rehearse(configuration, migrationPlan: migrationPlan)
    }
    return try rehearse(store)
  }

  /// A configuration with the schema that its store gets, checked.
  private static func completed<C: DataStoreConfiguration>(
    _ configuration: C,
    _ schema: Schema,
    _ migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws -> C {
    var configuration = configuration
    if let own = configuration.schema, !own.isVersioned {
      // A part of the models is of their version, which its shape alone may not tell.
      configuration.schema = schema.version(in: migrationPlan).map(own.numbered) ?? own
    } else {
      configuration.schema = configuration.schema ?? schema
    }
    try configuration.validate()
    let own = configuration.schema ?? schema
    for type in own.modelTypes where !schema.contains(type) {
      throw SwiftDataError.configurationSchemaNotFound(
        entity: Schema.entityName(for: type),
        configuration: configuration.name
      )
    }
    return configuration
  }

  private static func connect<C: DataStoreConfiguration>(
    _ configuration: C,
    index: Int,
    schema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws -> StoreConnection {
    let configuration = try completed(configuration, schema, migrationPlan)
    return try connect(
      try C.Store(configuration, migrationPlan: migrationPlan),
      named: configuration.name,
      index: index,
      schema: configuration.schema ?? schema
    )
  }

  private static func connect(
    _ store: some DataStore,
    named name: String,
    index: Int,
    schema: Schema,
    isOfThePast: Bool = false
  ) throws -> StoreConnection {
    let models = ConnectedModels(of: schema)
    func adapt(_ rows: some RowStore) -> any StoreAdapter { RowStoreAdapter(rows, models) }
    let rows = store as? any RowStore
    let connection = StoreConnection(
      rows.map { adapt($0) } ?? SnapshotStoreAdapter(store, models),
      models,
      index: index,
      configurationName: name,
      allowsSave: rows?.allowsSave ?? true,
      isOfThePast: isOfThePast
    )
    try connection.checkDerivations()
    return connection
  }

  // MARK: Closing

  /// Closes the stores; once.
  ///
  /// - Throws: The error of the first store that could not be closed; the others are closed all the same.
  func close() throws {
    try closing.withLock { _ in
      if hasClosed.exchange(true, ordering: .acquiringAndReleasing) { return }
      leaveSharers()
      var failure: (any Error)?
      for connection in connections {
        do {
          try (connection.store.openStore as? any DataStoreClosing)?.close()
        } catch {
          failure = failure ?? error
        }
      }
      if let failure { throw failure }
    }
  }

  /// Whether the stores are closed, or being closed.
  var isClosed: Bool { hasClosed.load(ordering: .acquiring) }

  /// Whether the main context has changes that it would have saved by itself before now, or at the main actor's next turn.
  var owesAutosave: Bool {
    dueAutosaveCount.load(ordering: .acquiring) > 0
      || hasUnheardAutosave.load(ordering: .acquiring) && !isClosed
  }

  /// Throws if the container has been closed.
  func checkOpen() throws {
    guard isClosed else { return }
    throw SwiftDataError.storeClosed.explained(
      "the container was closed, and its contexts can no longer be used: make another container"
    )
  }

  // MARK: Finding the store of a model

  /// The store that new models of a class are saved to.
  func connection(for descriptor: ModelDescriptor) -> StoreConnection? {
    storesByClass.home(of: descriptor)
  }

  /// Whether several stores keep models of any class.
  var hasSharedClasses: Bool { storesByClass.areShared }

  /// The stores that keep models of a class; `nil` if there is at most one.
  func severalConnections(for descriptor: ModelDescriptor) -> [StoreConnection]? {
    storesByClass.several(of: descriptor)
  }

  /// The stores that keep models of a class.
  func connections(for descriptor: ModelDescriptor) -> [StoreConnection] {
    severalConnections(for: descriptor) ?? connection(for: descriptor).map { [$0] } ?? []
  }

  /// The descriptor of a class, as the schema relates it to others.
  func descriptor(of type: any PersistentModel.Type) -> ModelDescriptor {
    guard schema.isMixed else { return .of(type) }
    return schema.descriptors.first { $0.type == type } ?? .of(type)
  }

  func row(for identifier: PersistentIdentifier) -> (StoreConnection, RowReference)? {
    row(for: identifier) { $0.reference(of: identifier) }
  }

  /// The row of a model that a context may have an object of.
  func knownRow(for identifier: PersistentIdentifier) -> (StoreConnection, RowReference)? {
    row(for: identifier) { $0.knownReference(of: identifier) }
  }

  private func row(
    for identifier: PersistentIdentifier,
    _ reference: (any StoreAdapter) -> RowReference?
  ) -> (StoreConnection, RowReference)? {
    for connection in connections where connection.identifier == identifier.storeIdentifier {
      if let reference = reference(connection.store) { return (connection, reference) }
    }
    return nil
  }

  /// A placeholder for a model that does not exist: of the class its identifier names, or of none of the app's.
  func placeholder(for identifier: PersistentIdentifier) -> any PersistentModel {
    func make<M: PersistentModel>(_: M.Type) -> any PersistentModel {
      let model = M(backingData: _EmptyBackingData<M>())
      model._$reset()
      model._$state.flags.insert([.deleted, .vanished])
      return model
    }
    guard let type = schema.entitiesByName[identifier.entityName]?.modelType else {
      return make(UnknownModel.self)
    }
    return make(type)
  }
}
