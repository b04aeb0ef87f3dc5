import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// The common part of the stores over a log: everything but their configuration.
protocol LogBackedStore: AggregatingStore, SearchingStore, ExcludingStore, LookingUpStore,
  DataStoreBatching, TableChangeCounting, DataStoreClosing, ValueComparingStore, TurnTakingStore,
  DerivingStore, RemoteRowReporting, SharedStore, ReferenceClearing, PrecedenceTaking, StateReading
where Snapshot == DefaultSnapshot {
  var lease: StoreLease { get }
}

extension LogBackedStore {
  /// The store, also when it may be used no more: for what is in memory.
  var tables: TableStore { lease.tables }

  /// The store, for as long as it may be used.
  ///
  /// - Throws: ``SwiftDataError/storeClosed`` afterwards.
  func openTables() throws -> TableStore { try lease.openTables() }

  public func close() throws { try lease.end() }

  public var identifier: String { tables.identifier }
  public var schema: Schema { tables.schema }

  public var allowsSave: Bool { tables.allowsSave }

  public func table(forEntityNamed name: String) -> UInt16? { tables.table(forEntityNamed: name) }

  package func beginTurn() throws {
    let tables = try openTables()
    try tables.perform(.saving) { try tables.engine.beginTurn() }
  }

  package func endTurn() throws {
    try tables.perform(.saving) { try tables.engine.endTurn() }
  }

  package func takePrecedence() { tables.engine.takePrecedence() }

  package func endPrecedence() { tables.engine.endPrecedence() }

  // A failure is reported by the save that is attempted next.
  package func awaitSaves() { try? tables.engine.publishAppended() }

  public func reserveKeys(_ count: Int, inTable table: UInt16) throws -> Range<UInt64> {
    let tables = tables
    return try tables.perform(.saving) { try tables.engine.takeKeys(count, in: table) }
  }

  public func reserveRanks(_ count: Int) throws -> Range<Int64> {
    try tables.reserveRanks(count)
  }

  public var changeCount: UInt64? { tables.shownCommit }

  package func changeCount(ofTable table: UInt16) -> UInt64 { tables.newestChange(of: table) }

  package func changeCount(ofReferencesIn table: UInt16, column: Int) -> UInt64? {
    tables.newestChange(ofReferencesIn: table, column)
  }

  public func saveRows(
    for editingState: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)? {
    let tables = try openTables()
    return try tables.measure(.save) {
      try tables.save(
        author: editingState.author,
        deletions: editingState.deletions,
        derived: editingState.derivedRows,
        kept: editingState.keptClaim,
        hasLockedEnds: editingState.hasLockedEnds,
        announcement: editingState.announcement,
        body
      )
    }
  }

  public func fetchRows<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [FetchedRow] where T: PersistentModel {
    let tables = try openTables()
    return try tables.answer(request, .fetch) {
      try tables.follow()
      return try tables.fetch(request.descriptor, $0)
    }
  }

