import LogEngine
import ModelRuntime
import RowFormat

/// What the stores over a log have in common: everything but their configuration.
protocol LogBackedStore: RowStore where Snapshot == DefaultSnapshot {
  var tables: TableStore { get }
}

extension LogBackedStore {
  public var identifier: String { tables.identifier }
  public var schema: Schema { tables.schema }

  public var allowsSave: Bool { tables.allowsSave }

  public func table(forEntityNamed name: String) -> UInt16? { tables.table(forEntityNamed: name) }

  public func reserveKeys(_ count: Int, inTable table: UInt16) -> Range<UInt64> {
    tables.engine.reserveKeys(count, in: table)
  }

  public func reserveRanks(_ count: Int) -> Range<Int64> { tables.ranks.reserve(count) }

  public func saveRows(
    for editingState: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws {
    try tables.save(author: editingState.author, body)
  }

  public func fetchRows<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [FetchedRow] where T: PersistentModel {
    try tables.fetch(request.descriptor)
  }

  public func fetchCount<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> Int where T: PersistentModel {
    try tables.count(request.descriptor)
  }

  public func rows(at references: [RowReference]) throws -> [FetchedRow?] {
    try tables.rows(at: references)
  }

  public func rows(
    referringTo target: RowReference,
    inTable table: UInt16,
    column: Int,
    rankColumn: Int?
  ) throws -> [RowReference] {
    try tables.rows(
      referringTo: target,
      inTable: table,
      column: column,
      rankColumn: rankColumn
    )
  }

  public func erase() throws { try tables.erase() }
}
