#if PostgreSQL
import Foundation
import ModelRuntime
import RowFormat

/// The contents of a namespace: read when a store is opened, and changed until the models fit.
///
/// Everything happens in one transaction, under a lock: of a fleet that starts at once, one migrates. The code of a
/// stage runs in that transaction, too.
struct StoreCatalogue {
  let connection: Connection
  let namespace: String
  private(set) var metadata: [String: String] = [:]
  private(set) var numbers: [String: UInt16] = [:]
  /// The types of the columns, by table and name.
  var columns: [String: [String: String]] = [:]
  /// The names of unique constraints that the store has made, by table.
  var constraints: [String: Set<String>] = [:]
  /// The indexes, those of constraints too, by name.
  private var indexes: [String: StoredIndex] = [:]
  /// The tables that the session's role may not give indexes.
  private var foreignTables: Set<String> = []
  /// The entities whose rows the step at hand removes.
  var removed: Set<String> = []
  /// The columns that may lack values, though their properties have to have one: tables and names.
  var incomplete: [(entity: String, column: String)] = []

  /// A request to open a namespace.
  struct Request {
    let namespace: String
    let schema: Schema
    /// The versions that stores may have.
    let plan: (any SchemaMigrationPlan.Type)?
    let allowsSave: Bool
    let newerStores: NewerStorePolicy
    let uniquenessPolicy: UniquenessPolicy
    /// Opens the store in the middle of a migration.
    let openVersion: (OpenedVersion) -> any DataStore & DataStoreClosing
  }

  /// A version of the models that the tables have in the middle of a migration.
  struct OpenedVersion {
    let transaction: MigrationTransaction
    let schema: Schema
    let identifier: String
    let tables: TableMap
  }

  /// The action for a property whose column is of another type.
  enum TypeChange {
    /// The store is not opened.
    case refused
    /// The column is replaced by an empty one: the code of a stage provides the values.
    case replaced
  }

  /// The layout of the store's own tables; a store of a later one is not opened.
  ///
  /// 2: the table of changes has partitions. 1: it has none, and is otherwise the same, so that programs that know only
  /// the one write to the other.
  static let format = 2

  init(_ connection: Connection, namespace: String) {
    self.connection = connection
    self.namespace = namespace
  }

  var identifier: String { metadata["store.identifier"] ?? "" }

  /// Opens a namespace for a schema.
  ///
  /// - Parameters:
  ///   - request: The namespace, the models and the options.
  ///   - connection: A session outside of every transaction.
  /// - Returns: The store's identifier, and the tables of the schema.
  /// - Throws: ``PostgresStoreError``, or `SwiftDataError` for versions that no way leads from or to; the database is
  ///   as it was.
  static func open(
    _ request: Request,
    on connection: Connection
  ) throws -> (identifier: String, tables: TableMap) {
    let schema = request.schema
    try checkServer(connection)
    _ = try connection.run([.begin, .lock(request.namespace)])
    do {
      var catalogue = StoreCatalogue(connection, namespace: request.namespace)
      let isThere = try catalogue.read()
      if !isThere {
        guard request.allowsSave else {
          let entity = schema.entities.first?.name ?? ""
          throw PostgresStoreError.schemaNotInStore(
            entity: entity,
            namespace: request.namespace
          )
        }
        try catalogue.create()
      }
      let writer = catalogue.metadata["schema.version"]
      if request.allowsSave {
        if isThere { try catalogue.endForeignHistory() }
        try catalogue.bringFormat()
      }
      try catalogue.migrate(request)
      let tables = TableMap(try catalogue.tables(of: schema), schema)
      try catalogue.bringDerivedAttributes(
        of: tables,
        writtenBy: writer,
        allowsSave: request.allowsSave
      )
      _ = try connection.run([.commit])
      return (catalogue.identifier, tables)
    } catch {
      connection.rollBack()
      throw error
    }
  }

