import LogEngine
import RowFormat

/// Reads some columns of the rows of one table, in whatever layout each row was written.
///
/// Column 0 is the row's key; the others are numbered as they were asked for.
struct ColumnReader {
  private struct Column {
    let definition: ColumnDefinition
    /// What rows have that are older than the column: a row of it alone.
    let fill: [UInt8]?
    let fillLayout: RowLayout
  }

  private let store: InspectedStore
  let table: TableDefinition
  private var columns: [Column] = []
  /// By layout, where the columns stand.
  private var places: [LayoutNumber: (layout: RowLayout, places: [Int?])] = [:]

  init(_ table: TableDefinition, of store: InspectedStore) {
    self.table = table
    self.store = store
  }

  /// The number of a column, which is read from now on; `nil` if the table has none of that name.
  mutating func number(ofColumn name: String) -> Int? {
    if name == "key" { return 0 }
    if let known = columns.firstIndex(where: { $0.definition.name == name }) { return known + 1 }
    let found = table.columns.first { $0.name == name && !$0.isRetired }
    guard let definition = found ?? table.columns.first(where: { $0.name == name }) else {
      return nil
    }
    columns.append(
      Column(
        definition: definition,
        fill: store.fill(definition, of: table.number),
        fillLayout: RowLayout([definition.type])
      )
    )
    places.removeAll()
    return columns.count
  }

  func name(of number: Int) -> String {
    number == 0 ? "key" : columns[number - 1].definition.name
  }

  /// The type of a column; `nil` for the key.
  func type(of number: Int) -> ColumnType? {
    number == 0 ? nil : columns[number - 1].definition.type
  }

  /// Prepares for rows of a layout.
  ///
  /// - Returns: `false` if the catalogue does not know it.
  mutating func prepare(_ layout: LayoutNumber) -> Bool {
    if places[layout] != nil { return true }
    guard let definition = table.layout(layout) else { return false }
    places[layout] = (
      definition.layout,
      columns.map { definition.columns.firstIndex(of: $0.definition.number) }
    )
    return true
  }

  /// The value of a column; its row's layout has been prepared for.
  func datum(_ number: Int, _ key: UInt64, _ layout: LayoutNumber, _ row: RawSpan) -> Datum {
    if number == 0 { return .integer(Int64(bitPattern: key)) }
    let column = columns[number - 1]
    guard let known = places[layout] else { return .null }
    if let place = known.places[number - 1] { return Datum(place, of: row, known.layout) }
    guard let fill = column.fill else { return .null }
    return Datum(0, of: fill.span.bytes, column.fillLayout)
  }

  /// The value of a column as it is shown.
  func cell(
    _ number: Int,
    _ key: UInt64,
    _ layout: LayoutNumber,
    _ row: RawSpan,
    limit: Int = CellValue.prefixByteCount
  ) -> CellValue {
    if number == 0 { return .integer(Int64(bitPattern: key)) }
    let column = columns[number - 1]
    guard let known = places[layout] else { return .null }
    if let place = known.places[number - 1] {
      return CellValue(
        place,
        of: row,
        layout: known.layout,
        limit: limit,
        tableName: store.name(ofTable:)
      )
    }
    guard let fill = column.fill else { return .null(of: column.definition.type) }
    return CellValue(
      0,
      of: fill.span.bytes,
      layout: column.fillLayout,
      limit: limit,
      tableName: store.name(ofTable:)
    )
  }
}
