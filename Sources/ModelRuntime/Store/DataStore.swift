public import Foundation

/// A store of models, which ``ModelContext`` fetches from and saves to.
///
/// A context calls its store synchronously, on its own thread; two contexts may call at once, so a
/// store does its own locking.
public protocol DataStore: AnyObject {
  /// The value that opens the store.
  associatedtype Configuration: DataStoreConfiguration where Self == Configuration.Store
  /// The form in which models are passed; ``DefaultSnapshot``, unless the store needs its own form.
  associatedtype Snapshot: DataStoreSnapshot

  /// The name in this store's permanent identifiers; stable for the life of its data.
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
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to make
  ///   the context filter or sort the result of a second request, without predicate or sort.
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

  /// Returns snapshots that the store has in memory for a context; by default, none.
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
    // A simple store may return everything it has.
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

/// A store that can be closed while its container still exists; see ``ModelContainer/close()``.
public protocol DataStoreClosing: DataStore {
  /// Completes everything that was saved, and releases the files; a second call does nothing.
  ///
  /// All later requests throw, with ``SwiftDataError/storeClosed`` if possible.
  func close() throws
}

/// A store that can delete by predicate, without receiving each model.
public protocol DataStoreBatching: DataStore {
  /// Deletes the models that match, all or none, and durably when it returns.
  ///
  /// The caller updates contexts that hold such models.
  ///
  /// - Throws: ``DataStoreError/unsupportedFeature`` or ``DataStoreError/invalidPredicate`` for a request that the
  ///   store cannot answer.
  func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel
}

/// The value that selects an app's store and opens it.
public protocol DataStoreConfiguration: Hashable {
  /// The store that the configuration opens.
  associatedtype Store: DataStore = StoreType where Self == Store.Configuration

  /// The name that ``Store`` had in the first listings of custom stores: a configuration may declare either.
  associatedtype StoreType = Never

  /// The name that distinguishes the container's stores.
  var name: String { get }

  /// The entities the store keeps; `nil` means the container's whole schema.
  var schema: Schema? { get set }

  /// Checks the configuration before the store is opened; by default, it is valid.
  func validate() throws
}

extension DataStoreConfiguration {
  public func validate() throws {}
}

/// A store's refusal of a request.
public enum DataStoreError: Error, Equatable, Hashable, Sendable {
  /// The store does not evaluate predicates, or not this one: request everything and filter.
  case preferInMemoryFilter
  /// The store does not sort, or not by these keys: sort the result.
  case preferInMemorySort
  /// The store does not understand the predicate.
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
    case .unsupportedFeature:
      "no store of the container offers this operation: history, earlier states, erasing, and batches that insert or upsert "
        + "are for stores that offer them, as LogStore does"
    }
  }

  public var errorDescription: String? { description }
}
