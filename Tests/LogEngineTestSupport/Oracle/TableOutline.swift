package import LogEngine
package import RowFormat

/// What a catalogue says of a table, worked out without the engine.
package struct TableOutline: Hashable, Sendable {
  package var number: UInt16
  package var name: String
  package var columns: [Column] = []
  package var layouts: [[UInt16]] = []
  package var currentLayout: LayoutNumber = .none

  package struct Column: Hashable, Sendable {
    package var name: String
    package var type: ColumnType
    package var isNullable: Bool
    package var isRetired = false
  }

  /// What the engine's catalogue says.
  package init(_ table: TableDefinition) {
    number = table.number
    name = table.name
    columns = table.columns.map {
      Column(name: $0.name, type: $0.type, isNullable: $0.isNullable, isRetired: $0.isRetired)
    }
    layouts = table.layouts.map(\.columns)
    currentLayout = table.currentLayout
  }

  package init(number: UInt16, name: String) {
    self.number = number
    self.name = name
  }

  /// Where the columns of a layout stand in a row.
  package func rowLayout(_ number: LayoutNumber) -> RowLayout {
    RowLayout(layouts[Int(number.rawValue) - 1].map { columns[Int($0) - 1].type })
  }
}

extension StoreContent {
  /// Makes one change of the catalogue, which must be a right one.
  package mutating func apply(_ change: CatalogueChange) {
    func index(_ table: UInt16) -> Int { tables.firstIndex { $0.number == table } ?? 0 }
    switch change {
    case .addTable(let name):
      tables.append(TableOutline(number: nextTable, name: name))
      nextTable += 1
    case .renameTable(let table, let name): tables[index(table)].name = name
    case .removeTable(let table):
      tables.remove(at: index(table))
      for reference in references(in: table) { rows[reference] = nil }
    case .addColumn(let table, let name, let type, let isNullable):
      tables[index(table)].columns.append(
        TableOutline.Column(name: name, type: type, isNullable: isNullable)
      )
    case .renameColumn(let table, let column, let name):
      tables[index(table)].columns[Int(column) - 1].name = name
    case .retireColumn(let table, let column):
      tables[index(table)].columns[Int(column) - 1].isRetired = true
    case .setLayout(let table, let columns):
      let outline = tables[index(table)]
      if let known = outline.layouts.firstIndex(of: columns) {
        tables[index(table)].currentLayout = LayoutNumber(UInt16(known + 1))
      } else {
        tables[index(table)].layouts.append(columns)
        tables[index(table)].currentLayout = LayoutNumber(UInt16(outline.layouts.count + 1))
      }
    case .setMetadata: break
    }
  }
}
