import LogEngine
import ModelRuntime
import RowFormat

/// Checks that every row must pass before a migration is published, because the catalogue alone cannot ensure them.
struct ValueChecks {
  /// Properties that require a value and may lack one in older rows: tables and columns.
  var mandatory: [(table: UInt16, column: Int)] = []
  /// Values that must differ, and did not have to before.
  var unique: [UniquenessConstraint] = []

  /// Whether there are rows to be checked.
  func concernRows(of engine: StorageEngine, _ catalogue: Catalogue) -> Bool {
    mandatory.contains { engine.rowCount(of: $0.table) > 0 }
      || !unique.isEmpty && catalogue.tables.contains { engine.rowCount(of: $0.number) > 0 }
  }

  /// Looks at the rows.
  ///
  /// - Throws: ``LogStoreError/missingValue(entity:property:key:)`` or
  ///   ``LogStoreError/duplicateValues(entity:properties:keys:)`` for the first that will not do.
  /// - Complexity: O(rows of the tables in question); 12 to 17 bytes a row for each constraint.
  func run(in store: TableStore) throws {
    for (number, column) in mandatory {
      guard let table = store.table(numbered: number) else { continue }
      try checkPresence(of: column, in: table, store)
    }
    for constraint in unique { try checkUniqueness(constraint, store) }
  }

  private func checkPresence(of column: Int, in table: EntityTable, _ store: TableStore) throws {
    try store.engine.scan(table.number) { key, layout, row in
      try table.withCurrentRow(row, layout: layout, key: key) { row in
        guard table.layout.isNull(column, in: row) else { return }
        throw LogStoreError.missingValue(
          entity: table.descriptor.entityName,
          property: table.descriptor.columnName(column),
          key: key
        )
      }
      return .proceed
    }
  }

  private func checkUniqueness(_ constraint: UniquenessConstraint, _ store: TableStore) throws {
    var rows = HashedRows()
    var key: [UInt8] = []
    var other: [UInt8] = []
    for table in store.tables where constraint.covers(table.descriptor) {
      try store.engine.scan(table.number) { rowKey, layout, row in
        try table.withCurrentRow(row, layout: layout, key: rowKey) { row in
          key.removeAll(keepingCapacity: true)
          guard ColumnKey.append(constraint.columns, of: row, table.layout, to: &key) else {
            return
          }
          let hash = ColumnKey.hash(key[...])
          let reference = RowReference(table: table.number, key: rowKey)
          try rows.forEach(hash) { candidate in
            other.removeAll(keepingCapacity: true)
            guard try store.appendKey(of: candidate, constraint.columns, to: &other), other == key
            else { return true }
            throw LogStoreError.duplicateValues(
              entity: constraint.owner.entityName,
              properties: constraint.properties,
              keys: [candidate.key, rowKey]
            )
          }
          rows.insert(reference, hash)
        }
        return .proceed
      }
    }
  }
}
