#if PostgreSQL
import ModelRuntime
import RowFormat

// The unique constraints of the tables.

extension StoreCatalogue {
  /// The unique constraints of a schema: the columns of each, by table and name.
  func uniqueColumns(in schema: Schema) -> [String: [String: [MappedColumn]]] {
    var wanted: [String: [String: [MappedColumn]]] = [:]
    var planned: [String: StoredIndex] = [:]
    for constraint in UniquenessConstraint.all(in: schema) {
      for descriptor in schema.descriptors {
        guard constraint.covers(descriptor) else { continue }
        let all = MappedColumn.columns(of: descriptor)
        let columns = constraint.columns.map { all[$0] }
        let (entity, names) = (descriptor.entityName, columns.map(\.name))
        let name = objectName(entity, names, "unique", besides: planned)
        planned[name] = StoredIndex(on: entity, names)
        wanted[entity, default: [:]][name] = columns
      }
    }
    return wanted
  }

  mutating func dropConstraints(notIn schema: Schema) throws {
    let wanted = uniqueColumns(in: schema)
    for entity in schema.descriptors.map(\.entityName) {
      let former = (constraints[entity] ?? []).subtracting((wanted[entity] ?? [:]).keys)
      for constraint in former.sorted() where constraint.hasSuffix("_unique") {
        try change("ALTER TABLE \(name(entity)) DROP CONSTRAINT \(constraint.quotedName)")
        forgetObject(constraint, of: entity)
      }
    }
  }

  /// Makes unique constraints, checked when a transaction ends: values may change hands within one.
  ///
  /// - Parameters:
  ///   - schema: The schema.
  ///   - former: The version that a step of a plan begins with; `nil` where it is not known.
  /// - Throws: ``PostgresStoreError/duplicateValues(entity:properties:keys:)``.
  mutating func addConstraints(of schema: Schema, since former: Schema? = nil) throws {
    for constraint in UniquenessConstraint.all(in: schema) {
      try compareClasses(of: constraint, in: schema, since: former)
    }
    for (entity, wanted) in uniqueColumns(in: schema).sorted(by: { $0.key < $1.key }) {
      let present = constraints[entity] ?? []
      for (constraint, columns) in wanted.sorted(by: { $0.key < $1.key })
      where !present.contains(constraint) {
        try addConstraint(constraint, on: entity, columns.map(\.name))
        constraints[entity, default: []].insert(constraint)
        note(constraint, on: entity, columns.map(\.name))
      }
    }
  }

  private mutating func addConstraint(
    _ constraint: String,
    on entity: String,
    _ columns: [String]
  ) throws {
    let list = columns.map(\.quotedName).joined(separator: ", ")
    let addition = Statement(
      "ALTER TABLE \(name(entity)) ADD CONSTRAINT \(constraint.quotedName) UNIQUE (\(list)) "
        + "DEFERRABLE INITIALLY DEFERRED"
    )
    do {
      _ = try connection.run([
        Statement("SAVEPOINT unique_values"), addition,
        Statement("RELEASE SAVEPOINT unique_values"),
      ])
    } catch PostgresStoreError.server(let error) where error.state == SQLState.uniqueViolation {
      let present = columns.map { "\($0.quotedName) IS NOT NULL" }.joined(separator: " AND ")
      _ = try connection.run([Statement("ROLLBACK TO SAVEPOINT unique_values")])
      try compare("SELECT * FROM \(name(entity)) WHERE \(present)", entity, columns)
      throw PostgresStoreError.server(error)
    }
  }

  /// Compares the rows of a class with those of its subclasses, for a constraint that some of them do not have yet: the
  /// server's constraints cover one table each.
  ///
  /// - Complexity: O(rows), unless the tables that lack the constraint are empty.
  private func compareClasses(
    of constraint: UniquenessConstraint,
    in schema: Schema,
    since former: Schema?
  ) throws {
    let classes = schema.descriptors.filter(constraint.covers)
    let columns = constraint.columns.map(constraint.owner.columnName)
    // A class with a constraint of its own may have become a subclass.
    let before = former.map { former in
      Set(
        UniquenessConstraint.all(in: former).filter {
          $0.owner.entityName == constraint.owner.entityName
            && $0.properties == constraint.properties
        }.flatMap { constraint in
          former.descriptors.filter(constraint.covers).map(\.entityName)
        }
      )
    }
    let lacking = classes.map(\.entityName).filter { entity in
      constraints[entity]?.contains(objectName(entity, columns, "unique")) != true
        || before?.contains(entity) == false
    }
    if classes.count == 1 || lacking.isEmpty { return }
    let owner = MappedColumn.columns(of: constraint.owner)
    let isKey = constraint.columns.map { column in
      let name = owner[column].name.quotedName
      // Nothing is equal to what is not a number.
      return owner[column].kind == .double ? "\(name) <> 'NaN'" : "\(name) IS NOT NULL"
    }
    let list = ([MappedTable.key] + columns.map(\.quotedName)).joined(separator: ", ")
    let rows = classes.map { "SELECT \(list) FROM \(name($0.entityName))" }
    let matters = lacking.map { "EXISTS (SELECT 1 FROM \(name($0)))" }
    try compare(
      "SELECT * FROM (\(rows.joined(separator: " UNION ALL "))) AS r "
        + "WHERE \(isKey.joined(separator: " AND ")) AND (\(matters.joined(separator: " OR ")))",
      constraint.owner.entityName,
      columns
    )
  }

  /// Throws an error that names two rows with the same values, if there are any.
  private func compare(_ rows: String, _ entity: String, _ columns: [String]) throws {
    let list = columns.map(\.quotedName).joined(separator: ", ")
    let pair = try connection.run([
      Statement(
        "SELECT min(\(MappedTable.key)), max(\(MappedTable.key)) FROM (\(rows)) AS k "
          + "GROUP BY \(list) HAVING count(*) > 1 ORDER BY 1 LIMIT 1"
      )
    ])[0]
    guard pair.rowCount == 1 else { return }
    throw PostgresStoreError.duplicateValues(
      entity: entity,
      properties: columns,
      keys: [0, 1].map { RowReference(rawValue: UInt64(bitPattern: pair.integer(0, $0))).key }
    )
  }
}
#endif
