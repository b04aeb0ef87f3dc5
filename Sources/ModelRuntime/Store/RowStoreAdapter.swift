import Foundation
import RowFormat
import SchedulePoints

/// The adapter of a store that keeps rows: models are encoded straight into its batch.
///
/// Unchecked, because `DataStore` does not require it of stores, which must be usable from several threads nevertheless.
final class RowStoreAdapter<Store: RowStore>: DataStoreAdapter, @unchecked Sendable {
  let store: Store
  private let descriptors: [ModelDescriptor]
  private let tables: [String: UInt16]
  /// By place among the descriptors; `nil` for a class that the store has no table for.
  private let tableNumbers: [UInt16?]
  /// By table.
  private let descriptorsByTable: [ModelDescriptor?]
  /// By table; the origin of most identifiers.
  private let origins: [IdentifierOrigin?]
  /// The store, if it looks rows up by expressions.
  private let lookingUp: (any LookingUpStore)?
  /// The store, if it counts the changes of each table.
  private let counting: (any TableChangeCounting)?
  /// The store, if it sets references to nil in rows that a save has not read.
  private let clearing: (any ReferenceClearing)?
  /// The store, if it reads rows as of states that it can name.
  private let stateReading: (any StateReading)?
  /// The store, if it leaves rows out.
  private let excluding: (any ExcludingStore)?

  init(_ store: Store, _ models: ConnectedModels) {
    self.store = store
    lookingUp = store as? any LookingUpStore
    counting = store as? any TableChangeCounting
    clearing = store as? any ReferenceClearing
    stateReading = store as? any StateReading
    excluding = store as? any ExcludingStore
    descriptors = models.descriptors
    var tables: [String: UInt16] = [:]
    var byTable: [ModelDescriptor?] = []
    var origins: [IdentifierOrigin?] = []
    for descriptor in descriptors {
      guard let table = store.table(forEntityNamed: descriptor.entityName) else { continue }
      tables[descriptor.entityName] = table
      while origins.count <= Int(table) {
        origins.append(nil)
        byTable.append(nil)
      }
      byTable[Int(table)] = descriptor
      origins[Int(table)] = .named(store: store.identifier, entity: descriptor.entityName)
    }
    self.tables = tables
    tableNumbers = models.descriptors.map { tables[$0.entityName] }
    descriptorsByTable = byTable
    self.origins = origins
  }

  var ordersRowsByReference: Bool { true }
  var keepsLists: Bool { false }
  var keepsRows: Bool { true }
  var clearsReferences: Bool { clearing != nil }
  var comparesValues: Bool { store is any ValueComparingStore }

  /// Answers a session: with what is newest, even if this thread shows one state to another session.
  ///
  /// A callback of the app may use another context, which must not read a state older than its own saves.
  private func answer<R>(_ session: @autoclosure () -> UUID, _ body: () throws -> R) rethrows -> R {
    guard let stateReading, stateReading.showsState(forOtherThan: session()) else {
      return try body()
    }
    return try stateReading.readingNewestState(body)
  }

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> FetchAnswer {
    try answer(state.id) {
      try InMemoryFallback.fetch(descriptor) {
        try store.fetchRows(DataStoreFetchRequest(descriptor: $0, editingState: state))
      }
    }
  }

