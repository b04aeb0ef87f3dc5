import LogEngine
import RowFormat

/// Reads some columns of the rows of one table, in whatever layout each row was written.
///
/// Column 0 is the row's key; the others are numbered as they were asked for.
struct ColumnReader {
  private struct Column {
    let definition: ColumnDefinition
    /// The value in rows that are older than the column: a row of it alone.
    let fill: [UInt8]?
    let fillLayout: RowLayout
    /// The type of its numbers, if it is known.
    let numbers: NumberType?
  }

  private let store: InspectedStore
  let table: TableDefinition
  private var columns: [Column] = []
  /// The places of the columns, by layout.
  private var places: [LayoutNumber: Places] = [:]
  /// The places in the layout that was prepared for last: that of nearly every row.
  private var current: (number: LayoutNumber, places: Places)?

  private struct Places {
    let layout: RowLayout
    /// The place of each column; `nil` if the layout is older than it.
    let columns: [Int?]
  }

  /// The place of a column's value.
  enum Source {
    case key
    case row(Int, RowLayout)
    /// In a row of it alone.
    case fill([UInt8], RowLayout)
    case nothing
  }

  init(_ table: TableDefinition, of store: InspectedStore) {
    self.table = table
    self.store = store
  }

  /// The number of a column, which is read from now on; `nil` if the table has none of that name.
  mutating func number(ofColumn name: String) -> Int? {
    if table.isKeyName(name) { return 0 }
    if let known = columns.firstIndex(where: { $0.definition.name == name }) { return known + 1 }
    let found = table.columns.first { $0.name == name && !$0.isRetired }
    guard let definition = found ?? table.columns.first(where: { $0.name == name }) else {
      return nil
    }
    columns.append(
      Column(
        definition: definition,
        fill: store.fill(definition, of: table.number),
        fillLayout: RowLayout([definition.type]),
        numbers: store.numberType(of: definition, in: table.number)
      )
    )
    places.removeAll()
    current = nil
    return columns.count
  }

  func name(of number: Int) -> String {
    number == 0 ? table.keyName : columns[number - 1].definition.name
  }

  /// The type of a column; `nil` for the key.
  func type(of number: Int) -> ColumnType? {
    number == 0 ? nil : columns[number - 1].definition.type
  }

  /// Whether the integers of a column have no sign, so that those from 2^63 on are kept as negative ones.
  func isUnsigned(_ number: Int) -> Bool { numbers(number).isUnsignedInFull }

  /// The type of the numbers of a column; `nil` if it is none of numbers, or the store does not say.
  func numbers(_ number: Int) -> NumberType? { number > 0 ? columns[number - 1].numbers : nil }

  /// Prepares for rows of a layout.
  ///
  /// - Returns: `false` if the catalogue does not know it.
  mutating func prepare(_ layout: LayoutNumber) -> Bool {
    if current?.number == layout { return true }
    if let known = places[layout] {
      current = (layout, known)
      return true
    }
    guard let definition = table.layout(layout) else { return false }
    let found = Places(
      layout: definition.layout,
      columns: columns.map { definition.columns.firstIndex(of: $0.definition.number) }
    )
    places[layout] = found
    current = (layout, found)
    return true
  }

  /// The place of a column's value, in rows of the layout that was prepared for last.
  func source(of number: Int) -> Source {
    if number == 0 { return .key }
    guard let current else { return .nothing }
    if let place = current.places.columns[number - 1] { return .row(place, current.places.layout) }
    let column = columns[number - 1]
    return column.fill.map { .fill($0, column.fillLayout) } ?? .nothing
  }

  /// The value of a column; its row's layout was prepared for last.
  func datum(_ number: Int, _ key: UInt64, _ row: RawSpan) -> Datum {
    switch source(of: number) {
    case .key: .integer(Int64(bitPattern: key))
    case .row(let place, let layout): Datum(place, of: row, layout, isUnsigned: isUnsigned(number))
    case .fill(let fill, let layout):
      Datum(0, of: fill.span.bytes, layout, isUnsigned: isUnsigned(number))
    case .nothing: .null
    }
  }

  /// The value of a column as it is shown; its row's layout was prepared for last.
  func cell(
    _ number: Int,
    _ key: UInt64,
    _ row: RawSpan,
    limit: Int = CellValue.prefixByteCount
  ) -> CellValue {
    let name = store.name(ofTable:)
    return switch source(of: number) {
    case .key: .integer(Int64(bitPattern: key))
    case .row(let place, let layout):
      CellValue(
        place,
        of: row,
        layout: layout,
        numbers: numbers(number),
        limit: limit,
        tableName: name
      )
    case .fill(let fill, let layout):
      CellValue(
        0,
        of: fill.span.bytes,
        layout: layout,
        numbers: numbers(number),
        limit: limit,
        tableName: name
      )
    case .nothing: number == 0 ? .null : .null(of: columns[number - 1].definition.type)
    }
  }
}
