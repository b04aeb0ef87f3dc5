import Foundation
import RowFormat
import Synchronization

/// A container's connection to one store: the models that the store keeps, and the store as the context sees it.
///
/// The context's side uses only rows and references. A store that keeps rows understands them;
/// for any other its ``StoreAdapter`` translates to snapshots and back.
///
/// Unchecked, because the policies are variables; they are set while the container is made.
final class StoreConnection: @unchecked Sendable {
  /// The position among the container's stores.
  let index: Int
  let configurationName: String
  let allowsSave: Bool
  /// Whether the store shows an earlier state.
  let isOfThePast: Bool
  let store: any StoreAdapter
  /// The name of the store in the identifiers of its models.
  let identifier: String
  /// Whether reading a relationship of one model also reads it for its siblings.
  let loadsSiblings: Bool
  /// The policy for new models whose unique values are taken.
  var uniquenessPolicy = UniquenessPolicy.upsert
  /// The policy for attributes that others have changed, unless a context sets its own.
  var mergePolicy = MergePolicy.lastWriter
  private let models: ConnectedModels
  private var listLock: NSRecursiveLock {
    knownListLock.withLock { known in
      let lock = known ?? ListLocks.lock(of: identifier)
      known = lock
      return lock
    }
  }
  private let knownListLock = Mutex<NSRecursiveLock?>(nil)

  init(
    _ store: any StoreAdapter,
    _ models: ConnectedModels,
    index: Int,
    configurationName: String,
    allowsSave: Bool,
    isOfThePast: Bool = false
  ) {
    self.store = store
    self.isOfThePast = isOfThePast
    identifier = store.identifier
    loadsSiblings = store.loadsSiblings
    self.models = models
    self.index = index
    self.configurationName = configurationName
    self.allowsSave = allowsSave
  }

  var schema: Schema { models.schema }
  var descriptors: [ModelDescriptor] { models.descriptors }
  var descriptorsByName: [String: ModelDescriptor] { models.descriptorsByName }
  /// Whether any of the classes has relationships, which a save must check.
  var hasRelationships: Bool { models.hasRelationships }
  /// Whether any of the classes has lists that cannot be found from their other end.
  var hasStoredLists: Bool { models.hasStoredLists }
  /// Whether any of the classes has derived attributes.
  var isDeriving: Bool { models.isDeriving }
  /// Whether any of the classes has one-to-one relationships.
  var hasPairs: Bool { models.hasPairs }

  /// Number of changes made to the store, by any process; `nil` if it does not count.
  var changeCount: UInt64? { store.changeCount }
  /// Whether every list is stored with its owner, even one that could be found from its other end.
  var keepsLists: Bool { store.keepsLists }

  func descriptor(of reference: RowReference) -> ModelDescriptor? {
    store.descriptor(of: reference)
  }

  func identifier(of reference: RowReference) -> PersistentIdentifier? {
    store.identifier(of: reference)
  }

  func identifier(of reference: RowReference, entityName: String) -> PersistentIdentifier {
    identifier(of: reference)
      ?? PersistentIdentifier(
        origin: .named(store: identifier, entity: entityName),
        key: reference.key
      )
  }

  /// Whether ``lockEnds()`` also keeps saves of other processes from writing both ends.
  var takesTurns: Bool { store.openStore is any TurnTakingStore }

  /// Keeps other saves, of this process and of others, from writing both ends of relationships.
  ///
  /// The turn comes first: a thread that waits for the lock lets others of its process join its turn, and a thread that waits
  /// for the turn holds no lock that those could need.
  ///
  /// - Throws: An error of the store; then nothing is locked.
  func lockEnds() throws {
    try (store.openStore as? any TurnTakingStore)?.beginTurn()
    listLock.lock()
  }

  /// Makes the closure that a save calls after each lost turn to decide about another one; made after the first loss.
  func makeTurnPatience() -> () -> Bool {
    (store.openStore as? any TurnTakingStore)?.makeTurnPatience() ?? { false }
  }

  /// Reverts one ``lockEnds()``.
  ///
  /// - Throws: An error that keeps meanwhile saved changes from being durable; nothing is locked any more.
  func unlockEnds() throws {
    listLock.unlock()
    try (store.openStore as? any TurnTakingStore)?.endTurn()
  }

  /// Runs `body` between ``lockEnds()`` and ``unlockEnds()``, if there are ends to lock.
  func withLockedEnds<R>(if hasEnds: Bool, _ body: () throws -> R) throws -> R {
    if !hasEnds { return try body() }
    try lockEnds()
    let result: R
    do {
      result = try body()
    } catch {
      try? unlockEnds()
      throw error
    }
    try unlockEnds()
    return result
  }

  /// Whether a save reads, corrects and writes both stored ends of relationships.
  func writesBothEnds(_ changes: ChangeSet) -> Bool {
    if writesLists(changes) { return true }
    guard hasPairs else { return false }
    return changes.updated.contains { $0.setsPair } || changes.inserted.contains { $0.setsPair }
  }

  private func writesLists(_ changes: ChangeSet) -> Bool {
    if !hasRelationships || !keepsLists && !hasStoredLists { return false }
    return changes.updated.contains { model in
      let state = model._$state
      return state.descriptor.relationships.contains {
        $0.isToMany && (keepsLists || !$0.isDerivable) && state.changed.contains($0.ordinal)
      }
    }
      || changes.deleted.contains { model in
        model._$state.descriptor.relationships.contains {
          $0.isToMany && (keepsLists || !$0.isDerivable)
        }
      }
  }
}

/// The models of a schema, as a connection uses them.
struct ConnectedModels: Sendable {
  let schema: Schema
  /// The classes of the store's entities.
  let descriptors: [ModelDescriptor]
  let descriptorsByName: [String: ModelDescriptor]
  let hasRelationships: Bool
  let hasStoredLists: Bool
  let hasPairs: Bool
  let isDeriving: Bool

  init(of schema: Schema) {
    self.schema = schema
    descriptors = schema.descriptors
    descriptorsByName = Dictionary(
      descriptors.map { ($0.entityName, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    isDeriving = descriptors.contains(where: \.isDeriving)
    hasRelationships = descriptors.contains { !$0.relationships.isEmpty }
    hasPairs = descriptors.contains { $0.relationships.contains(where: \.isPaired) }
    hasStoredLists = descriptors.contains { $0.relationships.contains { $0.isStoredList } }
  }
}

/// The models of one save, none of them in two of the lists.
struct ChangeSet {
  var inserted: [any PersistentModel] = []
  var updated: [any PersistentModel] = []
  var deleted: [any PersistentModel] = []
  /// Rows to be deleted that have no objects.
  var deletedRows: [RowReference] = []
  /// References to be set to nil in rows that have no objects.
  var clearedReferences: [DanglingReferences.Reference] = []

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !changesRows
  }

  /// Whether rows without objects are deleted or changed.
  var changesRows: Bool { !deletedRows.isEmpty || !clearedReferences.isEmpty }

  /// Whether anything would be written. (An object whose list got a member has changed, but its own row has not.)
  func isWritten(to connection: StoreConnection) -> Bool {
    !inserted.isEmpty || !deleted.isEmpty || changesRows
      || updated.contains { connection.store.writes($0._$state) }
  }
}
