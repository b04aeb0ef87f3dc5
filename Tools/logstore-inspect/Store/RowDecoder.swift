import LogEngine
import RowFormat

/// Reads rows, in whatever layout each was written.
struct RowDecoder {
  /// A column of a row and its value.
  struct Cell: Equatable {
    let name: String
    let value: CellValue
  }

  /// How much is shown of bytes.
  enum Bytes { case beginning, all }

  private struct Plan {
    let layout: RowLayout
    let columns: [(place: Int, definition: ColumnDefinition)]
  }

  private struct PlanKey: Hashable {
    let table: UInt16
    let layout: LayoutNumber
  }

  private let store: InspectedStore
  private let bytes: Bytes
  private var plans: [PlanKey: Plan] = [:]

  init(of store: InspectedStore, bytes: Bytes = .beginning) {
    self.store = store
    self.bytes = bytes
  }

  /// The shown columns of a row, or `nil` if the catalogue does not know its layout.
  ///
  /// - Parameters:
  ///   - row: The row's bytes.
  ///   - layout: The layout they are in.
  ///   - table: The row's table.
  ///   - changed: Only these columns, by place; all, if `nil`.
  /// - Returns: Their names and values, in the order of the row.
  mutating func cells(
    of row: RawSpan,
    layout: LayoutNumber,
    table: UInt16,
    changed: ColumnSet? = nil
  ) -> [Cell]? {
    guard let plan = plan(of: table, layout) else { return nil }
    var cells: [Cell] = []
    for column in plan.columns where changed?.contains(column.place) ?? true {
      let value = CellValue(
        column.place,
        of: row,
        layout: plan.layout,
        limit: bytes == .all ? .max : CellValue.prefixByteCount,
        tableName: store.name(ofTable:)
      )
      cells.append(Cell(name: column.definition.name, value: value))
    }
    return cells
  }

  /// The columns a change wrote, by name; `nil` if the catalogue does not know the layout.
  mutating func names(of changed: ColumnSet, layout: LayoutNumber, table: UInt16) -> [String]? {
    plan(of: table, layout)?.columns.filter { changed.contains($0.place) }.map(\.definition.name)
  }

  /// The layout rows of a table were written in, with its number.
  func layout(_ number: LayoutNumber, of table: UInt16) -> RowLayout? {
    store.catalogue.table(table)?.layout(number)?.layout
  }

  private mutating func plan(of table: UInt16, _ layout: LayoutNumber) -> Plan? {
    let key = PlanKey(table: table, layout: layout)
    if let plan = plans[key] { return plan }
    guard let definition = store.catalogue.table(table),
      let order = definition.layout(layout)
    else { return nil }
    let shown = order.columns.enumerated().compactMap { place, number in
      definition.column(number).flatMap { column in
        store.isShown(column) ? (place: place, definition: column) : nil
      }
    }
    let plan = Plan(layout: order.layout, columns: shown)
    plans[key] = plan
    return plan
  }
}
