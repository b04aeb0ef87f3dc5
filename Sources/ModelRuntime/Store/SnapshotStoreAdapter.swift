import Foundation
import RowFormat
import Synchronization

/// The adapter of a store that uses snapshots.
///
/// Such a store names its rows as it likes; here each identifier gets a row reference on first
/// use, so that the rest of the runtime uses references only.
///
/// Unchecked, because `DataStore` does not require it of stores, which must be usable from several threads nevertheless.
final class SnapshotStoreAdapter<Store: DataStore>: DataStoreAdapter, @unchecked Sendable {
  let store: Store
  private let descriptors: [ModelDescriptor]
  private let descriptorsByName: [String: ModelDescriptor]
  /// The number of each entity's table, which row references have.
  private let tableNumbers: [String: UInt16]
  private let names = Mutex(InternedIdentifiers())
  private let constraints: [UniquenessConstraint]
  /// The reads of saves under way, by the saving context.
  private let reads = Mutex<[UUID: SaveReads]>([:])

  init(_ store: Store, _ models: ConnectedModels) {
    self.store = store
    descriptors = models.descriptors
    descriptorsByName = models.descriptorsByName
    tableNumbers = Dictionary(
      uniqueKeysWithValues: zip(models.descriptors.map(\.entityName), 1...)
    )
    constraints = UniquenessConstraint.all(in: models.schema)
  }