  static func checkServer(_ connection: Connection) throws {
    // xid8, and columns that are added with a default without being written.
    let minimum = 130_000
    guard connection.serverVersion >= minimum else {
      throw PostgresStoreError.unsupportedServer(
        version: connection.serverVersion,
        minimum: minimum / 10_000
      )
    }
    guard connection.serverEncoding == "UTF8" else {
      throw PostgresStoreError.unsupportedEncoding(connection.serverEncoding)
    }
  }

  func name(_ table: String) -> String {
    "\(namespace.quotedName).\(table.quotedName)"
  }

  mutating func change(_ statements: String...) throws {
    _ = try connection.run(statements.map { Statement($0) })
  }

  mutating func set(_ key: String, _ value: String) throws {
    guard metadata[key] != value else { return }
    let statement = Statement(
      "INSERT INTO \(name("_logstore_meta")) VALUES ($1, $2) "
        + "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    ) {
      $0.append(key)
      $0.append(value)
    }
    _ = try connection.run([statement])
    metadata[key] = value
  }
}

// MARK: Reading

extension StoreCatalogue {
  /// Reads what there is.
  ///
  /// - Returns: Whether there is a store.
  mutating func read() throws -> Bool {
    let exists = Statement("SELECT to_regclass($1)::text") { $0.append(name("_logstore_meta")) }
    if try connection.run([exists])[0].isNull(0, 0) { return false }
    let inNamespace = "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1"
    func ask(_ sql: String) -> Statement { Statement(sql) { $0.append(namespace) } }
    let results = try connection.run([
      Statement("SELECT key, value FROM \(name("_logstore_meta"))"),
      Statement("SELECT number, name FROM \(name("_logstore_entity"))"),
      // If `quote_all_identifiers` is set, the server quotes the names of types, too.
      ask(
        "SELECT c.relname::text, a.attname::text, replace(format_type(a.atttypid, a.atttypmod), '\"', '') "
          + "FROM pg_attribute a "
          + "JOIN pg_class c ON c.oid = a.attrelid \(inNamespace) AND c.relkind IN ('r', 'p') AND NOT c.relispartition "
          + "AND a.attnum > 0 AND NOT a.attisdropped"
      ),
      ask(
        "SELECT c.relname::text, k.conname::text FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid "
          + "\(inNamespace) AND k.contype = 'u' AND k.condeferrable"
      ),
      ask(
        "SELECT c.relname::text, r.relname::text, i.indnatts::bigint, ARRAY(SELECT a.attname::text "
          + "FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(n, o) JOIN pg_attribute a "
          + "ON a.attrelid = i.indrelid AND a.attnum = k.n ORDER BY k.o) FROM pg_index i "
          + "JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class r ON r.oid = i.indrelid \(inNamespace)"
      ),
      ask(
        "SELECT c.relname::text FROM pg_class c \(inNamespace) AND c.relkind = 'r' "
          + "AND NOT (pg_has_role(c.relowner, 'USAGE') AND has_schema_privilege(n.oid, 'CREATE'))"
      ),
    ])
    (columns, constraints, indexes, foreignTables) = ([:], [:], [:], [])
    for row in 0..<results[0].rowCount {
      metadata[results[0].text(row, 0)] = results[0].text(row, 1)
    }
    for row in 0..<results[1].rowCount {
      numbers[results[1].text(row, 1)] = UInt16(truncatingIfNeeded: results[1].integer(row, 0))
    }
    for row in 0..<results[2].rowCount {
      columns[results[2].text(row, 0), default: [:]][results[2].text(row, 1)] =
        results[2].text(row, 2)
    }
    for row in 0..<results[3].rowCount {
      constraints[results[3].text(row, 0), default: []].insert(results[3].text(row, 1))
    }
    for row in 0..<results[4].rowCount {
      let (count, names) = (Int(results[4].integer(row, 2)), results[4].texts(row, 3))
      indexes[results[4].text(row, 0)] = StoredIndex(
        table: results[4].text(row, 1),
        columnCount: count,
        columns: names.count == count ? names : nil
      )
    }
    for row in 0..<results[5].rowCount { foreignTables.insert(results[5].text(row, 0)) }
    if let format = metadata["format"], !(1...StoreCatalogue.format ~= Int(format) ?? 0) {
      throw SwiftDataError.backwardMigration.explained(
        "the tables of schema \(namespace) have format \(format), and this version knows \(StoreCatalogue.format): "
          + "update the program"
      )
    }
    return true
  }

