#if PostgreSQL
import ModelRuntime
import RowFormat

/// An entity, and the table that keeps its models.
final class MappedTable: Sendable {
  let number: UInt16
  let descriptor: ModelDescriptor
  let columns: [MappedColumn]
  /// The table's name in SQL, qualified by its namespace.
  let name: String
  /// The to-one columns of relationships with an inverse, which must not refer to deleted rows.
  let checkedReferences: [Int]
  /// The columns whose values a delete preserves in the history.
  let preservedColumns: [MappedColumn]
  /// Limit, in bytes, of a value, and of the values of a row together.
  let valueLimit: Int
  /// The select list of rows, for a table that the statement calls `t`: the key, then one or two values for each
  /// column.
  let selection: String

  /// The column that names a row: its ``RowReference``, so that references can be joined with it.
  static let key = "_id"

  /// The size up to which an external value is fetched with its row, in bytes.
  private static let externalThreshold = 2000

  init(
    number: UInt16,
    _ descriptor: ModelDescriptor,
    namespace: String,
    valueLimit: Int = ValueLimit.byteCount
  ) throws {
    self.number = number
    self.valueLimit = valueLimit
    self.descriptor = descriptor
    columns = MappedColumn.columns(of: descriptor)
    for name in [descriptor.entityName] + columns.map(\.name) { try MappedTable.check(name) }
    name = "\(namespace.quotedName).\(descriptor.entityName.quotedName)"
    checkedReferences = descriptor.relationships.filter { !$0.isToMany && $0.inverse != nil }
      .map(\.ordinal)
    let columns = columns
    preservedColumns = descriptor.properties.filter {
      $0.attribute?.options.contains(.preserveValueOnDeletion) ?? false
    }.map { columns[$0.ordinal] }
    selection = MappedTable.selection(of: columns, prefix: "t.")
  }

  /// The select list of rows.
  static func selection(of columns: [MappedColumn], prefix: String) -> String {
    let values = columns.flatMap { column -> [String] in
      let name = prefix + column.name.quotedName
      return switch column.kind {
      case .decimal: ["\(name)::text"]
      // The length of a value that PostgreSQL keeps beside the table is known without reading it.
      case .external:
        [
          "CASE WHEN octet_length(\(name)) <= \(externalThreshold) THEN \(name) END",
          "octet_length(\(name))::bigint",
        ]
      default: [name]
      }
    }
    return ([prefix + key] + values).joined(separator: ", ")
  }

  /// Checks that a name can be that of a table or a column.
  ///
  /// - Throws: ``PostgresStoreError/unusableName(_:reason:)``.
  static func check(_ name: String) throws {
    if name.utf8.count > 63 {
      throw PostgresStoreError.unusableName(name, reason: "it has more than 63 bytes")
    }
    if name == key || name.hasPrefix("_logstore_") {
      throw PostgresStoreError.unusableName(name, reason: "the store uses it itself")
    }
  }

  var layout: RowLayout { descriptor.layout }

  /// The range of the names of the table's rows.
  var references: ClosedRange<RowReference> { MappedTable.references(of: number) }

  /// The range of the names of rows of a table.
  static func references(of number: UInt16) -> ClosedRange<RowReference> {
    RowReference(table: number, key: 0)...RowReference(table: number, key: RowReference.maximumKey)
  }

  /// The column beside a to-one column that keeps the place in the list at the other end.
  func rank(of column: Int) -> MappedColumn? {
    descriptor.rankColumns[column].map { columns[$0] }
  }
}

/// The to-one column of a table that can refer to rows of another.
struct Referrer: Sendable {
  let table: MappedTable
  let column: MappedColumn
}

/// The tables of a store, by entity and by number.
struct TableMap: Sendable {
  let tables: [MappedTable]
  private let byEntity: [String: MappedTable]
  private let byNumber: [UInt16: MappedTable]
  private let referrersByTable: [UInt16: [Referrer]]
  /// The columns that an index of a table begins with, whose values have an order in it.
  private let indexedByTable: [UInt16: Set<Int>]
  /// The constraints of the schema, each with the tables that it covers.
  let constraints: [(constraint: UniquenessConstraint, tables: [MappedTable])]
  /// The derivations; `nil` if there are none.
  let derivations: StoreDerivations?

  init(_ tables: [MappedTable], _ schema: Schema) {
    self.tables = tables.sorted { $0.number < $1.number }
    byEntity = Dictionary(uniqueKeysWithValues: tables.map { ($0.descriptor.entityName, $0) })
    byNumber = Dictionary(uniqueKeysWithValues: tables.map { ($0.number, $0) })
    var referrers: [UInt16: [Referrer]] = [:]
    for table in tables {
      for column in table.checkedReferences {
        guard let destination = table.descriptor.properties[column].destination else { continue }
        let base = ModelDescriptor.of(destination)
        for target in tables where target.descriptor.isKind(of: base) {
          referrers[target.number, default: []].append(
            Referrer(table: table, column: table.columns[column])
          )
        }
      }
    }
    referrersByTable = referrers
    derivations = StoreDerivations(self.tables.map { ($0.number, $0.descriptor) })
    constraints = UniquenessConstraint.all(in: schema).map { constraint in
      (constraint, tables.filter { constraint.covers($0.descriptor) })
    }
    var indexed: [UInt16: Set<Int>] = [:]
    for (constraint, tables) in constraints {
      for table in tables { indexed[table.number, default: []].insert(constraint.columns[0]) }
    }
    for entity in schema.entities {
      guard let table = byEntity[entity.name] else { continue }
      for index in entity.indexedProperties {
        guard let column = table.columns.first(where: { $0.name == index.first }) else { continue }
        indexed[table.number, default: []].insert(column.position)
      }
    }
    indexedByTable = indexed
  }

  /// Whether an index of a table begins with a column.
  func isIndexed(_ column: Int, of table: MappedTable) -> Bool {
    indexedByTable[table.number]?.contains(column) ?? false
  }

  func table(forEntityNamed name: String) -> MappedTable? { byEntity[name] }
  func table(numbered number: UInt16) -> MappedTable? { byNumber[number] }

  /// The row of an identifier of the store, or `nil` if it is not of the store.
  ///
  /// An identifier can come from outside, with a key that no row can have.
  func reference(of identifier: PersistentIdentifier, inStore store: String) -> RowReference? {
    guard identifier.storeIdentifier == store, let key = identifier.rowKey,
      key <= RowReference.maximumKey,
      let table = table(forEntityNamed: identifier.entityName)
    else { return nil }
    return RowReference(table: table.number, key: key)
  }

  /// The tables that hold the models of a class: its own, and its subclasses'.
  func tables(for type: any PersistentModel.Type) -> [MappedTable] {
    let base = ModelDescriptor.of(type)
    return tables.filter { $0.descriptor.isKind(of: base) }
  }

  /// The checked to-one columns that can refer to rows of a table.
  func referrers(of table: UInt16) -> [Referrer] { referrersByTable[table] ?? [] }
}
#endif