  var ordersRowsByReference: Bool { false }
  var keepsLists: Bool { true }
  var loadsSiblings: Bool { false }
  func members(
    ofAll owners: [RowReference],
    _ property: ModelProperty
  ) throws -> FetchedMembers { FetchedMembers() }
  var keepsRows: Bool { false }
  var clearsReferences: Bool { false }
  var comparesValues: Bool { false }
  var changeCount: UInt64? { nil }
  func changeCount(ofTable table: UInt16) -> UInt64? { nil }
  func changeCount(ofReferencesIn table: UInt16, column: Int) -> UInt64? { nil }
  func tables(of base: ModelDescriptor) -> [UInt16] { [] }

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> FetchAnswer {
    try EntityNames.withCurrent(descriptorsByName) {
      try InMemoryFallback.fetch(descriptor) {
        let start = state.trace?.now
        let result = try store.fetch(
          DataStoreFetchRequest(descriptor: $0.withoutEmptyBounds, editingState: state)
        )
        state.trace?.add(.ask, since: start)
        let wanted = ModelDescriptor.of(T.self)
        var builder = FetchedRowBuilder()
        for snapshot in result.fetchedSnapshots {
          // A simple store may return everything it has.
          let name = snapshot.persistentIdentifier.entityName
          guard descriptorsByName[name]?.isKind(of: wanted) == true else { continue }
          try append(try DefaultSnapshot(of: snapshot), to: &builder)
        }
        return builder.rows
      }
    }
  }

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    excluding _: ExcludedRows,
    behind place: PagePosition?,
    for state: EditingState
  ) throws -> FetchAnswer { try fetch(place.map(descriptor.behind) ?? descriptor, for: state) }

  func rows(
    matching expression: QueryExpression,
    of type: ModelDescriptor,
    atMost limit: Int,
    for state: EditingState
  ) throws -> [FetchedRow]? { nil }

  func rows(
    having value: QueryValue,
    of lookUp: AttributeLookUp,
    atMost limit: Int,
    for state: EditingState
  ) throws -> [FetchedRow]? { nil }

  func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    excluding _: ExcludedRows,
    for state: EditingState
  ) throws -> Int? { nil }

  func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> Int? {
    try EntityNames.withCurrent(descriptorsByName) {
      try InMemoryFallback.answer {
        try store.fetchCount(
          DataStoreFetchRequest(descriptor: descriptor.withoutEmptyBounds, editingState: state)
        )
      }
    }
  }

  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> [PersistentIdentifier]? {
    try EntityNames.withCurrent(descriptorsByName) {
      try InMemoryFallback.answer {
        try store.fetchIdentifiers(
          DataStoreFetchRequest(descriptor: descriptor.withoutEmptyBounds, editingState: state)
        )
      }
    }
  }

  // It knows only the names of rows, and measures nothing: the context fetches the models.

  func fetchReferences<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> [RowReference]? { nil }

  func aggregate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: AggregateRequest,
    excluding excluded: ExcludedRows,
    for state: EditingState
  ) throws -> GroupTable? { nil }

  func search<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: SearchRequest,
    excluding excluded: ExcludedRows,
    for state: EditingState
  ) throws -> SearchAnswer? { nil }

  func readValues<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn],
    for state: EditingState
  ) throws -> ValueOrder? { nil }

  func blob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? { nil }

  func row(
    at reference: RowReference,
    for state: @autoclosure () -> EditingState
  ) throws -> FetchedRow? {
    try rows(at: [reference], for: state()).first ?? nil
  }

  /// Asks the store for models by identifier, entity by entity; during a save, only for those not read yet.
  func rows(at references: [RowReference], for state: EditingState) throws
    -> [FetchedRow?]
  {
    var found: [RowReference: FetchedRow] = [:]
    for (table, group) in Dictionary(grouping: references, by: \.table) {
      guard let descriptor = descriptors[safe: Int(table) - 1] else { continue }
      if let known = currentReads(of: state)?.rows(group, of: descriptor) {
        found.merge(known) { $1 }
        continue
      }
      let identifiers = Set(group.compactMap(identifier(of:)))
      for row in try rows(of: descriptor.type, identifiers, for: state) {
        found[row.reference] = row
      }
    }
    return references.map { found[$0] }
  }

  private func rows<T: PersistentModel>(
    of type: T.Type,
    _ identifiers: Set<PersistentIdentifier>,
    for state: EditingState
  ) throws -> [FetchedRow] {
    let predicate = #Predicate<T> { identifiers.contains($0.persistentModelID) }
    let answer = try fetch(FetchDescriptor<T>(predicate: predicate), for: state)
    let isComplete = answer.needsFilter
    currentReads(of: state)?.add(answer.rows, of: .of(type), isComplete: isComplete)
    return answer.rows.filter { identifier(of: $0.reference).map(identifiers.contains) ?? false }
  }

  func members(of owner: _ModelState, _ property: ModelProperty) -> [RowReference] {
    owner.loadRow()
    let row = owner.currentRow
    guard !row.isNull(property.ordinal) else { return [] }
    return row.layout.references(property.ordinal, in: row.span)
  }

  // MARK: Names

  func descriptor(of reference: RowReference) -> ModelDescriptor? {
    descriptors[safe: Int(reference.table) - 1]
  }

  func identifier(of reference: RowReference) -> PersistentIdentifier? {
    names.withLock { $0.identifiers[reference] }
  }

  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    guard let table = tableNumbers[identifier.entityName] else { return nil }
    return names.withLock { $0.reference(of: identifier, table: table) }
  }

  func knownReference(of identifier: PersistentIdentifier) -> RowReference? {
    names.withLock { $0.references[identifier] }
  }

  /// Adds a snapshot's row, with references in this connection's form.
  private func append(_ snapshot: DefaultSnapshot, to builder: inout FetchedRowBuilder) throws {
    try append(snapshot, to: &builder, naming: reference(of:))
  }

  private func append(
    _ snapshot: DefaultSnapshot,
    to builder: inout FetchedRowBuilder,
    naming reference: (PersistentIdentifier) -> RowReference?
  ) throws {
    let entity = snapshot.persistentIdentifier.entityName
    guard let own = reference(snapshot.persistentIdentifier), let type = descriptorsByName[entity]
    else { throw SwiftDataError.missingEntity(entity) }
    // A store may have kept snapshots saved by a container with another version of the schema.
    let snapshot = snapshot.descriptor === type ? snapshot : try snapshot.recoded()
    var writer = RowWriter()
    let range = try snapshot.write(into: &writer, lists: .atOwner, reference: reference)
    builder.append(own, row: writer.bytes.extracting(range))
  }

  // MARK: Batches

  func writeRows(
    for state: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)? { throw DataStoreError.unsupportedFeature }

  func reserveRows(
    _ count: Int,
    of descriptor: ModelDescriptor
  ) throws -> (table: UInt16, keys: Range<UInt64>) { throw DataStoreError.unsupportedFeature }

  func reserveRanks(_ count: Int) throws -> Range<Int64> {
    throw DataStoreError.unsupportedFeature
  }

  // MARK: Saving

  func writes(_ state: _ModelState) -> Bool {
    state.changed.isEmpty || !state.changedInStore.isEmpty
  }
  func prepare(_ changes: inout ChangeSet, in connection: StoreConnection) throws {
    if connection.isDeriving { try changes.derive(at: Date()) }
  }

  func save(
    _ changes: ChangeSet,
    for state: EditingState,
    in connection: StoreConnection
  ) throws -> (any HistoryToken)? {
    try EntityNames.withCurrent(descriptorsByName) {
      try checkUniqueness(of: changes, for: state)
      try checkReferences(of: changes, for: state)
      let request = DataStoreSaveChangesRequest<Store.Snapshot>(
        inserted: try changes.inserted.map { try snapshot(of: $0, savedTo: connection) },
        updated: try changes.updated.map { try snapshot(of: $0, savedTo: connection) },
        deleted: try changes.deleted.map { try snapshot(of: $0, savedTo: nil) },
        editingState: state
      )
      let temporary = changes.inserted.map { $0._$state.identifier }
      let result = try trySaving(request, of: changes, for: state)
      for (model, identifier) in zip(changes.inserted, temporary) {
        guard let permanent = result.remappedIdentifiers[identifier],
          let reference = reference(of: permanent)
        else { throw SwiftDataError.identifierNotRemapped(identifier, by: store.identifier) }
        model._$state.becomeStored(at: reference, in: connection)
      }
      try recordReregistered(result.snapshotsToReregister, for: changes, state)
      return result.historyToken
    }
  }

  /// Makes the store save, and finds out whether it cannot because others have deleted a model of the save.
  ///
  /// - Throws: ``VanishedRow`` in that case; otherwise the error of the store, unless that names rows: a store of rows behind
  ///   this one has its own names, which here belong to other models.
  private func trySaving(
    _ request: DataStoreSaveChangesRequest<Store.Snapshot>,
    of changes: ChangeSet,
    for state: EditingState
  ) throws -> DataStoreSaveChangesResult<Store.Snapshot> {
    do {
      return try store.save(request)
    } catch let error
      where error.namesRows || error as? SwiftDataError == .modelValidationFailure
    {
      // Earlier reads may be outdated.
      reads.withLock { $0[state.id] = SaveReads() }
      // A store may also treat it as an error that a model to be deleted is gone.
      let references = (changes.updated + changes.deleted).map { $0._$state.reference }
      guard let rows = try? rows(at: references, for: state),
        let place = rows.firstIndex(where: { $0 == nil })
      else { throw error.namesRows ? SwiftDataError.savedMeanwhile(error) : error }
      throw VanishedRow(references[place])
    }
  }

  /// Records the values that the store changed in the saved models; the end of the save applies them.
  private func recordReregistered(
    _ snapshots: [PersistentIdentifier: Store.Snapshot],
    for changes: ChangeSet,
    _ state: EditingState
  ) throws {
    if snapshots.isEmpty { return }
    for model in changes.inserted + changes.updated {
      guard let snapshot = snapshots[model.persistentModelID] else { continue }
      var builder = FetchedRowBuilder()
      try append(try DefaultSnapshot(of: snapshot), to: &builder)
      currentReads(of: state)?.reregistered.append((model, builder.rows[0]))
    }
  }

  /// Finds models with the unique values of those to be saved: among all stored models, since a
  /// store of snapshots accepts no narrower request.
  ///
  /// - Throws: ``ModelClashes`` if there are any.
  private func checkUniqueness(of changes: ChangeSet, for state: EditingState) throws {
    var check = UniquenessCheck(constraints, changes)
    for constraint in check.neededConstraints {
      try check.enter(
        constraint,
        stored: try allRows(of: constraint.owner.type, for: state),
        layout: { self.descriptor(of: $0)?.layout },
        row: { try self.row(of: $0) }
      )
    }
    if !check.clashes.isEmpty { throw ModelClashes(clashes: check.clashes) }
  }

  private func allRows<T: PersistentModel>(
    of type: T.Type,
    for state: EditingState
  ) throws -> [FetchedRow] {
    let descriptor = ModelDescriptor.of(type)
    if let known = currentReads(of: state)?.all(of: descriptor, table: descriptor(ofTable:)) {
      return known
    }
    let rows = try fetch(FetchDescriptor<T>(), for: state).rows
    currentReads(of: state)?.add(rows, of: descriptor, isComplete: true)
    return rows
  }

  private func currentReads(of state: EditingState) -> SaveReads? {
    reads.withLock { $0[state.id] }
  }

  private func descriptor(ofTable table: UInt16) -> ModelDescriptor? {
    descriptors[safe: Int(table) - 1]
  }

  /// Reads the rows the save needs: first the classes that must be read whole, then the rest by identifier.
  func beginSave(_ changes: ChangeSet, for state: EditingState) throws {
    reads.withLock { $0[state.id] = SaveReads() }
    for constraint in UniquenessCheck(constraints, changes).neededConstraints {
      _ = try allRows(of: constraint.owner.type, for: state)
    }
    let missing = changes.updated.map { $0._$state }.filter { $0.needsRow }
    let rows = try rows(at: missing.map(\.reference), for: state)
    for (model, row) in zip(missing, rows) {
      if let row { model.setRow(row) }
    }
  }

  func endSave(for state: EditingState) {
    let ended = reads.withLock { $0.removeValue(forKey: state.id) }
    for (model, row) in ended?.reregistered ?? [] where model._$state.context != nil {
      model._$reset()
      model._$state.setRow(row)
      for property in model._$state.descriptor.properties { property.notify(model) }
    }
  }

  /// The row of a model; references to unsaved models are their temporary ones.
  private func row(of model: any PersistentModel) throws -> FetchedRow {
    var builder = FetchedRowBuilder()
    try append(try SnapshotEncoder.snapshot(of: model), to: &builder) { identifier in
      identifier.isTemporary
        ? RowReference(table: 0x8000, key: identifier.id.key) : self.reference(of: identifier)
    }
    return builder.rows[0]
  }

  /// The snapshot of a model to be saved, or to be deleted, whose references no longer matter.
  private func snapshot(
    of model: any PersistentModel,
    savedTo connection: StoreConnection?
  ) throws -> Store.Snapshot {
    // The encoder's errors are thrown here: a snapshot's own initializer cannot throw.
    let snapshot = try SnapshotEncoder.snapshot(of: model, savedTo: connection)
    if let snapshot = snapshot as? Store.Snapshot { return snapshot }
    return customSnapshot(of: model)
  }

  private func customSnapshot<M: PersistentModel>(of model: M) -> Store.Snapshot {
    var related: [PersistentIdentifier: any BackingData] = [:]
    return Store.Snapshot(from: _LiveBackingData(model), relatedBackingDatas: &related)
  }
}

