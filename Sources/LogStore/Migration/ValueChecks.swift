import LogEngine
import ModelRuntime
import RowFormat

/// Checks that every row must pass before a migration is published, because the catalogue alone cannot ensure them.
struct ValueChecks {
  /// Properties that require a value and may lack one in older rows: tables and columns.
  var mandatory: [(table: UInt16, column: Int)] = []
  /// Values that must differ, and did not have to before.
  var unique: [UniquenessConstraint] = []

  /// Relationships, some of whose references may lead to rows of classes that they cannot lead to any more, and only because
  /// of these: tables and columns.
  var narrowed: [(table: UInt16, column: Int)] = []

  /// Columns of which a store does not say what they hold, numbers perhaps that a property cannot have.
  ///
  /// Tables, and columns by number. Of no concern if the models are those that wrote the store.
  var numbers: [(table: UInt16, column: UInt16, property: ModelProperty, values: StoredValues)] = []

  /// Whether there are rows to be checked.
  func concernRows(of engine: StorageEngine, _ catalogue: Catalogue) -> Bool {
    (mandatory + narrowed).contains { engine.rowCount(of: $0.table) > 0 }
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

  /// Looks at numbers, in rows as they are.
  ///
  /// - Throws: ``LogStoreError/propertyTypeChanged(entity:property:stored:declared:)`` for the first that the property does not
  ///   have.
  /// - Complexity: O(rows of the tables in question).
  func compareNumbers(in engine: StorageEngine) throws {
    for (number, column, property, values) in numbers {
      guard case .numbers(let name) = values, let range = values.range,
        let table = engine.catalogue.table(number), let definition = table.column(column)
      else { continue }
      // Rows that are older than the column have their value in a retired one of its name.
      let columns = Set(
        table.columns.filter {
          $0.number == column
            || $0.isRetired && $0.name == definition.name && $0.type == definition.type
        }.map(\.number)
      )
      let places = Dictionary(
        uniqueKeysWithValues: table.layouts.indices.map { index in
          (
            LayoutNumber(UInt16(index + 1)),
            table.layouts[index].columns.firstIndex(where: columns.contains)
          )
        }
      )
      try engine.scan(number) { _, layoutNumber, row in
        guard case let place?? = places[layoutNumber],
          let layout = table.layout(layoutNumber)?.layout, !layout.isNull(place, in: row)
        else { return .proceed }
        let number = layout.integer(place, in: row)
        if range.contains(number) { return .proceed }
        throw LogStoreError.propertyTypeChanged(
          entity: table.name,
          property: property.name,
          stored: "\(number) among its",
          declared: name
        )
      }
    }
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
