package import LogEngine
import RowFormat

extension Workload {
  /// Two tables that between them have a column of each kind.
  package static let firstTables: [CatalogueChange] =
    [.addTable(name: "Trip")]
    + columns(of: 1, [.integer, .text, .references, .bool, .date])
    + [.addTable(name: "Stop")]
    + columns(of: 2, [.double, .bytes, .text, .uuid, .reference, .integer])

  private static func columns(of table: UInt16, _ types: [ColumnType]) -> [CatalogueChange] {
    types.enumerated().map { index, type in
      .addColumn(table: table, name: "c\(index)", type: type, isNullable: true)
    } + [.setLayout(table: table, columns: Array(1...UInt16(types.count)))]
  }
}

extension StoreContent {
  func makeChanges(
    _ step: Workload.CatalogueStep,
    of table: TableOutline,
    using random: inout SeededGenerator
  ) -> [CatalogueChange] {
    let current = table.layouts.isEmpty ? [] : table.layouts[Int(table.currentLayout.rawValue) - 1]
    let name = String(random.next(), radix: 36)
    switch step {
    case .addColumn:
      let type = [ColumnType.integer, .text, .bool].randomElement(using: &random) ?? .integer
      let column = UInt16(table.columns.count + 1)
      return [
        .addColumn(table: table.number, name: name, type: type, isNullable: true),
        .setLayout(table: table.number, columns: current + [column]),
      ]
    case .renameColumn:
      guard let column = current.randomElement(using: &random) else { return [] }
      return [.renameColumn(table: table.number, column: column, to: name)]
    case .retireColumn:
      guard current.count > 2, let column = current.randomElement(using: &random) else { return [] }
      return [
        .setLayout(table: table.number, columns: current.filter { $0 != column }),
        .retireColumn(table: table.number, column: column),
      ]
    case .addTable:
      return [
        .addTable(name: name),
        .addColumn(table: nextTable, name: "c", type: .text, isNullable: true),
        .setLayout(table: nextTable, columns: [1]),
      ]
    case .renameTable: return [.renameTable(table.number, to: name)]
    case .removeTable: return tables.count > 3 ? [.removeTable(table.number)] : []
    }
  }
}
