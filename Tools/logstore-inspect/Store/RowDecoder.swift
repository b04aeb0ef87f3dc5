import LogEngine
import RowFormat

/// Reads the rows of one table, in whatever layout each was written.
struct RowDecoder {
  /// A column of a row and its value.
  typealias Cell = (name: String, value: CellValue)

  private struct Plan {
    let layout: RowLayout
    let columns: [(place: Int, name: String)]
  }

  private let store: InspectedStore
  private let table: TableDefinition
  private var plans: [LayoutNumber: Plan] = [:]

  init(_ table: TableDefinition, in store: InspectedStore) {
    self.store = store
    self.table = table
  }

  /// The shown columns of a row, or `nil` if the catalogue does not know its layout.
  mutating func cells(of row: RawSpan, layout number: LayoutNumber) -> [Cell]? {
    if plans[number] == nil { plans[number] = plan(number) }
    guard let plan = plans[number] else { return nil }
    return plan.columns.map { column in
      let value = CellValue(
        column.place,
        of: row,
        layout: plan.layout,
        tableName: store.name(ofTable:)
      )
      return (column.name, value)
    }
  }

  private func plan(_ number: LayoutNumber) -> Plan? {
    guard let definition = table.layout(number) else { return nil }
    let shown = definition.columns.enumerated().compactMap { place, number in
      table.column(number).flatMap { column in
        store.isShown(column) ? (place: place, name: column.name) : nil
      }
    }
    return Plan(layout: definition.layout, columns: shown)
  }
}
