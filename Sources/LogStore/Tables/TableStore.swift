import Locking
import Foundation
import LogEngine
import ModelRuntime
import RowFormat
import SchedulePoints
import Synchronization

/// The entities of a schema as tables of an engine; both kinds of configuration open one.
///
/// Invariants:
/// - The current layout of a table is the layout of its entity's descriptor: rows go through as they are.
/// - A row with an older layout is converted when it is read, never rewritten for it.
final class TableStore: Sendable {
  let engine: StorageEngine
  let schema: Schema
  /// The name in permanent identifiers; made with the store, and kept in its log.
  let identifier: String
  let path: String
  let allowsSave: Bool
  let ranks: RankCounter
  let tables: [EntityTable]
  private let tablesByEntity: [String: EntityTable]
  /// By number: every read of a row asks for its table.
  private let tablesByNumber: [EntityTable?]
  /// The tables that hold the models of a class, by the class's descriptor, in the order of their numbers.
  private let tablesByClass: [ObjectIdentifier: [EntityTable]]
  let indexes: StoreIndexes
  /// Hashes texts for indexes.
  let textHash: TextHash
  /// The files of indexes that there were, by their names.
  let indexFilesAtOpening: [UInt64: KnownIndexFile]
  /// Has indexes written to their files in the background.
  let indexKeeper = IndexKeeper()
  let uniqueClaims = UniqueClaims()
  let referenceClaims = ReferenceClaims()
  private let referrersByTable: [UInt16: [ReferenceColumn]]
  let spareSink = SpareSink()
  /// The attributes that are derived; `nil` if there are none.
  let derivations: StoreDerivations?
  /// Held from the reading of the totals that a commit changes until the commit has its place.
  ///
  /// No lock of the table of locks: it is taken when a thread holds none, and released by the commit.
  let derivationGate = NSLock()
  let history: StoreHistory
  /// The newest commit that the observers of other processes' saves know.
  let followed: Lock<CommitSequence>
  /// Limit, in bytes, of a value that stays in its row although it could have a file; none has one in
  /// memory.
  let blobThreshold: Int
  /// Receives the store's events.
  let observation: StoreObservation
  /// Limit, in bytes, of the memory for the groups and values of one aggregate.
  let aggregateByteLimit: Int
  /// Number of rows of a table below which one thread measures columns alone.
  let leastSharedRowCount = Atomic<Int>(100_000)
  /// The durability that a save promises.
  let durability: LogStoreConfiguration.Durability
  let closing: EngineClosing
  /// The earlier state that the store shows; `nil` if it shows what is newest.
  let past: PastState?
  /// Number of threads that read one state for a while.
  let pinCount = Atomic<Int>(0)
  private let end = Lock<StoreEnd?>(nil, .storeEnd)
  /// The object shared by the containers that have the store open.
  private let common = Mutex<(any AnyObject & Sendable)?>(nil)

  /// Opens a store on disk, or makes it.
  convenience init(_ request: StoreRequest) throws {
    let url = request.url
    if request.allowsSave { try StoreLocation.makeParents(of: url, request.permissions) }
    do {
      try self.init(try request.openEngine(), request.tables)
    } catch let error as StorageError {
      throw LogStoreError.storage(error, while: .opening, path: url.path)
    }
  }

  /// Makes a store that lives in memory.
  convenience init(
    inMemoryFor schema: Schema,
    migrationPlan: (any SchemaMigrationPlan.Type)?
  ) throws {
    var options = EngineOptions()
    options.durability = .memory
    // Memory is dearer than disk: the history is shorter.
    options.take(LogStoreConfiguration.Compaction(.automatic, historyByteCount: 4 << 20))
    let engine = try StorageEngine.open(
      at: "/memory",
      options: options,
      fileSystem: InMemoryFileSystem()
    )
    let migration = StoreMigration(path: "memory", schema: schema, plan: migrationPlan)
    try self.init(try migration.run(engine), Configuration(path: "memory", schema: schema))
  }

  /// The configuration of a store over the tables of an engine.
  struct Configuration {
    let path: String
    let schema: Schema
    var allowsSave = true
    /// Limit, in bytes, of a value that stays in its row although it could have a file.
    var blobThreshold = Int.max
    var aggregateByteLimit = LogStoreConfiguration.defaultAggregateMemoryLimit
    var durability = LogStoreConfiguration.Durability.full
    var observation = StoreObservation.none
    var closing = EngineClosing.withStore
    /// The earlier state that the store is to show, of an engine that another store closes.
    var past: PastState?
  }

