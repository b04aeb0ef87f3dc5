import Foundation
@testable import ModelRuntime
import PostgresStore
import RowFormat

/// Opens a store behind which rows are all that a batch can send.
struct RowsOnlyConfiguration: DataStoreConfiguration {
  typealias Store = RowsOnlyStore

  var base: PostgresStoreConfiguration

  var name: String { base.name }
  var schema: Schema? {
    get { base.schema }
    set { base.schema = newValue }
  }
}

/// A PostgreSQL store whose saves are made of rows, whatever else it can take.
final class RowsOnlyStore: RowStore, DerivingStore, ValueComparingStore {
  typealias Configuration = RowsOnlyConfiguration
  typealias Snapshot = DefaultSnapshot

  let base: PostgresStore
  let configuration: Configuration

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    base = try PostgresStore(configuration.base, migrationPlan: migrationPlan)
  }

  var identifier: String { base.identifier }
  var schema: Schema { base.schema }
  var allowsSave: Bool { base.allowsSave }
  var roundsDates: Bool { base.roundsDates }

  func storedDate(_ date: Date) -> Date { base.storedDate(date) }
  func table(forEntityNamed name: String) -> UInt16? { base.table(forEntityNamed: name) }

  func reserveKeys(_ count: Int, inTable table: UInt16) throws -> Range<UInt64> {
    try base.reserveKeys(count, inTable: table)
  }

  func reserveRanks(_ count: Int) throws -> Range<Int64> { try base.reserveRanks(count) }

  func saveRows(
    for editingState: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)? {
    try base.saveRows(for: editingState) { try body(RowSink($0)) }
  }

  func fetchRows<T>(_ request: DataStoreFetchRequest<T>) throws -> [FetchedRow] {
    try base.fetchRows(request)
  }

  func fetchReferences<T>(_ request: DataStoreFetchRequest<T>) throws -> [RowReference] {
    try base.fetchReferences(request)
  }

  func fetchCount<T>(_ request: DataStoreFetchRequest<T>) throws -> Int {
    try base.fetchCount(request)
  }

  func rows(at references: [RowReference]) throws -> [FetchedRow?] {
    try base.rows(at: references)
  }

  func rows(
    referringTo target: RowReference,
    inTable table: UInt16,
    column: Int
  ) throws -> [ReferringRow] {
    try base.rows(referringTo: target, inTable: table, column: column)
  }

  func readBlob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? {
    try base.readBlob(blob, of: row, column: column)
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try base.fetch(request) }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { try base.save(request) }
}

/// The sink of a save, without what it takes beside rows.
private final class RowSink: RowChangeSink, ValueExpecting, ReferenceExpecting {
  private let base: any RowChangeSink

  init(_ base: any RowChangeSink) { self.base = base }

  func insert(_ reference: RowReference, row: RawSpan) { base.insert(reference, row: row) }

  func update(_ reference: RowReference, changed: ColumnSet, row: RawSpan) {
    base.update(reference, changed: changed, row: row)
  }

  func delete(_ reference: RowReference) { base.delete(reference) }
  func addBlob(_ bytes: RawSpan) throws -> BlobReference? { try base.addBlob(bytes) }

  func expectValues(of row: RowReference, _ columns: [Int], from values: [UInt8]?) {
    (base as? any ValueExpecting)?.expectValues(of: row, columns, from: values)
  }

  func expectReference(of row: RowReference, _ column: Int, to target: RowReference) {
    (base as? any ReferenceExpecting)?.expectReference(of: row, column, to: target)
  }
}