  func fetch<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    excluding excluded: ExcludedRows,
    behind place: PagePosition?,
    for state: EditingState
  ) throws -> FetchAnswer {
    guard let excluding, !excluded.isEmpty else {
      return try fetch(place.map(descriptor.behind) ?? descriptor, for: state)
    }
    var answer = try answer(state.id) {
      try InMemoryFallback.fetch(descriptor) {
        try excluding.fetchRows(
          DataStoreFetchRequest(descriptor: $0, editingState: state),
          excluding: excluded,
          behind: place
        )
      }
    }
    answer.areExcluded = true
    return answer
  }

  func rows(
    matching expression: QueryExpression,
    of type: ModelDescriptor,
    atMost limit: Int,
    for state: EditingState
  ) throws -> [FetchedRow]? {
    try answer(state.id) { try lookingUp?.rows(matching: expression, of: type, atMost: limit) }
  }

  func rows(
    having value: QueryValue,
    of lookUp: AttributeLookUp,
    atMost limit: Int,
    for state: EditingState
  ) throws -> [FetchedRow]? {
    try answer(state.id) { try lookingUp?.rows(having: value, of: lookUp, atMost: limit) }
  }

  func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> Int? {
    try answer(state.id) {
      try InMemoryFallback.answer {
        try store.fetchCount(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
      }
    }
  }

  func fetchCount<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    excluding excluded: ExcludedRows,
    for state: EditingState
  ) throws -> Int? {
    guard let excluding else { return nil }
    let count = try answer(state.id) {
      try InMemoryFallback.answer {
        try excluding.fetchCount(
          DataStoreFetchRequest(descriptor: descriptor, editingState: state),
          excluding: excluded
        )
      }
    }
    return count ?? nil
  }

  func fetchIdentifiers<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> [PersistentIdentifier]? {
    try fetchReferences(descriptor, for: state)?.compactMap(identifier(of:))
  }

  func fetchReferences<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    for state: EditingState
  ) throws -> [RowReference]? {
    try answer(state.id) {
      try InMemoryFallback.answer {
        try store.fetchReferences(
          DataStoreFetchRequest(descriptor: descriptor, editingState: state)
        )
      }
    }
  }

  func aggregate<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: AggregateRequest,
    excluding excluded: ExcludedRows,
    for state: EditingState
  ) throws -> GroupTable? {
    guard let store = store as? any AggregatingStore else { return nil }
    let fetch = DataStoreFetchRequest(descriptor: descriptor, editingState: state)
    return try answer(state.id) {
      try InMemoryFallback.answer {
        try store.aggregate(fetch, request, excluding: excluded)
      }
    }
  }

  func search<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ request: SearchRequest,
    excluding excluded: ExcludedRows,
    for state: EditingState
  ) throws -> SearchAnswer? {
    guard let store = store as? any SearchingStore else { return nil }
    let fetch = DataStoreFetchRequest(descriptor: descriptor, editingState: state)
    return try answer(state.id) {
      try InMemoryFallback.answer { try store.search(fetch, request, excluding: excluded) }
    }
  }

  func readValues<T: PersistentModel>(
    _ descriptor: FetchDescriptor<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn],
    for state: EditingState
  ) throws -> ValueOrder? {
    guard let store = store as? any AggregatingStore else { return nil }
    let fetch = DataStoreFetchRequest(descriptor: descriptor, editingState: state)
    return try answer(state.id) {
      try InMemoryFallback.answer { try store.readValues(fetch, sources, into: columns) }
    }
  }

  func rows(at references: [RowReference], for state: EditingState) throws
    -> [FetchedRow?]
  {
    try answer(state.id) { try store.rows(at: references) }
  }

  func rows(
    for state: EditingState,
    ofOneState choose: (UInt64?) throws -> [RowReference]
  ) throws -> [FetchedRow?] {
    try answer(state.id) {
      try stateReading?.rows(ofOneState: choose) ?? rows(at: choose(nil), for: state)
    }
  }

  var readsStates: Bool { stateReading != nil }

  func readingOneState<R>(for state: EditingState, _ body: () throws -> R) throws -> R {
    guard let stateReading else { return try body() }
    return try stateReading.readingOneState(for: state.id, body)
  }

  func readingNewestState<R>(_ body: () throws -> R) rethrows -> R {
    guard let stateReading else { return try body() }
    return try stateReading.readingNewestState(body)
  }

  func visitRows(
    at references: [RowReference],
    for state: EditingState,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    if let lookingUp {
      return try answer(state.id) { try lookingUp.visitRows(at: references, body) }
    }
    try visitCopies(at: references, for: state, body)
  }

  func rows(
    having keys: KeyList,
    of constraint: UniquenessConstraint
  ) throws -> [RowReference]? {
    try lookingUp?.rows(having: keys, of: constraint)
  }

  func row(
    at reference: RowReference,
    for state: @autoclosure () -> EditingState
  ) throws -> FetchedRow? {
    try answer(state().id) {
      if let lookingUp { return try lookingUp.row(at: reference) }
      return try store.rows(at: [reference]).first ?? nil
    }
  }

  func blob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? {
    try store.readBlob(blob, of: row, column: column)
  }

  var changeCount: UInt64? { store.changeCount }

  func changeCount(ofTable table: UInt16) -> UInt64? { counting?.changeCount(ofTable: table) }

  func changeCount(ofReferencesIn table: UInt16, column: Int) -> UInt64? {
    counting?.changeCount(ofReferencesIn: table, column: column)
  }

  func tables(of base: ModelDescriptor) -> [UInt16] {
    descriptors.lazy.filter { $0.isKind(of: base) }.compactMap { tables[$0.entityName] }
  }

  func members(of owner: _ModelState, _ property: ModelProperty) throws -> [RowReference] {
    guard let session = owner.context?.editingState.id else {
      return try rankedMembers(of: owner, property).map(\.reference)
    }
    return try answer(session) { try rankedMembers(of: owner, property).map(\.reference) }
  }

  /// The members of a list that is derived from its other end, with their places.
  private func rankedMembers(
    of owner: _ModelState,
    _ property: ModelProperty
  ) throws -> [ReferringRow] {
    guard let inverse = property.inverse, let destination = property.destination else { return [] }
    let base = ModelDescriptor.of(destination)
    var members: [ReferringRow] = []
    var tableCount = 0
    for (place, descriptor) in descriptors.enumerated() where descriptor.isKind(of: base) {
      guard let table = tableNumbers[place] else { continue }
      let found = try store.rows(
        referringTo: owner.reference,
        inTable: table,
        column: inverse.ordinal
      )
      if found.isEmpty { continue }
      tableCount += 1
      if members.isEmpty { members = found } else { members += found }
    }
    // A list has one order, across the classes of its members.
    if tableCount > 1 { members.sort() }
    return members
  }

  var loadsSiblings: Bool { store is any SiblingLoadingStore }

  func members(
    ofAll owners: [RowReference],
    _ property: ModelProperty
  ) throws -> FetchedMembers {
    var members = FetchedMembers()
    guard let store = store as? any SiblingLoadingStore, let inverse = property.inverse,
      let destination = property.destination
    else { return members }
    let base = ModelDescriptor.of(destination)
    for descriptor in descriptors where descriptor.isKind(of: base) {
      guard let table = tables[descriptor.entityName] else { continue }
      let found = try store.rows(
        referringToAnyOf: owners,
        inTable: table,
        column: inverse.ordinal
      )
      if members.members.isEmpty { members = found } else { members.append(contentsOf: found) }
    }
    members.arrange()
    return members
  }

  func descriptor(of reference: RowReference) -> ModelDescriptor? {
    let table = Int(reference.table)
    return table < descriptorsByTable.count ? descriptorsByTable[table] : nil
  }

  func identifier(of reference: RowReference) -> PersistentIdentifier? {
    let table = Int(reference.table)
    guard table < origins.count, let origin = origins[table] else { return nil }
    return PersistentIdentifier(origin: origin, key: reference.key)
  }

  func knownReference(of identifier: PersistentIdentifier) -> RowReference? {
    reference(of: identifier)
  }

  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    // Origins are made once: comparing a few addresses takes less than hashing the entity's name.
    let origin = identifier.id.origin
    if identifier.id.text == nil, identifier.id.key <= RowReference.maximumKey,
      let table = origins.prefix(16).firstIndex(where: { $0 === origin })
    {
      return RowReference(table: UInt16(table), key: identifier.id.key)
    }
    guard identifier.id.text == nil, identifier.storeIdentifier == store.identifier,
      // An identifier can come from outside.
      identifier.id.key <= RowReference.maximumKey, let table = tables[identifier.entityName]
    else { return nil }
    return RowReference(table: table, key: identifier.id.key)
  }

  // MARK: Batches

  func writeRows(
    for state: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)? { try store.saveRows(for: state, body) }

  func reserveRows(
    _ count: Int,
    of descriptor: ModelDescriptor
  ) throws -> (table: UInt16, keys: Range<UInt64>) {
    guard let table = tables[descriptor.entityName] else {
      throw SwiftDataError.missingEntity(descriptor.entityName)
    }
    return (table, try store.reserveKeys(count, inTable: table))
  }

  func reserveRanks(_ count: Int) throws -> Range<Int64> {
    try store.reserveRanks(count)
  }

  func beginSave(_ changes: ChangeSet, for state: EditingState) throws {}
  func endSave(for state: EditingState) {}

  // MARK: Saving

  func writes(_ state: _ModelState) -> Bool { !storedColumns(of: state).isEmpty }

  func prepare(_ changes: inout ChangeSet, in connection: StoreConnection) throws {
    if store.roundsDates { changes.roundDates(by: store.storedDate) }
    guard connection.hasRelationships else { return }
    var failure: (any Error)?
    try connection.assignRanks(in: &changes, placesOf: rankedMembers) { count in
      do {
        return try store.reserveRanks(count)
      } catch {
        // The numbers are not used: nothing is saved.
        failure = failure ?? error
        return 0..<Int64(count)
      }
    }
    if let failure { throw failure }
  }

  func save(
    _ changes: ChangeSet,
    for state: EditingState,
    in connection: StoreConnection
  ) throws -> (any HistoryToken)? {
    // The changes hold the models, and the models their states.
    let inserted = unsafe changes.inserted.map { unsafe Unmanaged.passUnretained($0._$state) }
    let names = try unsafe RowNames(
      inserted: inserted,
      store: store,
      tables: tables,
      index: connection.index
    )
    let token: (any HistoryToken)?
    do {
      token = try write(changes, named: names, for: state)
    } catch let clashes as RowClashes {
      throw ModelClashes(clashes, in: changes)
    }
    for place in unsafe inserted.indices {
      unsafe inserted[place]._withUnsafeGuaranteedRef {
        $0.becomeStored(at: $0.reference, in: connection)
      }
    }
    return token
  }

  private func write(
    _ changes: ChangeSet,
    named names: RowNames,
    for editing: EditingState
  ) throws -> (any HistoryToken)? {
    var encoder = _RowEncoder(references: names)
    return try store.saveRows(for: editing) { sink in
      encoder.blobs = sink
      for model in changes.inserted {
        let state = model._$state
        let row = try encode(model, state, &encoder)
        if let failure = names.failure { throw failure }
        sink.insert(state.reference, row: encoder.writer.bytes.extracting(row))
        encoder.writer.removeAll()
      }
      for model in changes.updated {
        let state = model._$state
        let changed = storedColumns(of: state)
        let writesUnset = changed.marks.contains(63) && state.descriptor.layout.count > 64
        if writesUnset { state.readUnset(model) }
        let row: Range<Int>
        do {
          row = try encode(model, state, &encoder)
        } catch {
          // A model that others have deleted has no relationships to check.
          let isGone = try rows(at: [state.reference], for: editing)[0] == nil
          throw isGone ? VanishedRow(state.reference) : error
        }
        if let failure = names.failure { throw failure }
        sink.update(
          state.reference,
          changed: changed.marks,
          row: encoder.writer.bytes.extracting(row)
        )
        encoder.writer.removeAll()
        if editing.comparesValues || state.mergeMemory != nil || writesUnset,
          let sink = sink as? any ValueExpecting
        {
          if writesUnset { state.expectUnset(besides: changed, in: sink) }
          state.expectValues(of: model, all: editing.comparesValues, in: sink)
        }
        // A nil set by a rule yields to a value that another save commits first.
        guard state.hasNullified, !PlantedFault.lostReattachment.isPlanted,
          let sink = sink as? any ReferenceExpecting
        else { continue }
        for (column, target) in state.nullified.elements {
          sink.expectReference(of: state.reference, column, to: target)
        }
      }
      for model in changes.deleted { sink.delete(model._$state.reference) }
      for row in changes.deletedRows { sink.delete(row) }
      if !changes.clearedReferences.isEmpty {
        guard let clearing else { preconditionFailure("the store cannot clear references") }
        try clearing.clear(changes.clearedReferences, in: sink)
      }
    }
  }

  private func encode(
    _ model: any PersistentModel,
    _ state: _ModelState,
    _ encoder: inout _RowEncoder
  ) throws -> Range<Int> {
    state.encode(model, into: &encoder)
    let row = encoder.writer.finish()
    if let failure = encoder.failure { throw failure }
    return row
  }

  /// The columns of a changed model that the store must write.
  ///
  /// A list that is derived from its members has no column to write; a to-one includes its rank.
  private func storedColumns(of state: _ModelState) -> OrdinalSet {
    var changed = state.changedInStore
    let descriptor = state.descriptor
    for property in descriptor.relationships where changed.contains(property.ordinal) {
      if property.isDerivable {
        changed.remove(property.ordinal)
      } else if let column = descriptor.rankColumn(of: property) {
        changed.insert(column)
      }
    }
    return changed
  }
}

