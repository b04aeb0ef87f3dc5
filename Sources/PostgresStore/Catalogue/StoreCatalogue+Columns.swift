#if PostgreSQL
import ModelRuntime
import RowFormat

extension StoreCatalogue {
  /// Makes the columns of an existing table those of a class.
  ///
  /// - Parameters:
  ///   - descriptor: The class.
  ///   - schema: Its schema.
  ///   - former: The version that a step of a plan begins with; `nil` if it is not known.
  ///   - typeChange: The action for a column whose type is another one.
  /// - Throws: ``PostgresStoreError``.
  mutating func bringColumns(
    of descriptor: ModelDescriptor,
    in schema: Schema,
    since former: Schema?,
    _ typeChange: TypeChange
  ) throws {
    var former = FormerColumns(of: descriptor.entityName, in: former, metadata)
    let all = MappedColumn.columns(of: descriptor)
    let begun = all.map(\.name).filter(former.beginsAnew)
    try drop(begun, of: descriptor.entityName)
    for name in begun { former.forget(name) }
    former.rename(try rename(columnsOf: descriptor, since: former).map { ($0.old, $0.new) })
    let properties = Properties(in: schema, isWriter: isWritten(by: schema))
    for column in all { try bring(column, of: descriptor, since: &former, typeChange, properties) }
    try noteGone(from: descriptor, since: former)
    try noteProperties(of: descriptor, properties.families, since: former)
  }

  /// The context for comparing the properties of a schema with the stored columns.
  private struct Properties {
    let families: EntityFamilies
    /// Whether the schema is the one that the namespace was written with last.
    let isWriter: Bool

    init(in schema: Schema, isWriter: Bool) {
      families = EntityFamilies(schema)
      self.isWriter = isWriter
    }
  }

  private func isWritten(by schema: Schema) -> Bool {
    metadata["schema.version"].flatMap { StoredSchemaVersion($0) }?.checksum == schema.checksum
  }

  /// Notes what the values of the properties are, with those that rows have from before.
  mutating func noteProperties(
    of descriptor: ModelDescriptor,
    _ families: EntityFamilies,
    since former: FormerColumns
  ) throws {
    var properties = former.properties
    for property in descriptor.properties {
      var values = StoredValues(of: property, in: families)
      if let stored = former.values(property.name), let own = values {
        values = stored.joined(by: own, without: removed)
      }
      properties[property.name] = StoredProperty(property, values)
    }
    let key = StoredProperty.metadataKey(of: descriptor.entityName)
    try set(key, try StoredProperty.text(of: properties))
  }

  private mutating func bring(
    _ column: MappedColumn,
    of descriptor: ModelDescriptor,
    since former: inout FormerColumns,
    _ typeChange: TypeChange,
    _ properties: Properties
  ) throws {
    let entity = descriptor.entityName
    try MappedTable.check(column.name)
    guard columns[entity]?[column.name] != nil else {
      return try add(column, of: descriptor, since: former)
    }
    guard let types = try difference(of: column, of: descriptor, since: former, properties)
    else {
      return try requireValue(of: column, of: descriptor, since: former)
    }
    if try convert(column, of: descriptor, since: former) { return }
    guard typeChange == .replaced || former.letsGo(of: column.name) else {
      throw PostgresStoreError.propertyTypeChanged(
        entity: entity,
        property: column.name,
        stored: types.stored,
        declared: types.declared
      )
    }
    try drop([column.name], of: entity)
    former.forget(column.name)
    try add(column, of: descriptor, since: former)
  }

  /// Drops columns with their dependent objects, and their part of the history.
  private mutating func drop(_ names: [String], of entity: String) throws {
    let names = names.filter { columns[entity]?[$0] != nil }
    if names.isEmpty { return }
    let drops = names.map { "DROP COLUMN \($0.quotedName)" }
    try change("ALTER TABLE \(name(entity)) \(drops.joined(separator: ", "))")
    try changeHistory(of: entity, forgetting: names)
    // Constraints and indexes of the columns went with them.
    _ = try read()
  }

