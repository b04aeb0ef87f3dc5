import RowFormat

extension Catalogue {
  /// Returns the catalogue after some changes.
  ///
  /// - Throws: ``StorageError/invalidCatalogueChange(_:)`` for a change that contradicts it.
  func applying(_ changes: [CatalogueChange]) throws(StorageError) -> Catalogue {
    var copy = self
    for change in changes { try copy.apply(change) }
    return copy
  }

  private mutating func apply(_ change: CatalogueChange) throws(StorageError) {
    switch change {
    case .addTable(let name): try addTable(name)
    case .renameTable(let table, let name):
      let position = try require(table)
      try checkTableName(name)
      tables[position].name = name
    case .removeTable(let table): tables.remove(at: try require(table))
    case .addColumn(let table, let name, let type, let isNullable):
      let position = try require(table)
      try checkColumnName(name, in: position)
      guard tables[position].columns.count < Int(UInt16.max) - 1 else {
        throw .invalidCatalogueChange(.tooManyColumns(table: table))
      }
      tables[position].columns.append(
        ColumnDefinition(
          number: tables[position].nextColumnNumber,
          name: name,
          type: type,
          isNullable: isNullable
        )
      )
    case .renameColumn(let table, let column, let name):
      let position = try require(table)
      let index = try requireColumn(column, in: position)
      try checkColumnName(name, in: position)
      tables[position].columns[index].name = name
    case .retireColumn(let table, let column):
      let position = try require(table)
      tables[position].columns[try requireColumn(column, in: position)].isRetired = true
    case .setLayout(let table, let columns): try setLayout(columns, of: try require(table))
    case .setMetadata(let key, let value): metadata[key] = value.isEmpty ? nil : value
    }
  }

  private mutating func addTable(_ name: String) throws(StorageError) {
    try checkTableName(name)
    guard nextTableNumber < 0x8000 else { throw .invalidCatalogueChange(.tooManyTables) }
    tables.append(TableDefinition(number: nextTableNumber, name: name))
    nextTableNumber += 1
  }

  private mutating func setLayout(_ columns: [UInt16], of position: Int) throws(StorageError) {
    let table = tables[position]
    guard Set(columns).count == columns.count else {
      throw .invalidCatalogueChange(
        .repeatedColumn(table: table.number, column: columns.first ?? 0)
      )
    }
    var types: [ColumnType] = []
    for column in columns {
      types.append(table.columns[try requireColumn(column, in: position)].type)
    }
    if let known = table.layouts.first(where: { $0.columns == columns }) {
      tables[position].currentLayout = known.number
      return
    }
    guard table.layouts.count < Int(UInt16.max) - 1 else {
      throw .invalidCatalogueChange(.tooManyLayouts(table: table.number))
    }
    let number = LayoutNumber(UInt16(table.layouts.count + 1))
    tables[position].layouts.append(
      LayoutDefinition(number: number, columns: columns, layout: RowLayout(types))
    )
    tables[position].currentLayout = number
  }

  private func require(_ table: UInt16) throws(StorageError) -> Int {
    guard let position = position(of: table) else {
      throw .invalidCatalogueChange(.unknownTable(table))
    }
    return position
  }

  private func requireColumn(_ column: UInt16, in position: Int) throws(StorageError) -> Int {
    let table = tables[position]
    guard let found = table.column(column) else {
      throw .invalidCatalogueChange(.unknownColumn(table: table.number, column: column))
    }
    guard !found.isRetired else {
      throw .invalidCatalogueChange(.retiredColumn(table: table.number, column: column))
    }
    return Int(column) - 1
  }

  private func checkTableName(_ name: String) throws(StorageError) {
    try checkName(name)
    if table(named: name) != nil { throw .invalidCatalogueChange(.tableExists(name: name)) }
  }

  private func checkColumnName(_ name: String, in position: Int) throws(StorageError) {
    try checkName(name)
    if tables[position].column(named: name) != nil {
      throw .invalidCatalogueChange(.columnExists(table: tables[position].number, name: name))
    }
  }

  private func checkName(_ name: String) throws(StorageError) {
    if name.isEmpty { throw .invalidCatalogueChange(.emptyName) }
    if name.utf8.count > 1024 {
      throw .invalidCatalogueChange(.nameTooLong(byteCount: name.utf8.count))
    }
  }
}
