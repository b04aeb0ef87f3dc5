import LogEngine
import RowFormat

/// Reads rows, in whatever layout each was written.
struct RowDecoder {
  /// A column of a row and its value.
  struct Cell: Equatable {
    let name: String
    let value: CellValue
  }

  /// The part of bytes that is shown.
  enum Bytes { case beginning, all }

  /// The columns that are shown of a row: those it was written with, or those its entity has now.
  enum Shape { case asWritten, ofEntity }

  private struct Plan {
    let layout: RowLayout
    let columns: [Column]
  }

  private struct Column {
    /// Its place in the row; `nil` if the row is older than it.
    var place: Int?
    let definition: ColumnDefinition
    /// The type of its numbers, if it is known.
    let numbers: NumberType?
    /// Its value in rows that are older than it.
    var fill = CellValue.null
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
  /// As their entity has them, all rows of a table show the same columns, in the order of the layout in use; one
  /// that is older than a column shows what its store noted for such rows, or null.
  ///
  /// - Parameters:
  ///   - row: The row's bytes.
  ///   - layout: The layout they are in.
  ///   - table: The row's table.
  ///   - changed: Only these columns, by place; all, if `nil`.
  ///   - shape: The columns to show.
  /// - Returns: Their names and values, in the order of the row.
  mutating func cells(
    of row: RawSpan,
    layout: LayoutNumber,
    table: UInt16,
    changed: ColumnSet? = nil,
    as shape: Shape = .asWritten
  ) -> [Cell]? {
    guard let plan = plan(of: table, layout) else { return nil }
    var cells: [Cell] = []
    for column in plan.columns {
      guard let place = column.place else {
        if shape == .ofEntity {
          cells.append(Cell(name: column.definition.name, value: column.fill))
        }
        continue
      }
      guard changed?.contains(place) ?? true else { continue }
      let value = CellValue(
        place,
        of: row,
        layout: plan.layout,
        numbers: column.numbers,
        limit: bytes == .all ? .max : CellValue.prefixByteCount,
        tableName: store.name(ofTable:)
      )
      cells.append(Cell(name: column.definition.name, value: value))
    }
    return cells
  }

  /// The columns a change wrote, by name; `nil` if the catalogue does not know the layout.
  mutating func names(of changed: ColumnSet, layout: LayoutNumber, table: UInt16) -> [String]? {
    plan(of: table, layout)?.columns.filter { $0.place.map(changed.contains) ?? false }
      .map(\.definition.name)
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
    var shown: [Column] = []
    for number in definition.layout(definition.currentLayout)?.columns ?? [] {
      guard let column = definition.column(number), store.isShown(column) else { continue }
      shown.append(
        Column(
          place: order.columns.firstIndex(of: number),
          definition: column,
          numbers: store.numberType(of: column, in: table),
          fill: fill(column, of: table)
        )
      )
    }
    for (place, number) in order.columns.enumerated() {
      guard let column = definition.column(number), store.isShown(column),
        !shown.contains(where: { $0.definition.number == number })
      else { continue }
      shown.append(
        Column(place: place, definition: column, numbers: store.numberType(of: column, in: table))
      )
    }
    let plan = Plan(layout: order.layout, columns: shown)
    plans[key] = plan
    return plan
  }

  /// The value in rows that are older than a column.
  private func fill(_ column: ColumnDefinition, of table: UInt16) -> CellValue {
    let layout = RowLayout([column.type])
    guard let bytes = store.fill(column, of: table) else { return .null(of: column.type) }
    return CellValue(
      0,
      of: bytes.span.bytes,
      layout: layout,
      numbers: store.numberType(of: column, in: table),
      limit: self.bytes == .all ? .max : CellValue.prefixByteCount,
      tableName: store.name(ofTable:)
    )
  }
}

extension InspectedStore {
  /// The value in rows that are older than a column, as a row of that column alone; `nil` for null.
  ///
  /// The layer above notes it under `fill.<table>.<column>`.
  func fill(_ column: ColumnDefinition, of table: UInt16) -> [UInt8]? {
    guard let bytes = catalogue.metadata["fill.\(table).\(column.number)"],
      RowLayout([column.type]).isValid(bytes.span.bytes)
    else { return nil }
    return bytes
  }
}
