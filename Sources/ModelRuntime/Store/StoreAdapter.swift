import Foundation
import RowFormat

/// The requests of a context to a store, in rows and references.
///
/// There are two: ``RowStoreAdapter`` for stores that keep rows, ``SnapshotStoreAdapter`` for all others. Their common
/// answers are in ``DataStoreAdapter``; no other method has a default, so that each adapter states its limits.
protocol StoreAdapter: AnyObject, Sendable {
  var identifier: String { get }
  /// The store itself.
  var openStore: any DataStore { get }
  /// The configuration the store was opened with.
  var configuration: any DataStoreConfiguration { get }
  /// The store, if it keeps history.
  var history: (any HistoryProviding)? { get }
  /// Number of changes made to the store, by any process; `nil` if it does not count.
  var changeCount: UInt64? { get }
  /// The same as of the newest one that changed rows of a table; `nil` if the store does not count them by table.
  func changeCount(ofTable table: UInt16) -> UInt64?
  /// The same as of the newest one that changed references in a column, or the places of their rows in lists; `nil` if the
  /// store does not tell it from other changes of the table.
  func changeCount(ofReferencesIn table: UInt16, column: Int) -> UInt64?
  /// Whether rows that a fetch does not sort come in the order of their references.
  var ordersRowsByReference: Bool { get }
  /// Whether every list is stored with its owner, even one that could be found from its other end.
  var keepsLists: Bool { get }
  /// Whether it accepts rows that the context has encoded.
  var keepsRows: Bool { get }
  /// Whether a save may set references to nil in rows that it has not read.
  var clearsReferences: Bool { get }
  /// Whether a save can fail for attributes whose stored values differ from those read.
  var comparesValues: Bool { get }

  // MARK: Names

  /// The tables of a class and of its subclasses; none if the store has no tables.
  func tables(of base: ModelDescriptor) -> [UInt16]
  /// The class of a row; `nil` if no model of the schema is kept in its table.
  func descriptor(of reference: RowReference) -> ModelDescriptor?
  /// The identifier of a row's model; `nil` if the store never named it.
  func identifier(of reference: RowReference) -> PersistentIdentifier?
  /// The row of a model; `nil` if the identifier is of another store.
  func reference(of identifier: PersistentIdentifier) -> RowReference?
  /// The same for one that objects may have; `nil` also if no row was named so before.
  func knownReference(of identifier: PersistentIdentifier) -> RowReference?

  // MARK: Fetching

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> FetchAnswer