  func tables(of schema: Schema) throws -> [MappedTable] {
    let families = EntityFamilies(schema)
    return try schema.descriptors.map { descriptor in
      let table = try numbers[descriptor.entityName].map {
        try MappedTable(number: $0, descriptor, namespace: namespace)
      }
      let stored = columns[descriptor.entityName] ?? [:]
      let former = FormerColumns(of: descriptor.entityName, in: nil, metadata)
      guard let table,
        descriptor.properties.allSatisfy({
          former.values($0.name)?.change(to: $0, in: families) == nil
        }),
        table.columns.allSatisfy({ stored[$0.name] == $0.kind.declaration })
      else {
        throw PostgresStoreError.schemaNotInStore(
          entity: descriptor.entityName,
          namespace: namespace
        )
      }
      return table
    }
  }
}

// MARK: Creating and migrating

extension StoreCatalogue {
  /// Makes the store's own tables.
  ///
  /// - Parameter identifier: The store's identifier; by default one that no store has had.
  /// - Throws: ``PostgresStoreError``.
  mutating func create(identifier: String = UUID().uuidString) throws {
    let exists = Statement("SELECT 1 FROM pg_namespace WHERE nspname = $1") {
      $0.append(namespace)
    }
    // A role that may create tables but no schemas needs an administrator to create the schema first.
    if try connection.run([exists])[0].rowCount == 0 {
      try change("CREATE SCHEMA \(namespace.quotedName)")
    }
    let xid = "pg_current_xact_id()::text::bigint"
    try change(
      "CREATE TABLE \(name("_logstore_meta")) (key text PRIMARY KEY, value text NOT NULL)",
      "CREATE TABLE \(name("_logstore_entity")) (number smallint PRIMARY KEY, name text NOT NULL UNIQUE, "
        + "next_key bigint NOT NULL)",
      "CREATE SEQUENCE \(name("_logstore_rank")) START \(1 << 24) INCREMENT \(1 << 24)",
      "CREATE TABLE \(name("_logstore_commit")) (id uuid PRIMARY KEY, xid bigint NOT NULL UNIQUE DEFAULT \(xid), "
        + "at timestamptz NOT NULL DEFAULT clock_timestamp(), author text, source uuid)"
    )
    try HistoryPartitions(namespace: namespace).create(connection)
    try set("format", "\(StoreCatalogue.format)")
    try set("store.identifier", identifier)
  }

  /// Brings the store's own tables to the newest format.
  ///
  /// A store whose tables the session's role does not own stays as it is, until one that does opens it: everything but
  /// the space of a deleted history is the same.
  private mutating func bringFormat() throws {
    guard metadata["format"] == "1" else { return }
    if try HistoryPartitions(namespace: namespace).divide(connection) {
      try set("format", "\(StoreCatalogue.format)")
    }
  }

  private mutating func migrate(_ request: Request) throws {
    let schema = request.schema
    let stored = metadata["schema.version"].flatMap { StoredSchemaVersion($0) }
    let route = try MigrationRoute(
      from: stored,
      to: schema,
      plan: request.plan,
      entities: Set(numbers.keys),
      newerStores: request.newerStores
    )
    guard request.allowsSave else {
      if route.runsStages {
        throw SwiftDataError.migrationUnavailable.explained(
          "schema \(namespace) must be migrated to \(route.target), but was opened read-only: open it once with "
            + "allowsSave: true"
        )
      }
      return
    }
    if case .inferred = route.way { try refuseOlderModels(request, stored) }
    if case .stages(let steps) = route.way {
      try take(steps, request)
    }
    try bring(to: schema)
    try set("schema.version", route.target.description)
  }

