#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// Answers what the evaluation of a predicate asks about other rows, from the snapshot in which the fetch was made.
///
/// The rows that the predicate's paths and lists lead to are read for all rows of the fetch at once; rows further
/// away are read when they are asked for, once.
final class SnapshotResolver: RowResolver {
  private let store: PostgresStore
  private let connection: Connection
  private var rows: [RowReference: FetchedRow] = [:]
  /// The rows that were looked for and are not there.
  private var missing: Set<RowReference> = []
  private var lists: [ListName: [RowReference]] = [:]

  private struct ListName: Hashable {
    let owner: RowReference
    let table: UInt16
    let column: Int
  }

  /// - Parameters:
  ///   - store: The store.
  ///   - connection: A session in the transaction of the fetch.
  init(_ store: PostgresStore, _ connection: Connection) {
    self.store = store
    self.connection = connection
  }

  // MARK: Reading ahead

  /// Reads what the predicate leads to from the rows of a fetch.
  func prepare(_ expression: QueryExpression, _ fetched: [FetchedRow]) throws {
    for row in fetched { rows[row.reference] = row }
    for way in expression.ways { try follow(way, from: fetched) }
  }

  private func follow(_ way: QueryExpression.Way, from fetched: [FetchedRow]) throws {
    var reached = fetched
    for property in way.steps {
      let next = reached.compactMap { targets(of: $0, property.ordinal).first }
      try load(next)
      reached = Set(next).compactMap { rows[$0] }
    }
    guard let list = way.list else { return }
    if list.isDerivable {
      try loadMembers(of: reached.map(\.reference), list)
    } else {
      try load(reached.flatMap { targets(of: $0, list.ordinal) })
    }
  }

  /// The rows that a column of a row refers to.
  private func targets(of row: FetchedRow, _ column: Int) -> [RowReference] {
    guard let table = store.tables.table(numbered: row.reference.table),
      column < table.layout.count
    else { return [] }
    return row.withBytes { bytes in
      if table.layout.isNull(column, in: bytes) { return [] }
      return switch table.layout.types[column] {
      case .reference: [table.layout.reference(column, in: bytes)]
      case .references: table.layout.references(column, in: bytes)
      default: []
      }
    }
  }

  private func load(_ references: [RowReference]) throws {
    let wanted = Set(references).filter { rows[$0] == nil && !missing.contains($0) }
    let groups = Dictionary(grouping: wanted, by: \.table).compactMap { number, references in
      store.tables.table(numbered: number).map { ($0, references) }
    }
    if groups.isEmpty { return }
    let results = try connection.run(groups.map { $0.rows(named: $1) })
    for ((table, _), result) in zip(groups, results) { try keep(table, result) }
    missing.formUnion(wanted.filter { rows[$0] == nil })
  }

  private func keep(_ table: MappedTable, _ result: StatementResult) throws {
    var builder = FetchedRowBuilder()
    var decoder = RowDecoder(table)
    for row in 0..<result.rowCount {
      try decoder.withRow(row, of: result) { builder.append($0, row: $1) }
    }
    for row in builder.rows { rows[row.reference] = row }
  }

  /// Reads a list that is derived from its other end, of several owners, with the members' rows.
  private func loadMembers(of owners: [RowReference], _ property: ModelProperty) throws {
    guard let inverse = property.inverse, let destination = property.destination else { return }
    let tables = store.tables.tables(for: destination)
    let results = try connection.run(
      tables.map { table in
        let column = table.columns[inverse.ordinal].name.quotedName
        let rank = table.rank(of: inverse.ordinal).map { "COALESCE(t.\($0.name.quotedName), 0)" }
        return Statement(
          "SELECT \(table.selection), t.\(column), \(rank ?? "0::bigint") FROM \(table.name) AS t "
            + "WHERE t.\(column) = ANY ($1)"
        ) { $0.append(owners.map { Int64(bitPattern: $0.rawValue) }) }
      }
    )
    var members: [RowReference: [ReferringRow]] = [:]
    for (table, result) in zip(tables, results) {
      try keep(table, result)
      let last = result.columnCount - 1
      for row in 0..<result.rowCount {
        let owner = RowReference(rawValue: UInt64(bitPattern: result.integer(row, last - 1)))
        let member = RowReference(rawValue: UInt64(bitPattern: result.integer(row, 0)))
        members[owner, default: []].append(
          ReferringRow(reference: member, rank: result.integer(row, last))
        )
      }
    }
    for owner in owners {
      let name = ListName(owner: owner, table: owner.table, column: property.ordinal)
      lists[name] = (members[owner] ?? []).sorted().map(\.reference)
    }
  }

  // MARK: Answering

  func withRow(_ reference: RowReference, _ body: (RawSpan) throws -> Void) throws -> Bool {
    try load([reference])
    guard let row = rows[reference] else { return false }
    try row.withBytes(body)
    return true
  }

  func descriptor(of reference: RowReference) -> ModelDescriptor? {
    store.tables.table(numbered: reference.table)?.descriptor
  }

  func reference(of identifier: PersistentIdentifier) -> RowReference? {
    store.reference(of: identifier)
  }

  func members(of owner: RowReference, _ property: ModelProperty) throws -> [RowReference] {
    let name = ListName(owner: owner, table: owner.table, column: property.ordinal)
    if lists[name] == nil { try loadMembers(of: [owner], property) }
    return lists[name] ?? []
  }

  func readBlob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? {
    guard let statement = store.externalValue(of: row, column: column) else { return nil }
    let result = try connection.run([statement])[0]
    return result.rowCount == 1 && !result.isNull(0, 0) ? Data(result.bytes(0, 0)) : nil
  }
}

extension QueryExpression {
  /// A way from the row that is tested to others: along to-one relationships, and then perhaps to the members of a list.
  fileprivate struct Way {
    let steps: [ModelProperty]
    var list: ModelProperty?
  }

  /// The ways that the expression goes from the row it is about.
  fileprivate var ways: [Way] {
    func way(_ path: RowPath, list: ModelProperty? = nil) -> [Way] {
      if path.level > 0 || path.steps.isEmpty && list == nil { return [] }
      return [Way(steps: path.steps.map(\.property), list: list)]
    }
    let own: [Way] =
      switch self {
      case .column(let path, _), .structured(let path, _), .identifier(let path), .row(let path),
        .castRow(let path, _), .isKind(let path, _):
        way(path)
      case .list(let list), .count(let list), .exists(let list, _):
        way(list.owner, list: list.property)
      default: []
      }
    return own + children.flatMap(\.ways)
  }
}
#endif
