import Foundation
import Foundation
import RowFormat

/// A container's line to one store: what the context says to any store, whatever it speaks.
///
/// Everything on this side of it is rows and references. A store that keeps rows understands them;
/// for any other the connection translates to snapshots and back.
class StoreConnection: @unchecked Sendable {
  /// The position among the container's stores.
  let index: Int
  let configurationName: String
  let schema: Schema
  let allowsSave: Bool
  /// What becomes of new models whose unique values are taken.
  var uniquenessPolicy = UniquenessPolicy.upsert
  /// The classes of the store's entities.
  let descriptors: [ModelDescriptor]
  let descriptorsByName: [String: ModelDescriptor]
  /// Whether any of the classes has relationships, which a save has to look at.
  let hasRelationships: Bool
  /// Whether any of the classes has lists that cannot be found from their other end.
  let hasStoredLists: Bool
  /// Whether any of the classes has one-to-one relationships.
  let hasPairs: Bool
  /// Held from reading a list that is stored with its owner until it is written.
  private(set) lazy var listLock = ListLocks.lock(of: identifier)

  /// Whether rows that a fetch leaves in their own order come in the order of their references.
  var ordersRowsByReference: Bool { false }

  init(index: Int, configurationName: String, schema: Schema, allowsSave: Bool) {
    self.index = index
    self.configurationName = configurationName
    self.schema = schema
    self.allowsSave = allowsSave
    descriptors = schema.modelTypes.map(ModelDescriptor.of)
    descriptorsByName = Dictionary(
      descriptors.map { ($0.entityName, $0) },
      uniquingKeysWith: { first, _ in first }
    )
    hasRelationships = descriptors.contains { !$0.relationships.isEmpty }
    hasPairs = descriptors.contains { $0.relationships.contains(where: \.isPaired) }
    hasStoredLists = descriptors.contains { $0.relationships.contains { $0.isStoredList } }
  }

  /// Whether every list is stored with its owner, also one that could be found from its other end.
  var keepsLists: Bool { false }

  /// How many changes have been made to the store, by any process; `nil` if it cannot say.
  var changeCount: UInt64? { nil }

  /// Whether a save reads, corrects and writes what is stored at both ends of relationships.
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

  /// What a store answered, and what it left to the context.
  struct FetchAnswer {
    var rows: [FetchedRow]
    var needsFilter = false
    var needsSort = false

    /// Reports to the trace of a question how it is answered.
    func tell(_ trace: QueryTrace?) {
      trace?.recordAnswer(rows.count, needsFilter: needsFilter, needsSort: needsSort)
    }

    /// Hands the rows over, to one who then owns them alone.
    mutating func takeRows() -> [FetchedRow] {
      defer { rows = [] }
      return rows
    }
  }

  var identifier: String { notOverridden() }
  /// The store itself.
  var openStore: any DataStore { notOverridden() }
  /// The store, if it remembers what was saved.
  var history: (any HistoryProviding)? { nil }
  /// The configuration the store was opened with.
  var configuration: any DataStoreConfiguration { notOverridden() }

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> FetchAnswer { notOverridden() }

  /// Counts, or returns `nil` when the context has to fetch and count.
  func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> Int? { notOverridden() }

  func rows(at references: [RowReference], for state: EditingState) throws -> [FetchedRow?] {
    notOverridden()
  }

  /// Reads a value that is in a side file; `nil` if its row is gone.
  func blob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? { nil }

  /// The members of a list that is derived from its other end, in order.
  func members(of owner: _ModelState, _ property: ModelProperty) throws -> [RowReference] {
    try rankedMembers(of: owner, property).map(\.reference)
  }

  /// The same, with their places in the list.
  func rankedMembers(of owner: _ModelState, _ property: ModelProperty) throws -> [ReferringRow] {
    notOverridden()
  }

  /// The identifiers of the models that match, in order, or `nil` when the context has to fetch for them.
  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> [PersistentIdentifier]? { nil }

  /// Measures the rows that match, or returns `nil` when the context has to fetch and measure.
  func aggregate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: AggregateRequest,
    excluding excluded: Set<RowReference>,
    for state: EditingState
  ) throws -> GroupTable? { nil }

  /// Hands the values of some columns of the rows that match to a closure, in order.
  ///
  /// - Returns: `false`, and nothing was visited, when the context has to fetch the models.
  func visitValues<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    for state: EditingState,
    _ body: ([QueryValue]) throws -> Void
  ) throws -> Bool { false }

  /// The names of the rows that match, in order, or `nil` when the context has to ask for identifiers.
  func fetchReferences<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> [RowReference]? { nil }

  /// Called before the changes of a save are looked at; ``endSave(for:)`` follows.
  ///
  /// A store that cannot be asked for single rows is asked here, once, for everything the save needs.
  func beginSave(_ changes: ChangeSet, for state: EditingState) throws {}
  func endSave(for state: EditingState) {}

  /// Whether the changes of a model come to anything the store writes.
  func writes(_ state: _ModelState) -> Bool { true }

  /// Completes the changes of a save before they are encoded.
  func prepare(_ changes: inout ChangeSet) throws {}

  /// Makes the changes of a save durable, and every inserted model stored.
  ///
  /// - Returns: The bookmark behind the save, if the store remembers it.
  /// - Throws: ``ModelClashes`` for values that are not unique, after which nothing is saved.
  func save(_ changes: ChangeSet, for state: EditingState) throws -> (any HistoryToken)? {
    notOverridden()
  }

  /// Whether rows can be written that the context has encoded itself.
  var keepsRows: Bool { false }

  /// Makes rows durable that a batch has encoded, all or none.
  ///
  /// - Returns: The bookmark behind the commit, if the store remembers it.
  /// - Throws: `RowClashes`, ``DanglingReferences`` or `VanishedRow`, after which nothing is stored.
  func writeRows(
    for state: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)? { throw DataStoreError.unsupportedFeature }

  /// Names for new rows of a class, which are never given out again.
  func reserveRows(
    _ count: Int,
    of descriptor: ModelDescriptor
  ) throws -> (table: UInt16, keys: Range<UInt64>) { throw DataStoreError.unsupportedFeature }

  /// Places in lists behind every place given out before.
  func reserveRanks(_ count: Int) throws -> Range<Int64> {
    throw DataStoreError.unsupportedFeature
  }

  func descriptor(of reference: RowReference) -> ModelDescriptor? { notOverridden() }
  func identifier(of reference: RowReference) -> PersistentIdentifier? { notOverridden() }
  func reference(of identifier: PersistentIdentifier) -> RowReference? { notOverridden() }
  func begin(_ state: EditingState) {}
  func end(_ state: EditingState) {}
  func erase() throws { notOverridden() }

  func identifier(of reference: RowReference, entityName: String) -> PersistentIdentifier {
    identifier(of: reference)
      ?? PersistentIdentifier(
        origin: .named(store: identifier, entity: entityName),
        key: reference.key
      )
  }

  private func notOverridden() -> Never {
    preconditionFailure("\(type(of: self)) must override this")
  }
}

/// The models of one save, none of them in two of the lists.
struct ChangeSet {
  var inserted: [any PersistentModel] = []
  var updated: [any PersistentModel] = []
  var deleted: [any PersistentModel] = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