  /// Refuses models without a version that lack columns of a store with one: they are taken to be older.
  private func refuseOlderModels(
    _ request: Request,
    _ stored: StoredSchemaVersion?
  ) throws {
    let schema = request.schema
    guard request.plan == nil, !schema.isVersioned, request.newerStores == .refuse, let stored,
      stored.version != Schema.unversioned
    else { return }
    for descriptor in schema.descriptors {
      var known = Set(MappedColumn.columns(of: descriptor).map(\.name))
      for property in descriptor.properties {
        guard let original = property.originalName else { continue }
        known.formUnion([original, RankColumn.name(for: original)])
      }
      let unknown = columnsOfModels(descriptor.entityName).first { !known.contains($0) }
      guard let unknown else { continue }
      throw SwiftDataError.backwardMigration.explained(
        "schema \(namespace) was written with models \(stored) and keeps \(descriptor.entityName).\(unknown), which "
          + "the models it is opened with lack; they have no version: open it with the migration plan or a "
          + "VersionedSchema, or set newerStores of the configuration to .takeBack",
        entity: descriptor.entityName,
        property: unknown
      )
    }
  }

  /// The columns of a table that the models had which opened the namespace last, without those of earlier ones.
  private func columnsOfModels(_ entity: String) -> [String] {
    let text = metadata[TableDescription.metadataKey(of: entity)]
    let described = text.flatMap { TableDescription.columns(from: $0) }?.map(\.name)
    return described ?? (columns[entity] ?? [:]).keys.sorted().filter { $0 != MappedTable.key }
  }

  /// Makes the tables those of a schema: what is missing is added, what was renamed is renamed, nothing is dropped.
  mutating func bring(to schema: Schema) throws {
    try bringTables(of: schema, typeChange: .refused)
    try addConstraints(of: schema)
    removed = []
  }

  /// Makes the tables, columns and indexes of a schema; the values that it no longer declares unique may repeat from here on.
  ///
  /// - Parameters:
  ///   - schema: The schema.
  ///   - former: The version that a step of a plan begins with; `nil` if it is not known.
  ///   - typeChange: The action for a column whose type is another one.
  /// - Throws: ``PostgresStoreError``.
  mutating func bringTables(
    of schema: Schema,
    since former: Schema? = nil,
    typeChange: TypeChange
  ) throws {
    for descriptor in schema.descriptors {
      if numbers[descriptor.entityName] == nil {
        try addTable(descriptor)
        let former = FormerColumns(of: descriptor.entityName, in: former, metadata)
        try noteProperties(of: descriptor, EntityFamilies(schema), since: former)
      } else {
        try bringColumns(of: descriptor, in: schema, since: former, typeChange)
      }
    }
    try dropConstraints(notIn: schema)
    try bringIndexes(of: schema)
    for descriptor in schema.descriptors {
      try set(
        TableDescription.metadataKey(of: descriptor.entityName),
        TableDescription.text(of: TableDescription.columns(of: descriptor))
      )
    }
  }

  private mutating func addTable(_ descriptor: ModelDescriptor) throws {
    let entity = descriptor.entityName
    let number = (numbers.values.max() ?? 0) + 1
    let table = try MappedTable(number: number, descriptor, namespace: namespace)
    let declarations = table.columns.map {
      ", \($0.name.quotedName) \($0.kind.declaration)\($0.kind.collation)"
    }
    try change(
      "CREATE TABLE \(table.name) (\(MappedTable.key) bigint PRIMARY KEY\(declarations.joined()))"
    )
    for column in table.columns where column.kind == .external {
      // Beside the table as it is: then its length is known without reading it.
      try change(
        "ALTER TABLE \(table.name) ALTER COLUMN \(column.name.quotedName) SET STORAGE EXTERNAL"
      )
    }
    let note = Statement("INSERT INTO \(name("_logstore_entity")) VALUES ($1, $2, 1)") {
      $0.append(Int(number))
      $0.append(entity)
    }
    _ = try connection.run([note])
    numbers[entity] = number
    columns[entity] = Dictionary(
      uniqueKeysWithValues: table.columns.map { ($0.name, $0.kind.declaration) }
    )
  }