  /// Opens the tables of an engine, which has those of the schema.
  init(_ engine: StorageEngine, _ configuration: Configuration) throws {
    let (path, schema) = (configuration.path, configuration.schema)
    self.engine = engine
    self.path = path
    self.schema = schema
    closing = configuration.closing
    past = configuration.past
    durability = configuration.durability
    blobThreshold = configuration.blobThreshold
    aggregateByteLimit = configuration.aggregateByteLimit
    observation = configuration.observation
    allowsSave = configuration.allowsSave
    textHash = TextHash(engine.state.store)
    indexFilesAtOpening = past == nil ? TableStore.indexFiles(of: engine) : [:]
    let catalogue = engine.catalogue
    identifier = CatalogueMapping.identifier(in: catalogue) ?? path
    history = StoreHistory(storeIdentifier: identifier)
    let families = EntityFamilies(schema)
    let hidden = Set(catalogue.tables.filter { !families.contains($0.name) }.map(\.number))
    tables = try schema.descriptors.map { descriptor in
      guard let table = CatalogueMapping.table(of: descriptor, of: families, in: catalogue) else {
        throw LogStoreError.schemaNotInStore(entity: descriptor.entityName, path: path)
      }
      return EntityTable(table, descriptor, engine, catalogue, hiddenTables: hidden)
    }
    tablesByEntity = Dictionary(
      tables.map { ($0.descriptor.entityName, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    var byNumber: [EntityTable?] = []
    for table in tables {
      while byNumber.count <= table.number { byNumber.append(nil) }
      byNumber[Int(table.number)] = byNumber[Int(table.number)] ?? table
    }
    tablesByNumber = byNumber
    tablesByClass = TableStore.tablesByClass(tables)
    derivations = StoreDerivations(tables.map { ($0.number, $0.descriptor) })
    referrersByTable = TableStore.referrers(of: tables)
    indexes = StoreIndexes(schema, tables: tables)
    ranks = RankCounter(after: engine.lastCommit.rawValue, catalogue)
    followed = Lock(engine.lastForeignCommit, .followedCommit)
    if past != nil { return }
    observation.attach(engine)
    startKeepingIndexes()
    engine.onNews { [weak self] in
      // The next fetch reports what cannot be read now.
      try? self?.follow()
    }
  }

  deinit {
    guard closing == .withStore, end.withLock({ $0 == nil }) else { return }
    SchedulePoint.beforeClosing.reach()
    try? engine.close()
  }

  /// Ends the store for all its users; once.
  ///
  /// - Parameter reason: The error that later callers get.
  /// - Throws: ``LogStoreError`` if the log could not be closed; its files are released in any case.
  func close(_ reason: StoreEnd) throws {
    let isFirst = end.withLock { end in
      defer { end = end ?? reason }
      return end == nil
    }
    guard isFirst, closing == .withStore else { return }
    SchedulePoint.beforeClosing.reach()
    indexKeeper.stop()
    if reason == .folderReplaced { return engine.disown() }
    keepIndexes()
    try perform(.closing) { try engine.close() }
  }

  /// Makes sure that the store has not been ended.
  func checkOpen() throws {
    _ = try past?.origin.openTables()
    if let reason = end.withLock({ $0 }) { throw reason.error(path: path) }
  }

  /// The side that closes the engine.
  enum EngineClosing {
    case withStore
    /// The code that opened it: the store is one of several that read the engine in turn.
    case byOwner
  }

  func table(forEntityNamed name: String) -> UInt16? { tablesByEntity[name]?.number }
  func table(numbered number: UInt16) -> EntityTable? {
    number < tablesByNumber.count ? tablesByNumber[Int(number)] : nil
  }

  /// The to-one columns with an inverse that can refer to rows of a table.
  func referrers(of table: UInt16) -> [ReferenceColumn] { referrersByTable[table] ?? [] }

  /// The row of an identifier, or `nil` if it is not of this store.
  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    guard identifier.storeIdentifier == self.identifier, let key = identifier.rowKey,
      key <= RowReference.maximumKey, let table = tablesByEntity[identifier.entityName]
    else { return nil }
    return RowReference(table: table.number, key: key)
  }

  /// The tables that hold the models of a class: its own, and its subclasses'.
  func tables(for type: any PersistentModel.Type) -> [EntityTable] {
    tables(of: .of(type))
  }

  func tables(of type: ModelDescriptor) -> [EntityTable] {
    tablesByClass[type.classID] ?? []
  }

  private static func tablesByClass(_ tables: [EntityTable]) -> [ObjectIdentifier: [EntityTable]] {
    var byClass: [ObjectIdentifier: [EntityTable]] = [:]
    for table in tables.sorted(by: { $0.number < $1.number }) {
      var next: ModelDescriptor? = table.descriptor
      while let type = next {
        byClass[type.classID, default: []].append(table)
        next = type.superclass
      }
    }
    return byClass
  }

  /// Makes sure that the store shows what is newest: an earlier state takes no changes.
  func checkTakesChanges() throws {
    guard past != nil else { return }
    throw LogStoreError.storage(.readOnly(path: path), while: .saving, path: path)
  }

  /// Returns the object shared by the containers that have the store open.
  func common(_ make: () -> any AnyObject & Sendable) -> any AnyObject & Sendable {
    common.withLock { common in
      let object = common ?? make()
      common = object
      return object
    }
  }

  /// Runs an operation on the engine, and adds the store's activity to its errors.
  func perform<R>(_ activity: LogStoreError.Activity, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch StorageError.closed where activity != .closing {
      // It was ended in the middle of this.
      try checkOpen()
      throw LogStoreError.storage(.closed(path: path), while: activity, path: path)
    } catch let error as StorageError {
      throw LogStoreError.storage(error, while: activity, path: path)
    }
  }

  /// Deletes every row of every table.
  func erase() throws {
    try checkTakesChanges()
    let sink = CommitSink(self)
    sink.begin(author: nil, keeping: .nothing)
    try perform(.erasing) {
      try engine.inTurn {
        for table in tables {
          try engine.scan(table.number) { key, _, _ in
            sink.delete(RowReference(table: table.number, key: key))
            return .proceed
          }
        }
        _ = try sink.commit()
      }
    }
  }
}
