import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

/// The indexes of a store: of values, of references and of unique keys.
///
/// Each is made when something asks for it the first time, and costs nothing before; see ``LazyIndex``.
final class StoreIndexes: Sendable {
  /// Finds rows by what `#Index` declares, and by what is unique besides.
  let values: [LazyIndex]
  /// Finds the rows that refer to a row.
  let references: [ReferenceColumn: LazyIndex]
  /// Finds the rows that have a unique key already; by constraint.
  let unique: [LazyIndex]
  let constraints: [UniquenessConstraint]
  /// Finds rows by the words of their texts, in the columns that `#Index` names.
  let words: [WordIndex]

  private let byTable: [UInt16: [LazyIndex]]
  private let valuesByTable: [UInt16: [LazyIndex]]
  private let uniqueByTable: [UInt16: [Int]]
  private let referenceColumns: [UInt16: [Int: ReferenceColumn]]
  /// Number of registrations of indexes so far.
  private let registrations = Atomic<Int>(0)

  init(_ schema: Schema, tables: [EntityTable]) {
    values = StoreIndexes.valueDefinitions(schema, tables).map(LazyIndex.init)
    let constraints = UniquenessConstraint.all(in: schema)
    self.constraints = constraints
    words = tables.flatMap { StoreIndexes.words(schema, $0) }
    unique = constraints.enumerated().map { number, constraint in
      LazyIndex(
        .unique(
          tables: tables.filter { constraint.covers($0.descriptor) }.map(\.number),
          constraint: number,
          columns: constraint.columns
        )
      )
    }
    let columns = tables.flatMap(\.referenceColumns)
    let references = Dictionary(
      uniqueKeysWithValues: columns.map { ($0, LazyIndex(.references($0))) }
    )
    self.references = references
    referenceColumns = Dictionary(grouping: columns, by: \.table).mapValues { columns in
      Dictionary(uniqueKeysWithValues: columns.map { ($0.column, $0) })
    }
    var byTable: [UInt16: [LazyIndex]] = [:]
    for index in values + columns.compactMap({ references[$0] }) + unique + words.map(\.index) {
      for table in index.tables { byTable[table, default: []].append(index) }
    }
    self.byTable = byTable
    valuesByTable = Dictionary(grouping: values) { $0.tables[0] }
    var uniqueByTable: [UInt16: [Int]] = [:]
    for (number, index) in unique.enumerated() {
      for table in index.tables { uniqueByTable[table, default: []].append(number) }
    }
    self.uniqueByTable = uniqueByTable
  }

  private static func valueDefinitions(
    _ schema: Schema,
    _ tables: [EntityTable]
  ) -> [IndexDefinition] {
    var definitions: [IndexDefinition] = []
    for table in tables {
      let lineage = schema.entitiesByName[table.descriptor.entityName]?.lineage ?? []
      let lists = lineage.flatMap { $0.indexedProperties + $0.uniquenessConstraints }
      var known: Set<[IndexColumn]> = []
      for list in lists {
        guard let definition = IndexDefinition(list, in: table),
          case .values(_, let columns) = definition
        else { continue }
        if known.insert(columns).inserted { definitions.append(definition) }
      }
    }
    return definitions
  }

  /// The indexes of words of a table's texts.
  private static func words(_ schema: Schema, _ table: EntityTable) -> [WordIndex] {
    let lineage = schema.entitiesByName[table.descriptor.entityName]?.lineage ?? []
    let hash = TextHash(table.store)
    var known: Set<Int> = []
    return lineage.flatMap(\.indexedProperties).joined().compactMap { name in
      guard let property = table.descriptor.property(named: name), !property.isRelationship,
        let reading = ColumnReading(property), reading.kind == .text, reading.enumeration == nil,
        known.insert(reading.column).inserted
      else { return nil }
      return WordIndex(table.number, column: reading.column, hash)
    }
  }

  /// The index of the words in a column of a table; `nil` if `#Index` does not name the column.
  func words(_ table: UInt16, _ column: Int) -> WordIndex? {
    words.first { $0.index.tables[0] == table && $0.column == column }
  }

  /// All of them.
  var all: [LazyIndex] { values + references.values + unique + words.map(\.index) }

  /// The indexes of values of a table.
  func values(of table: UInt16) -> [LazyIndex] { valuesByTable[table] ?? [] }

  /// The constraints that hold for the rows of a table, by number.
  func constraints(of table: UInt16) -> [Int] { uniqueByTable[table] ?? [] }

  /// The index of a to-one column.
  func references(_ table: UInt16, _ column: Int) -> LazyIndex? {
    referenceColumns[table]?[column].flatMap { references[$0] }
  }

  /// The indexes that commits have to keep in step.
  func registered(of table: UInt16) -> [LazyIndex] {
    byTable[table]?.filter(\.isRegistered) ?? []
  }

  /// A number that grows when an index is registered.
  var registrationCount: Int { registrations.load(ordering: .acquiring) }

  func recordRegistration() { registrations.add(1, ordering: .acquiringAndReleasing) }

  /// Takes in what was committed, and forgets what can no longer be undone.
  func settle(_ indexes: [LazyIndex], in engine: StorageEngine) {
    let visible = engine.lastCommit
    let oldest = engine.oldestCommitInUse
    let foreign = engine.lastForeignCommit
    for index in indexes {
      index.settle(through: visible, keepingSince: oldest, foreign: foreign)
    }
  }

  func removeAll() {
    for index in all { index.removeAll() }
  }
}
