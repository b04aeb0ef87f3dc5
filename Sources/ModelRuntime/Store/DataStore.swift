public import Foundation

/// A place that keeps models: what ``ModelContext`` fetches from and saves to.
///
/// A context calls its store synchronously, on its own thread; two contexts may call at once, so a
/// store does its own locking.
public protocol DataStore: AnyObject {
  /// The value that opens the store.
  associatedtype Configuration: DataStoreConfiguration where Self == Configuration.Store
  /// The form in which models come and go; ``DefaultSnapshot``, unless the store needs a form of its own.
  associatedtype Snapshot: DataStoreSnapshot

  /// The name that permanent identifiers of this store carry; stable for the life of its data.
  var identifier: String { get }
  /// The models that the store keeps, as its configuration had them.
  var schema: Schema { get }
  /// The configuration that the store was opened with.
  var configuration: Configuration { get }

  /// Opens the store; called by the container, with its schema already in the configuration.
  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

  /// Removes everything the store holds.
  func erase() throws

  /// Returns the snapshots of the models that a request asks for.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to have
  ///   the context filter or sort what a second request, without predicate or sort, returns.
  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, Snapshot> where T: PersistentModel

  /// Counts the models that a request asks for; by default, by fetching them.
  func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int where T: PersistentModel

  /// Returns the identifiers of the models that a request asks for; by default, by fetching them.
  func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel

  /// Makes the changes of one save durable, all or none.
  func save(
    _ request: DataStoreSaveChangesRequest<Snapshot>
  ) throws -> DataStoreSaveChangesResult<Snapshot>

  /// Called when a context begins to use the store; by default, nothing happens.
  func initializeState(for editingState: EditingState)

  /// Called when a context no longer uses the store; by default, nothing happens.
  func invalidateState(for editingState: EditingState)

  /// Snapshots the store still has at hand for a context; by default, none.
  func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier],
    editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
  public func erase() throws { throw DataStoreError.unsupportedFeature }

  public func fetchCount<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> Int where T: PersistentModel {
    try fetchIdentifiers(request).count
  }

  public func fetchIdentifiers<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    // A simple store may answer with all it has.
    let wanted = ModelDescriptor.of(T.self)
    return try fetch(request).fetchedSnapshots.map(\.persistentIdentifier).filter { identifier in
      identifier.entityName == wanted.entityName
        || EntityNames.descriptor(named: identifier.entityName)?.isKind(of: wanted) == true
    }
  }

  public func initializeState(for editingState: EditingState) {}
  public func invalidateState(for editingState: EditingState) {}

  public func cachedSnapshots(
    for persistentIdentifiers: [PersistentIdentifier],
    editingState: EditingState
  ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A store that can be closed while its container is still there; see ``ModelContainer/close()``.
public protocol DataStoreClosing: DataStore {
  /// Brings everything that was saved to its end, and gives back the files; a second call does nothing.
  ///
  /// Whatever the store is asked for afterwards throws, with ``SwiftDataError/storeClosed`` if it can.
  func close() throws
}

/// A store that can delete by predicate, without being shown each model.
public protocol DataStoreBatching: DataStore {
  /// Deletes the models that match, all or none, and durably when it returns.
  ///
  /// Contexts that hold such models are brought up to date by the caller.
  ///
  /// - Throws: ``DataStoreError/unsupportedFeature`` or ``DataStoreError/invalidPredicate`` for a request that the
  ///   store cannot answer.
  func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel
}

/// How to open a store: the value that says which store an app uses.
public protocol DataStoreConfiguration: Hashable {
  /// The store that the configuration opens.
  associatedtype Store: DataStore = StoreType where Self == Store.Configuration

  /// The name that ``Store`` had in the first listings of custom stores: a configuration may declare either.
  associatedtype StoreType = Never

  /// A name by which the container tells its stores apart.
  var name: String { get }

  /// The entities the store keeps; `nil` stands for the container's whole schema.
  var schema: Schema? { get set }

  /// Checks the configuration before the store is opened; by default, it is fine.
  func validate() throws
}

extension DataStoreConfiguration {
  public func validate() throws {}
}

/// What a store tells a context instead of an answer.
public enum DataStoreError: Error, Equatable, Hashable, Sendable {
  /// The store does not evaluate predicates, or not this one: ask for everything and filter.
  case preferInMemoryFilter
  /// The store does not sort, or not by these keys: sort what it returns.
  case preferInMemorySort
  /// The predicate makes no sense to the store.
  case invalidPredicate
  /// The store does not offer the operation.
  case unsupportedFeature
}

extension DataStoreError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .preferInMemoryFilter: "the store leaves the filtering to the context"
    case .preferInMemorySort: "the store leaves the sorting to the context"
    case .invalidPredicate: "the store cannot interpret the predicate"
    case .unsupportedFeature: "no store of the container offers this operation"
    }
  }

  public var errorDescription: String? { description }
}
