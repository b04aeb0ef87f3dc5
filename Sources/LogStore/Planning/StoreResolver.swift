import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Answers what a filter asks about other rows than the one it tests, as of one view.
///
/// Belongs to one fetch, on one thread.
final class StoreResolver: RowResolver {
  let view: ReadView
  /// Records how the fetch is answered, if a plan was requested.
  let trace: QueryTrace?
  private let store: TableStore
  /// The indexes of references that were asked, as of the view.
  private var references: [ReferenceColumn: OrderedKeys] = [:]

  convenience init(_ store: TableStore, _ trace: QueryTrace? = nil) {
    self.init(store, as: store.makeReadView(), trace)
  }

  init(_ store: TableStore, as view: ReadView, _ trace: QueryTrace? = nil) {
    self.store = store
    self.trace = trace
    self.view = view
  }

  func withRow(_ reference: RowReference, _ body: (RawSpan) throws -> Void) throws -> Bool {
    guard let table = store.table(numbered: reference.table) else { return false }
    return try view.withRow(reference) { row, layout in
      try table.withCurrentRow(row, layout: layout, key: reference.key, body)
    } != nil
  }

  /// Asks the index: the row may be of an older layout, and would be converted, or be damaged.
  func contains(_ reference: RowReference) throws -> Bool {
    guard store.table(numbered: reference.table) != nil else { return false }
    return try view.contains(reference)
  }

  func descriptor(of reference: RowReference) -> ModelDescriptor? {
    store.table(numbered: reference.table)?.descriptor
  }

  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    store.reference(of: identifier)
  }

  func readBlob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? {
    try store.readBlob(blob, of: row, column: column)
  }

  func members(of owner: RowReference, _ property: ModelProperty) throws -> [RowReference] {
    guard let inverse = property.inverse, let destination = property.destination else { return [] }
    let tables = store.tables(for: destination)
    var members = try tables.flatMap { table in
      try keys(ofTable: table.number, column: inverse.ordinal)?.rows(referringTo: owner) ?? []
    }
    // A list has one order, whichever classes its members are of.
    if tables.count > 1 { members.sort() }
    return members.map(\.reference)
  }

  /// The rows of a table that refer to a row.
  func rows(
    referringTo target: RowReference,
    inTable table: UInt16,
    column: Int
  ) throws -> [RowReference] {
    try referringRows(to: target, table, column).map(\.reference)
  }

  /// The same with their places, by rank and key.
  func referringRows(
    to target: RowReference,
    _ table: UInt16,
    _ column: Int
  ) throws -> [ReferringRow] {
    try keys(ofTable: table, column: column)?.rows(referringTo: target) ?? []
  }

  /// Number of rows of a table that refer to a row; none of them is read.
  func count(referringTo target: RowReference, inTable table: UInt16, column: Int) throws -> Int {
    let key = IndexKey(target.rawValue)
    let range = IndexEntry.start(of: key, 1)...IndexEntry.end(of: key, 1)
    return try keys(ofTable: table, column: column)?.count(in: [range]) ?? 0
  }

  private func keys(ofTable table: UInt16, column: Int) throws -> OrderedKeys? {
    guard let index = store.indexes.references(table, column),
      case .references(let name) = index.definition
    else { return nil }
    if let known = references[name] { return known }
    let keys = try index.keys(as: view, in: store) ?? OrderedKeys(of: name, as: view, in: store)
    references[name] = keys
    return keys
  }

  /// The rows that pass a test of rows that others refer to.
  ///
  /// - Parameters:
  ///   - target: The test.
  ///   - limit: The number of rows that are of use.
  ///   - rowCount: The number of rows that would be looked at otherwise, each with the one it refers to.
  /// - Returns: `nil` if there are more, or if finding them means to look at more rows.
  /// - Throws: What reading throws.
  func targets(
    of target: QueryExpression.TargetTest,
    atMost limit: Int,
    insteadOf rowCount: Int
  ) throws -> [RowReference]? {
    guard let destination = target.property.destination else { return nil }
    var targets: [RowReference] = []
    let plan = CandidatePlan(target.test, store.textHash)
    for table in store.tables(for: destination) {
      if !target.test.canMatch(rowsOf: table.descriptor) { continue }
      let fetch = try TableFetch(store, table, target.test, plan, for: .names, self)
      guard fetch.namesRows || view.rowCount(of: table.number) <= rowCount else { return nil }
      let control = try fetch.visitNames { row in
        targets.append(row)
        return targets.count <= limit ? .proceed : .stop
      }
      if let tally = fetch.tally { trace?.add(tally.access) }
      if control == .stop { return nil }
    }
    return targets
  }
}

extension OrderedKeys {
  /// The references of a column as of a view that is older than the index.
  fileprivate init(of column: ReferenceColumn, as view: ReadView, in store: TableStore) throws {
    switch try IndexContent(.references(column), of: view, in: store) {
    case .ordered(let keys): self = keys
    case .unique, .words: preconditionFailure("references have an order")
    }
  }

  /// The rows that refer to a row, by rank and key.
  func rows(referringTo target: RowReference) throws -> [ReferringRow] {
    var rows: [ReferringRow] = []
    try forEach(referringTo: target) {
      rows.append(ReferringRow(reference: $0.row, rank: IndexDefinition.rank(of: $0.key)))
    }
    return rows
  }

  /// Calls a closure with the entries of the rows that refer to a row, by rank and key.
  func forEach(referringTo target: RowReference, _ body: (IndexEntry) -> Void) throws {
    let key = IndexKey(target.rawValue)
    try forEach(in: IndexEntry.start(of: key, 1)...IndexEntry.end(of: key, 1)) {
      body($0)
      return true
    }
  }
}
