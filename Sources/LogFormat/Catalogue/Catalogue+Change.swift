import RowFormat

extension Catalogue {
  static let nameLimit = 1024
  static let metadataLimit = 64 << 20

  /// Applies one step; on an error the catalogue is unchanged.
  package mutating func apply(_ change: CatalogueChange) throws(StorageError) {
    switch change {
    case .addTable(let name): try addTable(name)
    case .renameTable(let number, let name):
      let position = try self.position(ofTable: number)
      if tables[position].name == name { return }
      try checkTableName(name)
      tables[position].name = name
    case .removeTable(let number):
      tables.remove(at: try position(ofTable: number))
    case .addColumn(let table, let name, let type, let isNullable):
      try addColumn(to: table, name, type, isNullable)
    case .renameColumn(let table, let column, let name):
      let position = try self.position(ofTable: table)
      let index = try index(ofColumn: column, in: position)
      if tables[position].columns[index].name == name { return }
      try checkColumnName(name, in: position)
      tables[position].columns[index].name = name
    case .retireColumn(let table, let column):
      let position = try self.position(ofTable: table)
      tables[position].columns[try index(ofColumn: column, in: position)].isRetired = true
    case .setLayout(let table, let columns): try setLayout(of: table, columns)
    case .setMetadata(let key, let value):
      try checkName(key)
      guard value.count <= Catalogue.metadataLimit else {
        let limit = Catalogue.metadataLimit
        throw .invalidCatalogueChange(.valueTooLarge(byteCount: value.count, limit: limit))
      }
      metadata[key] = value.isEmpty ? nil : value
    }
  }

  private mutating func addTable(_ name: String) throws(StorageError) {
    try checkTableName(name)
    guard nextTableNumber <= Int16.max else { throw .invalidCatalogueChange(.tooManyTables) }
    tables.append(TableDefinition(number: nextTableNumber, name: name))
    nextTableNumber += 1
  }

  private mutating func addColumn(
    to table: UInt16,
    _ name: String,
    _ type: ColumnType,
    _ isNullable: Bool
  ) throws(StorageError) {
    let position = try self.position(ofTable: table)
    try checkColumnName(name, in: position)
    let number = tables[position].nextColumnNumber
    guard number < Int16.max else { throw .invalidCatalogueChange(.tooManyColumns(table: table)) }
    tables[position].columns.append(
      ColumnDefinition(number: number, name: name, type: type, isNullable: isNullable)
    )
  }

  private mutating func setLayout(of table: UInt16, _ columns: [UInt16]) throws(StorageError) {
    let position = try self.position(ofTable: table)
    var seen: Set<UInt16> = []
    var types: [ColumnType] = []
    for column in columns {
      let definition = tables[position].columns[try index(ofColumn: column, in: position)]
      guard !definition.isRetired else {
        throw .invalidCatalogueChange(.retiredColumn(table: table, column: column))
      }
      guard seen.insert(column).inserted else {
        throw .invalidCatalogueChange(.repeatedColumn(table: table, column: column))
      }
      types.append(definition.type)
    }
    if let known = tables[position].layouts.first(where: { $0.columns == columns }) {
      tables[position].currentLayout = known.number
      return
    }
    guard tables[position].layouts.count < Int16.max else {
      throw .invalidCatalogueChange(.tooManyLayouts(table: table))
    }
    let number = LayoutNumber(UInt16(tables[position].layouts.count + 1))
    tables[position].layouts.append(
      LayoutDefinition(number: number, columns: columns, layout: RowLayout(types))
    )
    tables[position].currentLayout = number
  }
}

// MARK: Checks

extension Catalogue {
  private func position(ofTable number: UInt16) throws(StorageError) -> Int {
    guard let position = position(of: number) else {
      throw .invalidCatalogueChange(.unknownTable(number))
    }
    return position
  }

  private func index(ofColumn column: UInt16, in position: Int) throws(StorageError) -> Int {
    let index = Int(column) - 1
    guard tables[position].columns.indices.contains(index) else {
      let table = tables[position].number
      throw .invalidCatalogueChange(.unknownColumn(table: table, column: column))
    }
    return index
  }

  private func checkTableName(_ name: String) throws(StorageError) {
    try checkName(name)
    guard table(named: name) == nil else {
      throw .invalidCatalogueChange(.tableExists(name: name))
    }
  }

  private func checkColumnName(_ name: String, in position: Int) throws(StorageError) {
    try checkName(name)
    guard tables[position].column(named: name) == nil else {
      let table = tables[position].number
      throw .invalidCatalogueChange(.columnExists(table: table, name: name))
    }
  }

  private func checkName(_ name: String) throws(StorageError) {
    guard !name.isEmpty else { throw .invalidCatalogueChange(.emptyName) }
    guard name.utf8.count <= Catalogue.nameLimit else {
      throw .invalidCatalogueChange(.nameTooLong(byteCount: name.utf8.count))
    }
  }
}