  private mutating func add(
    _ column: MappedColumn,
    of descriptor: ModelDescriptor,
    since former: FormerColumns
  ) throws {
    let entity = descriptor.entityName
    let (table, name) = (name(entity), column.name.quotedName)
    if let old = formerName(of: column, in: descriptor),
      columns[entity]?[old] == column.kind.declaration, !former.gone.contains(old)
    {
      return try rename(Renaming(old: old, new: column.name), of: entity)
    }
    let value = try defaultValue(of: column, in: descriptor)
    if value == nil, needsValue(column, of: descriptor) {
      incomplete.append((entity, column.name))
    }
    // The default stays: programs that are open with models without the property still add rows.
    try change(
      "ALTER TABLE \(table) ADD COLUMN \(name) \(column.kind.declaration)"
        + column.kind.collation + (value.map { " DEFAULT \($0)" } ?? "")
    )
    if column.kind == .external {
      try change("ALTER TABLE \(table) ALTER COLUMN \(name) SET STORAGE EXTERNAL")
    }
    columns[entity]?[column.name] = column.kind.declaration
  }
}

// MARK: Values that there are

extension StoreCatalogue {
  /// The types of the values of a column and of its property; `nil` if they are the same.
  private func difference(
    of column: MappedColumn,
    of descriptor: ModelDescriptor,
    since former: FormerColumns,
    _ properties: Properties
  ) throws -> (stored: String, declared: String)? {
    let stored = columns[descriptor.entityName]?[column.name] ?? ""
    if stored != column.kind.declaration { return (stored, column.kind.declaration) }
    let type = descriptor.layout.types[column.position]
    // A reference and a number, say, are one type to the server.
    if let kept = former.column(column.name)?.type, kept != type,
      Set([kept, type]) != [.bytes, .blob]
    {
      return ("\(kept)", "\(type)")
    }
    guard column.position < descriptor.properties.count else { return nil }
    let property = descriptor.properties[column.position]
    if let values = former.values(column.name) {
      if let change = values.change(to: property, in: properties.families) { return change }
    } else if !properties.isWriter,
      let other = try number(that: property, lacks: column.name, descriptor)
    {
      return other
    }
    guard property.isToMany, let keeping = listKeeping(column.name, since: former),
      keeping.isDerivable != property.isDerivable, try hasRows(descriptor.entityName)
    else { return nil }
    return ("a list \(keeping.words)", "a list \(property.listKeeping)")
  }

  /// The side that stores the membership of a list; `nil` if it is no list, or that is not known.
  private func listKeeping(
    _ name: String,
    since former: FormerColumns
  ) -> (isDerivable: Bool, words: String)? {
    if let old = former.property(name) {
      return old.isToMany ? (old.isDerivable, old.listKeeping) : nil
    }
    guard former.column(name)?.type == .references, let inverse = former.inverse(name) else {
      return nil
    }
    return (inverse == .one, inverse == .one ? "with its members" : "with its owner")
  }

  /// A number in a column that a property cannot have, where the namespace does not say of which type they are.
  private func number(
    that property: ModelProperty,
    lacks column: String,
    _ descriptor: ModelDescriptor
  ) throws -> (stored: String, declared: String)? {
    let values = StoredValues(of: property, in: EntityFamilies(Schema()))
    guard case .numbers(let name)? = values, let range = values?.range else { return nil }
    let (table, column) = (self.name(descriptor.entityName), column.quotedName)
    let others = Statement(
      "SELECT \(column) FROM \(table) WHERE \(column) NOT BETWEEN $1 AND $2 LIMIT 1"
    ) {
      $0.append(range.lowerBound)
      $0.append(range.upperBound)
    }
    let result = try connection.run([others])[0]
    return result.rowCount == 0 ? nil : ("\(result.integer(0, 0)) among its", name)
  }

