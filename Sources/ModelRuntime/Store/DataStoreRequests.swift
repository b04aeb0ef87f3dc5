public import Foundation

/// One context's session with its stores, which identifies the context to a store.
public struct EditingState: Identifiable, Sendable {
  public typealias ID = UUID
  public let id: UUID
  /// The author of the changes; written into the history.
  public var author: String?
  /// Records how a question is answered, if a plan was requested.
  package var trace: QueryTrace?
  /// The condition that rows must still meet when a save deletes them; `nil` deletes them unconditionally.
  ///
  /// Respected by stores over a log.
  package var deletions: DeletionCondition?
  /// Whether a save fails for attributes whose stored values differ from those read.
  ///
  /// Respected by stores over a log.
  package var comparesValues = false
  /// Receives the rows that a save changes because of derived attributes, if any class has some.
  ///
  /// Respected by stores over a log.
  package var derivedRows: DerivedRows?
  /// The claim that a save keeps if it is refused repeatedly because of references by others; `nil` keeps nothing.
  ///
  /// Respected by stores over a log. The save has locked the ends of relationships.
  package var keptClaim: KeptClaim?
  /// Whether the save has locked the ends of relationships.
  package var hasLockedEnds = false
  /// Announces a save to other contexts; `nil` if there are none that merge.
  ///
  /// Respected by stores that read states by the numbers of commits.
  package var announcement: (any CommitAnnouncing)?

  /// Makes the state of a session.
  public init(id: UUID = UUID(), author: String? = nil) {
    self.id = id
    self.author = author
  }
}

/// A context's request to fetch from a store.
public struct DataStoreFetchRequest<T>: Sendable where T: PersistentModel {
  /// The session of the requesting context.
  public let editingState: EditingState
  /// The fetch; its limit and its offset are `nil` or more than zero.
  public let descriptor: FetchDescriptor<T>

  /// Makes a request.
  public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
    self.descriptor = descriptor
    self.editingState = editingState
  }
}

/// The result of a store's fetch.
public struct DataStoreFetchResult<ModelType, SnapshotType>: Sendable
where ModelType: PersistentModel, SnapshotType: DataStoreSnapshot {
  /// The descriptor of the request.
  public let descriptor: FetchDescriptor<ModelType>
  /// The models found, in the order of the descriptor.
  public let fetchedSnapshots: [SnapshotType]
  /// Models at the other ends of relationships that the store read anyway; they need not be fetched later.
  public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

  /// Makes a result.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor of the request.
  ///   - fetchedSnapshots: The models found, in the order of the descriptor.
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
  /// The session of the saving context.
  public let editingState: EditingState
  /// New models; their identifiers are temporary, and so are those of new models they refer to.
  public let inserted: [SnapshotType]
  /// Models that the store has, with all their values.
  ///
  /// A save of a model that another context has deleted meanwhile must throw ``SwiftDataError/modelValidationFailure``: its
  /// changes would be lost otherwise, or the model would reappear.
  public let updated: [SnapshotType]
  /// Models that the store has, and must remove; their values are the last ones known.
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
  /// Models whose values the store changed while it saved; contexts take over these values.
  public let snapshotsToReregister: [PersistentIdentifier: T]
  /// The bookmark after the save, if the store keeps history: `didSave` reports it under
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
  ///   - historyToken: The bookmark after the save; `nil` if the store keeps no history.
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

/// A context's request to delete from a batching store.
public struct DataStoreBatchDeleteRequest<T>: Sendable where T: PersistentModel {
  /// The session of the requesting context.
  public let editingState: EditingState
  /// The condition of the models to delete; all of the class, if `nil`.
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