  /// Notes that a column has another name.
  mutating func noteRenaming(of former: String, to name: String, in entity: String) {
    let type = columns[entity]?.removeValue(forKey: former)
    columns[entity]?[name] = type
  }

  /// Notes that a constraint or an index of a table is gone.
  mutating func forgetObject(_ name: String, of entity: String) {
    constraints[entity]?.remove(name)
    indexes[name] = nil
  }

  /// Makes indexes: for the other ends of relationships, what the models declare, and for unique texts, which queries
  /// compare otherwise than their constraints do.
  ///
  /// A role that does not own a table goes without those that are missing, until one that does opens the namespace.
  private mutating func bringIndexes(of schema: Schema) throws {
    for entity in schema.entities {
      guard let descriptor = schema.descriptor(named: entity.name) else { continue }
      let table = descriptor.entityName
      let columns = MappedColumn.columns(of: descriptor)
      for property in descriptor.relationships where !property.isToMany && property.inverse != nil {
        let rank = descriptor.rankColumns[property.ordinal].map { columns[$0].name }
        try addInverseIndex(of: property.name, rank: rank, on: table)
      }
      for index in entity.indexedProperties {
        let parts = index.compactMap { name in columns.first { $0.name == name } }
        guard !parts.isEmpty, parts.count == index.count else { continue }
        try addIndex(of: parts, on: table)
        if parts.count == 1, isText(parts[0], of: descriptor) {
          try addTextIndex(of: parts[0].name, on: table)
        }
      }
    }
    for (table, unique) in uniqueColumns(in: schema).sorted(by: { $0.key < $1.key }) {
      for (_, parts) in unique.sorted(by: { $0.key < $1.key })
      where parts.contains(where: { $0.kind == .text }) {
        try addIndex(of: parts, on: table)
      }
    }
  }

  /// Makes the index of columns as queries compare them.
  private mutating func addIndex(of columns: [MappedColumn], on table: String) throws {
    let names = columns.map(\.name)
    let parts = columns.map { SQLColumn.ordered($0.name.quotedName, $0.kind) }
    try addIndex(objectName(table, names, "index"), on: table, names, parts)
  }

  /// Whether a column has texts, and not values of an enumeration or addresses.
  private func isText(_ column: MappedColumn, of descriptor: ModelDescriptor) -> Bool {
    guard column.position < descriptor.properties.count else { return false }
    let type = Swift.type(of: descriptor.properties[column.position].keyPath).valueType
    return type == String.self || type == String?.self
  }

  /// Makes the indexes that find texts by their parts, if the server has trigrams.
  private mutating func addTextIndex(of column: String, on table: String) throws {
    let trigrams = objectName(table, [column], "trigrams")
    guard indexes[trigrams] == nil, !foreignTables.contains(table),
      let operators = try trigramOperators()
    else { return }
    let name = column.quotedName
    let others = objectName(table, [column], "others")
    try change(
      "CREATE INDEX \(trigrams.quotedName) ON \(self.name(table)) "
        + "USING gin ((\(TextIndex.folded(name))) \(operators))",
      "CREATE INDEX \(others.quotedName) ON \(self.name(table)) "
        + "(\(MappedTable.key)) WHERE \(TextIndex.hasOthers(name))"
    )
    for index in [trigrams, others] { note(index, on: table, [column]) }
  }