  package func fetchRows<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    excluding excluded: ExcludedRows,
    behind place: PagePosition?
  ) throws -> [FetchedRow] {
    let tables = try openTables()
    return try tables.answer(request, .fetch) {
      try tables.follow()
      return try tables.fetch(request.descriptor, excluding: excluded, behind: place, $0)
    }
  }

  package func fetchCount<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    excluding excluded: ExcludedRows
  ) throws -> Int? {
    let tables = try openTables()
    return try tables.answer(request, .count) {
      try tables.follow()
      return try tables.count(request.descriptor, excluding: excluded, $0)
    }
  }

  package func rows(
    matching expression: QueryExpression,
    of type: ModelDescriptor,
    atMost limit: Int
  ) throws -> [FetchedRow]? {
    try lookUp { try $0.lookUp(expression, of: type, atMost: limit) }
  }

  package func rows(
    having value: QueryValue,
    of lookUp: AttributeLookUp,
    atMost limit: Int
  ) throws -> [FetchedRow]? {
    try self.lookUp { try $0.lookUp(value, of: lookUp, atMost: limit) }
  }

  private func lookUp(_ body: (TableStore) throws -> [FetchedRow]?) throws -> [FetchedRow]? {
    let tables = try openTables()
    // A slow fetch is reported with its request.
    if tables.observation.slowFetches != nil { return nil }
    return try tables.measure(.fetch) {
      try tables.follow()
      return try body(tables)
    }
  }

  public func fetchReferences<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [RowReference] where T: PersistentModel {
    let tables = try openTables()
    return try tables.answer(request, .identifiers) {
      try tables.follow()
      return try tables.references(of: request.descriptor, $0)
    }
  }

  public func fetchCount<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> Int where T: PersistentModel {
    let tables = try openTables()
    return try tables.answer(request, .count) {
      try tables.follow()
      return try tables.count(request.descriptor, $0)
    }
  }

  package func aggregate<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ wanted: AggregateRequest,
    excluding excluded: ExcludedRows
  ) throws -> GroupTable {
    let tables = try openTables()
    return try tables.answer(request, .aggregate) {
      try tables.follow()
      return try tables.aggregate(request.descriptor, wanted, excluding: excluded, $0)
    }
  }

  package func readValues<T: PersistentModel>(
    _ request: DataStoreFetchRequest<T>,
    _ sources: [AggregateRequest.Source],
    into columns: [ValueColumn]
  ) throws -> ValueOrder {
    let tables = try openTables()
    return try tables.answer(request, .columns) {
      try tables.follow()
      return try tables.readValues(request.descriptor, sources, into: columns, $0)
    }
  }

  package func row(at reference: RowReference) throws -> FetchedRow? {
    try openTables().row(at: reference)
  }

  package func visitRows(
    at references: [RowReference],
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    try openTables().visitRows(at: references, body)
  }

  package func rows(
    having keys: KeyList,
    of constraint: UniquenessConstraint
  ) throws -> [RowReference] {
    try openTables().rows(having: keys, of: constraint)
  }

  public func rows(at references: [RowReference]) throws -> [FetchedRow?] {
    try openTables().rows(at: references)
  }

  package func rows(
    ofOneState choose: (UInt64) throws -> [RowReference]
  ) throws -> [FetchedRow?] {
    try openTables().rows(ofOneState: choose)
  }

  package func readingOneState<R>(for session: UUID, _ body: () throws -> R) throws -> R {
    try openTables().readingOneState(for: session, body)
  }

  package func showsState(forOtherThan session: UUID) -> Bool {
    tables.showsState(forOtherThan: session)
  }

  package func readingNewestState<R>(_ body: () throws -> R) rethrows -> R {
    try tables.readingNewestState(body)
  }

  public func rows(
    referringTo target: RowReference,
    inTable table: UInt16,
    column: Int
  ) throws -> [ReferringRow] {
    try openTables().rows(referringTo: target, inTable: table, column: column)
  }

  public func readBlob(
    _ blob: BlobReference,
    of row: RowReference,
    column: Int
  ) throws -> Data? {
    try openTables().readBlob(blob, of: row, column: column)
  }

  public func erase() throws { try openTables().erase() }

  /// Deletes the rows that a predicate matches, in one commit.
  ///
  /// The store knows no delete rules: relationships to the rows are nil afterwards. A context deletes
  /// through the models instead, so that the rules hold.
  ///
  /// - Throws: ``LogStoreError``, or what the predicate throws; then nothing is deleted.
  /// - Complexity: That of fetching the rows.
  public func delete<T>(_ request: DataStoreBatchDeleteRequest<T>) throws where T: PersistentModel {
    let tables = try openTables()
    try tables.checkTakesChanges()
    // In one turn, which begins with what other processes have saved, and in which a claim may be kept.
    try tables.perform(.saving) {
      try tables.engine.inTurn { try delete(request, from: tables) }
    }
  }

  package func clear(
    _ references: [DanglingReferences.Reference],
    in sink: any RowChangeSink
  ) throws {
    try openTables().nullify(references, in: sink)
  }

  private func delete<T>(
    _ request: DataStoreBatchDeleteRequest<T>,
    from tables: TableStore
  ) throws where T: PersistentModel {
    let fetch = FetchDescriptor(predicate: request.predicate)
    let ownTable =
      request.includeSubclasses ? nil : table(forEntityNamed: Schema.entityName(for: T.self))
    var left: [DanglingReferences.Reference] = []
    let kept = KeptClaim()
    defer { kept.release() }
    var attempts = Attempts(in: self)
    defer { attempts.end() }
    while true {
      let rows = try tables.references(of: fetch).filter {
        ownTable == nil || $0.table == ownTable
      }
      do {
        let gone = Set(rows)
        _ = try tables.save(author: request.editingState.author, kept: kept) { sink in
          for row in rows { sink.delete(row) }
          try tables.nullify(left.filter { !gone.contains($0.row) }, in: sink)
        }
        return
      } catch let dangling as DanglingReferences {
        // More references to the rows that this attempt deleted wait until the next attempt.
        left += dangling.toDeletedRows
      } catch let moved as MovedReference {
        // It refers to another row by now, and keeps doing so.
        left.removeAll { $0.row == moved.row && $0.column == moved.column }
      } catch is VanishedRow {
        // Another save has deleted one of them: the next attempt finds what is left.
      } catch is RowConflicts {
        // Others have changed what is written along: the next attempt copies what they have set.
      }
      attempts.next()
    }
  }
}
