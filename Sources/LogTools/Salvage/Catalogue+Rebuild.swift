import LogFormat

extension Catalogue {
  /// The changes that lead from the empty catalogue to this one, numbers included.
  func changesFromEmpty() -> [CatalogueChange] {
    var changes: [CatalogueChange] = []
    for number in 1..<nextTableNumber {
      guard let table = table(number) else {
        changes += [.addTable(name: "removed \(number)"), .removeTable(number)]
        continue
      }
      // A name must be free when it is given, and an old layout may need a column that is retired by
      // now: so columns get their names last.
      let placeholder = "\u{1}table \(number)"
      changes.append(.addTable(name: placeholder))
      for column in table.columns {
        changes.append(
          .addColumn(
            table: number,
            name: "\u{1}column \(column.number)",
            type: column.type,
            isNullable: column.isNullable
          )
        )
      }
      for layout in table.layouts {
        changes.append(.setLayout(table: number, columns: layout.columns))
      }
      if let current = table.layout(table.currentLayout),
        current.number != table.layouts.last?.number
      {
        changes.append(.setLayout(table: number, columns: current.columns))
      }
      for column in table.columns where column.isRetired {
        changes.append(.renameColumn(table: number, column: column.number, to: column.name))
        changes.append(.retireColumn(table: number, column: column.number))
      }
      for column in table.columns where !column.isRetired {
        changes.append(.renameColumn(table: number, column: column.number, to: column.name))
      }
    }
    for table in tables { changes.append(.renameTable(table.number, to: table.name)) }
    // Derived values have to be computed from the rows that could be read.
    for (key, value) in metadata.sorted(by: { $0.key < $1.key })
    where !key.hasPrefix("derived.") && !RenumberedStore.isNumbered(key) {
      changes.append(.setMetadata(key: key, value: value))
    }
    return changes
  }
}