  private func hasRows(_ entity: String) throws -> Bool {
    try connection.run([Statement("SELECT 1 FROM \(name(entity)) LIMIT 1")])[0].rowCount > 0
  }

  /// Converts the values of a column to the property's type.
  ///
  /// A number may have come from another store, which does not know the class of a composite; a reference can become
  /// the only member of a list.
  ///
  /// - Returns: Whether they could be made.
  private mutating func convert(
    _ column: MappedColumn,
    of descriptor: ModelDescriptor,
    since former: FormerColumns
  ) throws -> Bool {
    let entity = descriptor.entityName
    let (table, name, type) = (name(entity), column.name.quotedName, column.kind.declaration)
    let stored = columns[entity]?[column.name]
    let values: String
    if stored == MappedColumn.Kind.composite.declaration, column.kind == .decimal {
      values = "(\(name) #>> '{}')::\(type)"
    } else if former.column(column.name)?.type == .reference, column.kind == .references,
      descriptor.properties[column.position].inverse == nil
    {
      try dropObjects(of: column.name, in: entity)
      values = "CASE WHEN \(name) IS NOT NULL THEN ARRAY[\(name)] END"
    } else {
      return false
    }
    try change(
      "ALTER TABLE \(table) ALTER COLUMN \(name) DROP DEFAULT",
      "ALTER TABLE \(table) ALTER COLUMN \(name) TYPE \(type) USING \(values)"
    )
    columns[entity]?[column.name] = type
    return true
  }

  /// Gives rows the default of a property that has to have a value, if the models before asked for none.
  ///
  /// If rows lack a value and there is no default, the stage looks for them once its code has run.
  private mutating func requireValue(
    of column: MappedColumn,
    of descriptor: ModelDescriptor,
    since former: FormerColumns
  ) throws {
    let kept = former.column(column.name)
    guard needsValue(column, of: descriptor), kept?.isNullable ?? true else { return }
    let entity = descriptor.entityName
    let (table, name) = (name(entity), column.name.quotedName)
    guard let value = try defaultValue(of: column, in: descriptor) else {
      incomplete.append((entity, column.name))
      return
    }
    if kept == nil, former.isKnown {
      // Programs that are open with the models before still add rows without it.
      try change("ALTER TABLE \(table) ALTER COLUMN \(name) SET DEFAULT \(value)")
    }
    let missing = try connection.run([
      // A row that another session adds meanwhile would not be seen.
      Statement("LOCK TABLE \(table) IN SHARE ROW EXCLUSIVE MODE"),
      Statement("SELECT 1 FROM \(table) WHERE \(name) IS NULL LIMIT 1"),
    ])[1]
    if missing.rowCount == 0 { return }
    // Unique values are compared when their constraint is made again, which names the rows.
    try dropObjects(of: column.name, in: entity)
    try change("UPDATE \(table) SET \(name) = \(value) WHERE \(name) IS NULL")
  }

  /// Whether a column is that of a property that has to have a value.
  private func needsValue(_ column: MappedColumn, of descriptor: ModelDescriptor) -> Bool {
    guard column.position < descriptor.properties.count else { return false }
    let property = descriptor.properties[column.position]
    return !property.isOptional && !property.isToMany
  }

  func formerName(of column: MappedColumn, in descriptor: ModelDescriptor) -> String? {
    if column.position < descriptor.properties.count {
      return descriptor.properties[column.position].originalName
    }
    let owner = descriptor.rankColumns.first { $0.value == column.position }
    return owner.flatMap { descriptor.properties[$0.key].originalName }.map(RankColumn.name)
  }