/// Gives every inserted model its row before the first row is written, so that rows can refer to each
/// other in any order.
private final class RowNames: ReferenceResolver {
  private let store: any RowStore
  private let index: Int
  private var ranks: Range<Int64> = 0..<0
  /// The error of reserving ranks for the row that was encoded last; then the row must not be written.
  private(set) var failure: (any Error)?

  /// Names the new models.
  ///
  /// - Parameters:
  ///   - inserted: Their states, which the caller keeps alive meanwhile.
  ///   - store: The store.
  ///   - tables: The tables of its entities.
  ///   - index: Its position among the container's.
  /// - Throws: ``SwiftDataError`` for a class without a table.
  init(
    inserted: [Unmanaged<_ModelState>],
    store: any RowStore,
    tables: [String: UInt16],
    index: Int
  ) throws {
    self.store = store
    self.index = index
    var entities = EntityCounts()
    // A failed save has already named its models: they keep their rows for the next attempt.
    for place in unsafe inserted.indices {
      unsafe inserted[place]._withUnsafeGuaranteedRef {
        if $0.reference == .none { entities.count($0.descriptor) }
      }
    }
    try entities.reserve { descriptor, count in
      guard let table = tables[descriptor.entityName] else {
        throw SwiftDataError.missingEntity(descriptor.entityName)
      }
      return RowReference(
        table: table,
        key: try store.reserveKeys(count, inTable: table).lowerBound
      )
    }
    for place in unsafe inserted.indices {
      unsafe inserted[place]._withUnsafeGuaranteedRef {
        if $0.reference == .none { $0.reference = entities.next($0.descriptor) }
      }
    }
  }