  /// The same without some rows, if the store can leave rows out; ``FetchAnswer/areExcluded`` tells.
  ///
  /// - Parameters:
  ///   - descriptor: The fetch.
  ///   - excluded: The rows.
  ///   - place: A place in the order up to which all rows that match are among them, if one is known.
  ///   - state: The session of the requesting context.
  /// - Returns: The rows, and whether the excluded ones are left out.
  /// - Throws: As a fetch without excluded rows.
  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    excluding excluded: ExcludedRows,
    behind place: PagePosition?,
    for state: EditingState
  ) throws -> FetchAnswer

  /// The rows of a class that match, in the order of their references, if they are found without going through others.
  ///
  /// - Parameters:
  ///   - expression: A translated predicate.
  ///   - type: The class of the models; rows of its subclasses are included.
  ///   - limit: Maximum number of rows.
  ///   - state: The session of the requesting context.
  /// - Returns: `nil` if the context must call ``fetch(_:for:)``.
  /// - Throws: An error of reading.
  func rows(
    matching expression: QueryExpression,
    of type: ModelDescriptor,
    atMost limit: Int,
    for state: EditingState
  ) throws -> [FetchedRow]?

  /// The same for the rows that have a value in an attribute.
  func rows(
    having value: QueryValue,
    of lookUp: AttributeLookUp,
    atMost limit: Int,
    for state: EditingState
  ) throws -> [FetchedRow]?

  /// Counts, or returns `nil` if the context must fetch and count.
  func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> Int?

  /// Counts all but some rows, or returns `nil` if the store cannot leave these out.
  func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    excluding excluded: ExcludedRows,
    for state: EditingState
  ) throws -> Int?

  /// The identifiers of the models that match, in order, or `nil` if the context must fetch for them.
  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> [PersistentIdentifier]?

  /// The references of the rows that match, in order, or `nil` if the context must ask for identifiers.
  func fetchReferences<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> [RowReference]?

  /// Measures the rows that match, or returns `nil` if the context must fetch and measure.
  func aggregate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: AggregateRequest,
    excluding excluded: ExcludedRows,
    for state: EditingState
  ) throws -> GroupTable?

  /// Finds the rows that match and have the words of a query, or returns `nil` if the context must fetch and search.
  func search<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: SearchRequest,
    excluding excluded: ExcludedRows,
    for state: EditingState
  ) throws -> SearchAnswer?

  /// Appends the values of some sources of the rows that match to columns.
  ///
  /// - Returns: The number of rows and their order; `nil` if the context must fetch the models.
  func readValues<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn],
    for state: EditingState
  ) throws -> ValueOrder?

  /// The rows with the given references, in that order; `nil` for a row that does not exist.
  func rows(at references: [RowReference], for state: EditingState) throws -> [FetchedRow?]

  /// The rows that a closure names, all of one state.
  ///
  /// - Parameters:
  ///   - state: The session of the requesting context.
  ///   - choose: Called once, with the number of the newest commit that the state has, as announcements name commits; `nil` if
  ///     the store announces none.
  /// - Returns: The rows in that order; `nil` for a row that does not exist.
  /// - Throws: An error of reading, or of `choose`.
  func rows(
    for state: EditingState,
    ofOneState choose: (UInt64?) throws -> [RowReference]
  ) throws -> [FetchedRow?]

  /// Whether the store can show one state for several reads.
  var readsStates: Bool { get }
  /// Shows a session one state of the store for several reads, if the store can; see ``StateReading/readingOneState(for:_:)``.
  func readingOneState<R>(for state: EditingState, _ body: () throws -> R) throws -> R
  /// Shows it the newest states again; see ``StateReading/readingNewestState(_:)``.
  func readingNewestState<R>(_ body: () throws -> R) rethrows -> R

  /// Lends the rows with the given references, which ascend; rows that do not exist are left out.
  func visitRows(
    at references: [RowReference],
    for state: EditingState,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws

  /// The rows with unique keys, by the numbers of the keys; `nil` if the store can find them only by saving new rows.
  func rows(
    having keys: KeyList,
    of constraint: UniquenessConstraint
  ) throws -> [RowReference]?

  /// The row with a reference, for an object that reads its row; most stores need not know the context.
  func row(
    at reference: RowReference,
    for state: @autoclosure () -> EditingState
  ) throws -> FetchedRow?

  /// Reads a value that is in a side file; `nil` if its row is gone.
  func blob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data?

  /// The members of a list, in order, as they are stored.
  func members(of owner: _ModelState, _ property: ModelProperty) throws -> [RowReference]

  /// Whether the store is remote, so that ``members(ofAll:_:)`` is called for the lists of many models at once.
  var loadsSiblings: Bool { get }
  /// The members of the lists of many models, with their rows; those of each list in order.
  func members(ofAll owners: [RowReference], _ property: ModelProperty) throws -> FetchedMembers

  // MARK: Saving

  /// Called before the changes of a save are inspected; ``endSave(for:)`` follows.
  ///
  /// A store without access to single rows is asked here, once, for everything the save needs.
  func beginSave(_ changes: ChangeSet, for state: EditingState) throws
  func endSave(for state: EditingState)

  /// Whether the store writes anything for the changes of a model.
  func writes(_ state: _ModelState) -> Bool

  /// Completes the changes of a save before they are encoded.
  func prepare(_ changes: inout ChangeSet, in connection: StoreConnection) throws

  /// Makes the changes of a save durable, and every inserted model stored.
  ///
  /// - Returns: The bookmark after the save, if the store keeps history.
  /// - Throws: ``ModelClashes`` for values that are not unique, after which nothing is saved.
  func save(
    _ changes: ChangeSet,
    for state: EditingState,
    in connection: StoreConnection
  ) throws -> (any HistoryToken)?

  // MARK: Batches

  /// Makes rows that a batch has encoded durable, all or none.
  ///
  /// - Returns: The bookmark after the commit, if the store keeps history.
  /// - Throws: `RowClashes`, ``DanglingReferences`` or `VanishedRow`, after which nothing is stored;
  ///   ``DataStoreError/unsupportedFeature`` if the store does not keep rows.
  func writeRows(
    for state: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)?

  /// Reserves references for new rows of a class, which are never given out again.
  ///
  /// - Throws: ``DataStoreError/unsupportedFeature`` if the store does not keep rows.
  func reserveRows(
    _ count: Int,
    of descriptor: ModelDescriptor
  ) throws -> (table: UInt16, keys: Range<UInt64>)

  /// Reserves places in lists after every place given out before.
  ///
  /// - Throws: ``DataStoreError/unsupportedFeature`` if the store does not keep rows.
  func reserveRanks(_ count: Int) throws -> Range<Int64>

  // MARK: Contexts

  /// Called when a context begins to work with the store; ``end(_:)`` follows.
  func begin(_ state: EditingState)
  func end(_ state: EditingState)

  /// Removes everything the store keeps.
  func erase() throws
}

/// An adapter of one `DataStore`; it implements the requests that pass unchanged to the store.
protocol DataStoreAdapter: StoreAdapter {
  associatedtype Store: DataStore
  var store: Store { get }
}

extension DataStoreAdapter {
  var identifier: String { store.identifier }
  var openStore: any DataStore { store }
  var configuration: any DataStoreConfiguration { store.configuration }
  var history: (any HistoryProviding)? { store as? any HistoryProviding }

  func begin(_ state: EditingState) { store.initializeState(for: state) }
  func end(_ state: EditingState) { store.invalidateState(for: state) }
  func erase() throws { try store.erase() }

  func visitRows(
    at references: [RowReference],
    for state: EditingState,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    try visitCopies(at: references, for: state, body)
  }

  /// Lends copies of rows, a limited number at a time.
  func visitCopies(
    at references: [RowReference],
    for state: EditingState,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    for start in stride(from: 0, to: references.count, by: 4096) {
      let some = Array(references[start..<min(start + 4096, references.count)])
      for case let row? in try rows(at: some, for: state) {
        try row.withBytes { try body(row.reference, $0) }
      }
    }
  }

  func rows(
    having keys: KeyList,
    of constraint: UniquenessConstraint
  ) throws -> [RowReference]? { nil }
}

extension StoreAdapter {
  func rows(
    for state: EditingState,
    ofOneState choose: (UInt64?) throws -> [RowReference]
  ) throws -> [FetchedRow?] { try rows(at: choose(nil), for: state) }

  var readsStates: Bool { false }
  func readingOneState<R>(for state: EditingState, _ body: () throws -> R) throws -> R {
    try body()
  }

  func readingNewestState<R>(_ body: () throws -> R) rethrows -> R { try body() }
}

extension _ModelState {
  /// The changed properties whose values a store keeps.
  var changedInStore: OrdinalSet {
    if descriptor.ephemerals.isEmpty { return changed }
    var changed = changed
    for property in descriptor.ephemerals { changed.remove(property.ordinal) }
    return changed
  }
}