  /// The operators of an index of trigrams; `nil` if the server lacks the extension and the session's role may not make it.
  private func trigramOperators() throws -> String? {
    let schema = Statement(
      "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
        + "WHERE e.extname = 'pg_trgm'"
    )
    let mayMake = Statement(
      "SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm' "
        + "AND has_database_privilege(current_database(), 'CREATE')"
    )
    var results = try connection.run([schema, mayMake])
    if results[0].rowCount == 0 {
      if results[1].rowCount == 0 { return nil }
      do {
        _ = try connection.run([
          Statement("SAVEPOINT trigrams"), Statement("CREATE EXTENSION IF NOT EXISTS pg_trgm"),
          Statement("RELEASE SAVEPOINT trigrams"),
        ])
      } catch PostgresStoreError.server {
        // No schema where the role may make it, or another session makes it at this moment.
        _ = try connection.run([Statement("ROLLBACK TO SAVEPOINT trigrams")])
      }
      results = try connection.run([schema])
    }
    return results[0].rowCount == 0 ? nil : "\(results[0].text(0, 0)).gin_trgm_ops"
  }

  /// Makes the index that finds the rows at the other end of a to-one relationship.
  ///
  /// - Parameters:
  ///   - property: The relationship, and its column.
  ///   - rank: The column with the places of the rows in the list at the other end.
  ///   - table: The table.
  /// - Throws: ``PostgresStoreError``.
  mutating func addInverseIndex(of property: String, rank: String?, on table: String) throws {
    let columns = [property] + (rank.map { [$0] } ?? [])
    try addIndex(
      objectName(table, [property], "inverse"),
      on: table,
      columns,
      columns.map(\.quotedName)
    )
  }

  private mutating func addIndex(
    _ index: String,
    on table: String,
    _ columns: [String],
    _ parts: [String]
  ) throws {
    guard !foreignTables.contains(table), indexes[index] == nil else { return }
    note(index, on: table, columns)
    try change(
      "CREATE INDEX \(index.quotedName) ON \(name(table)) (\(parts.joined(separator: ", ")))"
    )
  }

  /// Whether a constraint or an index has a name as the store gives them.
  func isOwnObject(_ name: String, of entity: String) -> Bool {
    let start = String(decoding: entity.utf8.filter { $0 < 0x80 }.prefix(36), as: UTF8.self)
    return name.hasPrefix(start)
      && ["_unique", "_index", "_inverse", "_trigrams", "_others"].contains { name.hasSuffix($0) }
  }

  /// Notes that an index of columns has been made.
  mutating func note(_ index: String, on table: String, _ columns: [String]) {
    indexes[index] = StoredIndex(on: table, columns)
  }

  /// The name of a constraint or an index: given in full if it fits, and no other object has it; otherwise cut and told apart
  /// by a number.
  ///
  /// - Parameters:
  ///   - entity: The table.
  ///   - columns: The columns that it is made for.
  ///   - suffix: The kind of object.
  ///   - planned: The objects that will be made, by name.
  /// - Returns: The name.
  func objectName(
    _ entity: String,
    _ columns: [String],
    _ suffix: String,
    besides planned: [String: StoredIndex] = [:]
  ) -> String {
    let whole = "\(entity)_\(columns.joined(separator: "_"))"
    let name =
      whole.utf8.count + suffix.utf8.count + 1 <= 63
      ? "\(whole)_\(suffix)" : shortName(whole, suffix, of: whole)
    let isFree = (indexes[name] ?? planned[name])?.isMade(for: columns, of: entity) ?? true
    return isFree
      ? name : shortName(whole, suffix, of: ([entity] + columns).joined(separator: "\0"))
  }

  private func shortName(_ whole: String, _ suffix: String, of text: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let start = String(decoding: whole.utf8.filter { $0 < 0x80 }.prefix(36), as: UTF8.self)
    return "\(start)_\(String(hash, radix: 36))_\(suffix)"
  }
}

extension Statement {
  /// Waits until no other session makes or changes the tables of a namespace, and keeps others waiting until the
  /// transaction ends.
  static func lock(_ namespace: String) -> Statement {
    Statement("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))") {
      $0.append(StoreCatalogue.lockName(namespace))
    }
  }
}

extension StoreCatalogue {
  /// The text whose hash is the number of the lock of a namespace's tables.
  static func lockName(_ namespace: String) -> String { "logstore " + namespace }
}
#endif