  var derivesLists: Bool { true }

  func reference(to state: _ModelState) throws -> RowReference {
    // A model that has left its context has no connection, and is found by its identifier.
    let isElsewhere =
      if let connection = state.connection {
        connection.index != index
      } else {
        state.identifierIfKnown?.storeIdentifier.map { $0 != store.identifier } ?? false
      }
    if isElsewhere {
      throw SwiftDataError.relationshipAcrossStores(to: state.identifier)
    }
    guard state.reference != .none else {
      throw SwiftDataError.relationshipToUnsavedModel(state.descriptor.entityName)
    }
    return state.reference
  }

  var keepsNames: Bool { true }

  func name(of reference: RowReference, in connection: StoreConnection?) -> RowReference? {
    reference
  }

  func nextRank() -> Int64 {
    if ranks.isEmpty {
      do {
        ranks = try store.reserveRanks(1024)
      } catch {
        failure = failure ?? error
        return 0
      }
    }
    defer { ranks = (ranks.lowerBound + 1)..<ranks.upperBound }
    return ranks.lowerBound
  }
}

/// The new models of a save by class: their number, then the next row.
private struct EntityCounts {
  private var entities: [(descriptor: ModelDescriptor, count: Int, next: RowReference)] = []
  /// The class of the last model; models of one class mostly come together.
  private var last = 0

  mutating func count(_ descriptor: ModelDescriptor) {
    find(descriptor)
    entities[last].count += 1
  }

  /// Reserves the rows of each class.
  mutating func reserve(
    _ first: (_ descriptor: ModelDescriptor, _ count: Int) throws -> RowReference
  ) rethrows {
    for place in entities.indices {
      entities[place].next = try first(entities[place].descriptor, entities[place].count)
    }
  }

  mutating func next(_ descriptor: ModelDescriptor) -> RowReference {
    find(descriptor)
    let row = entities[last].next
    entities[last].next = RowReference(table: row.table, key: row.key + 1)
    return row
  }

  /// Makes a class the last one.
  private mutating func find(_ descriptor: ModelDescriptor) {
    if last < entities.count, entities[last].descriptor === descriptor { return }
    if let place = entities.firstIndex(where: { $0.descriptor === descriptor }) {
      last = place
    } else {
      last = entities.count
      entities.append((descriptor, 0, .none))
    }
  }
}