extension Error {
  /// Whether a store of rows names rows in its refusal of a save.
  fileprivate var namesRows: Bool {
    self is VanishedRow || self is DanglingReferences || self is MovedReference
      || self is RowConflicts || self is RowClashes
  }
}

/// Identifiers of a foreign store and the references assigned to them.
///
/// None is forgotten: objects, rows in memory and requests of any context may have the reference, also that of a row that
/// is not there, or no more.
private struct InternedIdentifiers {
  private(set) var identifiers: [RowReference: PersistentIdentifier] = [:]
  private(set) var references: [PersistentIdentifier: RowReference] = [:]
  private var nextKey: UInt64 = 1

  mutating func reference(of identifier: PersistentIdentifier, table: UInt16) -> RowReference {
    if let known = references[identifier] { return known }
    let reference = RowReference(table: table, key: nextKey)
    nextKey += 1
    references[identifier] = reference
    identifiers[reference] = identifier
    return reference
  }
}

extension FetchDescriptor {
  /// The descriptor in the form for stores: a limit and an offset are greater than zero.
  ///
  /// Other values are no bound, and a store need not handle them.
  fileprivate var withoutEmptyBounds: Self {
    var descriptor = self
    if let limit = fetchLimit, limit <= 0 { descriptor.fetchLimit = nil }
    if let offset = fetchOffset, offset <= 0 { descriptor.fetchOffset = nil }
    return descriptor
  }
}

extension DefaultSnapshot {
  /// Converts a store's own snapshot to the form the context reads, through its coded form.
  init(of snapshot: some DataStoreSnapshot) throws {
    if let snapshot = snapshot as? DefaultSnapshot {
      self = snapshot
    } else {
      self = try Self.recoded(snapshot)
    }
  }

  /// The snapshot as one of the class with its entity's name in the schema of this call.
  fileprivate func recoded() throws -> DefaultSnapshot { try Self.recoded(self) }

  private static func recoded(_ snapshot: some DataStoreSnapshot) throws -> DefaultSnapshot {
    let encoder = JSONEncoder()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "+infinity",
      negativeInfinity: "-infinity",
      nan: "nan"
    )
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "+infinity",
      negativeInfinity: "-infinity",
      nan: "nan"
    )
    if let key = CodingUserInfoKey.nilIsLeftOut {
      decoder.userInfo[key] = !(snapshot is DefaultSnapshot)
    }
    return try decoder.decode(DefaultSnapshot.self, from: try encoder.encode(snapshot))
  }
}

extension Array {
  /// The element at a position that may not exist.
  subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