  /// The default of a property as a constant of SQL; `nil` if it has none.
  private func defaultValue(
    of column: MappedColumn,
    in descriptor: ModelDescriptor
  ) throws -> String? {
    let table = try MappedTable(number: 1, descriptor, namespace: namespace)
    let row = descriptor.defaultRow()
    guard !row.isEmpty else { return nil }
    var value = ArrayParameter(column.kind.parameterType)
    try row.withUnsafeBytes {
      try table.append(column, of: $0.bytes, RowReference(table: 1, key: 0), to: &value)
    }
    let quote = Statement(
      "SELECT quote_literal(($1::\(column.kind.parameterType.array.name))[1]\(column.kind.cast)::text)"
    ) { $0.append(value) }
    return try connection.run([quote])[0].optionalText(0, 0).map {
      "\($0)::\(column.kind.declaration)"
    }
  }
}

// MARK: What steps let go of

extension StoreCatalogue {
  /// Notes the columns that a step lets go of: they are there for an older version that takes the store back, and begin
  /// anew in a later one that has the names.
  private mutating func noteGone(
    from descriptor: ModelDescriptor,
    since former: FormerColumns
  ) throws {
    let entity = descriptor.entityName
    let own = MappedColumn.columns(of: descriptor).map(\.name)
    let gone = former.gone.union(former.names).subtracting(own)
      .intersection((columns[entity] ?? [:]).keys)
    if gone != former.gone { try note(gone: gone, of: entity) }
  }

  private mutating func note(gone: Set<String>, of entity: String) throws {
    try set(FormerColumns.goneKey(of: entity), gone.sorted().joined(separator: "\n"))
  }

  /// Removes the rows of the entities that a step drops, and their part of the history.
  ///
  /// - Complexity: O(changes in the history).
  mutating func removeRows(of step: MigrationStep) throws {
    removed = Set(step.from.entities.map(\.name)).subtracting(step.namesAfterwards)
    for entity in step.from.entities where removed.contains(entity.name) {
      guard let number = numbers[entity.name], let known = columns[entity.name] else { continue }
      let rows = MappedTable.references(of: number)
      if let type = entity.modelType { try clear(referencesTo: rows, of: .of(type), in: step.from) }
      _ = try connection.run([
        Statement("TRUNCATE \(name(entity.name))"),
        Statement("DELETE FROM \(name(HistoryPartitions.parent)) WHERE row BETWEEN $1 AND $2") {
          $0.append(Int64(bitPattern: rows.lowerBound.rawValue))
          $0.append(Int64(bitPattern: rows.upperBound.rawValue))
        },
      ])
      try note(gone: Set(known.keys).subtracting([MappedTable.key]), of: entity.name)
    }
  }

  /// Takes rows that go out of the relationships with an inverse, which lead to rows that there are.
  private func clear(
    referencesTo rows: ClosedRange<RowReference>,
    of removed: ModelDescriptor,
    in schema: Schema
  ) throws {
    for descriptor in schema.descriptors {
      for property in descriptor.relationships
      where property.inverse != nil && !property.isDerivable && property.canLead(to: removed) {
        let column = property.name.quotedName
        var values: [String] = []
        let isConcerned: String
        if property.isToMany {
          values.append(
            "\(column) = (SELECT array_agg(r ORDER BY o) FROM unnest(\(column)) WITH ORDINALITY AS u (r, o) "
              + "WHERE r NOT BETWEEN $1 AND $2)"
          )
          isConcerned = "EXISTS (SELECT 1 FROM unnest(\(column)) AS r WHERE r BETWEEN $1 AND $2)"
        } else {
          guard property.isOptional else { continue }
          values.append("\(column) = NULL")
          if let rank = descriptor.rankColumns[property.ordinal] {
            values.append("\(descriptor.columnName(rank).quotedName) = NULL")
          }
          isConcerned = "\(column) BETWEEN $1 AND $2"
        }
        let clearing = Statement(
          "UPDATE \(name(descriptor.entityName)) SET \(values.joined(separator: ", ")) WHERE \(isConcerned)"
        ) {
          $0.append(Int64(bitPattern: rows.lowerBound.rawValue))
          $0.append(Int64(bitPattern: rows.upperBound.rawValue))
        }
        _ = try connection.run([clearing])
      }
    }
  }
}
#endif
