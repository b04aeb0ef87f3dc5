public import Foundation

/// One context's session with its stores; tells a store who is asking.
public struct EditingState: Identifiable, Sendable {
  public typealias ID = UUID
  public let id: UUID
  /// Who makes the changes; written into the history.
  public var author: String?

  public init(id: UUID = UUID(), author: String? = nil) {
    self.id = id
    self.author = author
  }
}

/// What a context asks a store to fetch.
public struct DataStoreFetchRequest<T>: Sendable where T: PersistentModel {
  public let editingState: EditingState
  public let descriptor: FetchDescriptor<T>

  public init(descriptor: FetchDescriptor<T>, editingState: EditingState) {
    self.descriptor = descriptor
    self.editingState = editingState
  }
}

/// What a store found.
public struct DataStoreFetchResult<ModelType, SnapshotType>: Sendable
where ModelType: PersistentModel, SnapshotType: DataStoreSnapshot {
  public let descriptor: FetchDescriptor<ModelType>
  public let fetchedSnapshots: [SnapshotType]
  public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

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

/// The changes of one save; no model stands in two of the lists.
public struct DataStoreSaveChangesRequest<SnapshotType>: Sendable
where SnapshotType: DataStoreSnapshot {
  public let editingState: EditingState
  public let inserted: [SnapshotType]
  public let updated: [SnapshotType]
  public let deleted: [SnapshotType]

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

/// What a save came to: the permanent identifiers of what was inserted.
public final class DataStoreSaveChangesResult<T>: Sendable where T: DataStoreSnapshot {
  public let storeIdentifier: String
  public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
  public let snapshotsToReregister: [PersistentIdentifier: T]
  /// The bookmark behind the save, if the store remembers it: what `didSave` tells under
  /// ``ModelContext/NotificationKey/historyTokens``.
  public let historyToken: (any HistoryToken)?

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
  public let editingState: EditingState
  public let predicate: Predicate<T>?
  public let includeSubclasses: Bool

  public init(predicate: Predicate<T>?, includeSubclasses: Bool, editingState: EditingState) {
    self.predicate = predicate
    self.includeSubclasses = includeSubclasses
    self.editingState = editingState
  }
}
