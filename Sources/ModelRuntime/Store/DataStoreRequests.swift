public import Foundation

/// One context's session with its stores; tells a store who is asking.
public struct EditingState: Identifiable, Sendable {
  public typealias ID = UUID
  public let id: UUID
  /// The author of the changes; written into the history.
  public var author: String?
  /// Records how a question is answered, if a plan was requested.
  package var trace: QueryTrace?
  /// What rows must still be when a save deletes them; `nil` deletes them whatever they have become.
  ///
  /// Respected by stores over a log.
  package var deletions: DeletionCondition?
  /// Whether a save is refused for attributes that are not stored as they were read.
  ///
  /// Respected by stores over a log.
  package var comparesValues = false
  /// Receives the rows that a save changes because of derived attributes, if any class has some.
  ///
  /// Respected by stores over a log.
  package var derivedRows: DerivedRows?
  /// What a save has kept that is refused again and again for what others refer to; `nil` keeps nothing.
  ///
  /// Respected by stores over a log. The save has locked the ends of relationships.
  package var keptClaim: KeptClaim?

  /// Makes the state of a session.
  public init(id: UUID = UUID(), author: String? = nil) {
    self.id = id
    self.author = author
  }
}

/// What a context asks a store to fetch.
public struct DataStoreFetchRequest<T>: Sendable where T: PersistentModel {
  /// The context that asks.
  public let editingState: EditingState
  /// What it asks for; its limit and its offset are `nil` or more than zero.
  public let descriptor: FetchDescriptor<T>

  /// Makes a request.
  public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
    self.descriptor = descriptor
    self.editingState = editingState
  }
}

/// What a store found.
public struct DataStoreFetchResult<ModelType, SnapshotType>: Sendable
where ModelType: PersistentModel, SnapshotType: DataStoreSnapshot {
  /// The descriptor of the request.
  public let descriptor: FetchDescriptor<ModelType>
  /// The models found, in the order that the descriptor asks for.
  public let fetchedSnapshots: [SnapshotType]
  /// Models at the other ends of relationships that the store read anyway; they need not be fetched later.
  public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

  /// Makes a result.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor of the request.
  ///   - fetchedSnapshots: The models found, in the order that the descriptor asks for.
  ///   - relatedSnapshots: Related models that the store read anyway, by identifier.
  public init(
    descriptor: FetchDescriptor<ModelType>,
    fetchedSnapshots: [SnapshotType],
    relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
  ) {
    self.descriptor = descriptor
    self.fetchedSnapshots = fetchedSnapshots
    self.relatedSnapshots = relatedSnapshots
  }
}

/// The changes of one save; no model is in two of the lists.
public struct DataStoreSaveChangesRequest<SnapshotType>: Sendable
where SnapshotType: DataStoreSnapshot {
  /// The context that saves.
  public let editingState: EditingState
  /// New models; their identifiers are temporary, and so are those of new models they refer to.
  public let inserted: [SnapshotType]
  /// Models that the store has, with all their values.
  ///
  /// A save with one that another context has deleted meanwhile must throw ``SwiftDataError/modelValidationFailure``: its
  /// changes would be lost otherwise, or the model be there again.
  public let updated: [SnapshotType]
  /// Models that the store has, and is to remove; their values are the last ones known.
  public let deleted: [SnapshotType]

  /// Makes a request.
  public init(
    inserted: [SnapshotType],
    updated: [SnapshotType],
    deleted: [SnapshotType],
    editingState: EditingState
  ) {
    self.inserted = inserted
    self.updated = updated
    self.deleted = deleted
    self.editingState = editingState
  }
}

/// The result of a save: the permanent identifiers of the inserted models.
public final class DataStoreSaveChangesResult<T>: Sendable where T: DataStoreSnapshot {
  /// The identifier of the store that saved.
  public let storeIdentifier: String
  /// The permanent identifier of each inserted model, by its temporary one.
  public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
  /// Models whose values the store changed while it saved; contexts take these values over.
  public let snapshotsToReregister: [PersistentIdentifier: T]
  /// The bookmark behind the save, if the store remembers it: what `didSave` tells under
  /// ``ModelContext/NotificationKey/historyTokens``.
  public let historyToken: (any HistoryToken)?

  /// Makes the result of a save to a store without history.
  ///
  /// - Parameters:
  ///   - storeIdentifier: The identifier of the store.
  ///   - remappedIdentifiers: The permanent identifier of each inserted model, by its temporary one.
  ///   - snapshotsToReregister: Models whose values the store changed while it saved.
  public convenience init(
    for storeIdentifier: String,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: T] = [:]
  ) {
    self.init(
      for: storeIdentifier,
      remappedIdentifiers: remappedIdentifiers,
      snapshotsToReregister: snapshotsToReregister,
      historyToken: nil
    )
  }

  /// Makes the result of a save.
  ///
  /// - Parameters:
  ///   - storeIdentifier: The identifier of the store.
  ///   - remappedIdentifiers: The permanent identifier of each inserted model, by its temporary one.
  ///   - snapshotsToReregister: Models whose values the store changed while it saved.
  ///   - historyToken: The bookmark behind the save; `nil` if the store keeps no history.
  public init(
    for storeIdentifier: String,
    remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
    snapshotsToReregister: [PersistentIdentifier: T] = [:],
    historyToken: (any HistoryToken)?
  ) {
    self.storeIdentifier = storeIdentifier
    self.remappedIdentifiers = remappedIdentifiers
    self.snapshotsToReregister = snapshotsToReregister
    self.historyToken = historyToken
  }

  /// The spelling of the WWDC24 session's listing.
  @available(*, deprecated, message: "use remappedIdentifiers: and snapshotsToReregister:")
  public convenience init(
    for storeIdentifier: String,
    remappedPersistentIdentifiers: [PersistentIdentifier: PersistentIdentifier],
    deletedIdentifiers: [PersistentIdentifier] = []
  ) {
    self.init(for: storeIdentifier, remappedIdentifiers: remappedPersistentIdentifiers)
  }
}

/// What a context asks a batching store to delete.
public struct DataStoreBatchDeleteRequest<T>: Sendable where T: PersistentModel {
  /// The context that asks.
  public let editingState: EditingState
  /// Which models to delete; all of the class, if `nil`.
  public let predicate: Predicate<T>?
  /// Whether models of subclasses are deleted, too.
  public let includeSubclasses: Bool

  /// Makes a request.
  public init(predicate: Predicate<T>?, includeSubclasses: Bool, editingState: EditingState) {
    self.predicate = predicate
    self.includeSubclasses = includeSubclasses
    self.editingState = editingState
  }
}
