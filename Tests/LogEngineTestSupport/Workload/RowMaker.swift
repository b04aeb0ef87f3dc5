import LogEngine
import RowFormat

/// Makes rows and changes of rows by lot.
struct RowMaker {
  var random: SeededGenerator

  /// A row in a table's current layout.
  mutating func makeRow(in table: TableOutline, textByteCount: Int) -> StoredRow {
    let layout = table.rowLayout(table.currentLayout)
    var writer = RowWriter()
    writer.begin(layout)
    for column in layout.types.indices {
      set(column, layout.types[column], textByteCount: textByteCount, in: &writer)
    }
    return finish(&writer, table)
  }

  /// A row that differs from another in one or two columns; in a new layout, in all that are new.
  mutating func makeRow(
    changing row: StoredRow,
    in table: TableOutline,
    textByteCount: Int
  ) -> (row: StoredRow, changed: ColumnSet) {
    let layout = table.rowLayout(table.currentLayout)
    let old = table.rowLayout(row.layout)
    let columns = table.layouts[Int(table.currentLayout.rawValue) - 1]
    let oldColumns = table.layouts[Int(row.layout.rawValue) - 1]
    var changed = ColumnSet()
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      if let column = layout.types.indices.randomElement(using: &random) { changed.insert(column) }
    }
    var writer = RowWriter()
    writer.begin(layout)
    for (column, type) in layout.types.enumerated() {
      if !changed.contains(column), let source = oldColumns.firstIndex(of: columns[column]) {
        writer.copy(column, from: row.bytes.span.bytes, column: source, layout: old)
      } else {
        changed.insert(column)
        set(column, type, textByteCount: textByteCount, in: &writer)
      }
    }
    return (finish(&writer, table), changed)
  }

  private func finish(_ writer: inout RowWriter, _ table: TableOutline) -> StoredRow {
    let range = writer.finish()
    let bytes = writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
    return StoredRow(layout: table.currentLayout, bytes: bytes)
  }

  private mutating func set(
    _ column: Int,
    _ type: ColumnType,
    textByteCount: Int,
    in writer: inout RowWriter
  ) {
    if random.oneIn(10) { return }
    switch type {
    case .integer: writer.set(column, integer: Int64(bitPattern: random.next()))
    case .double, .date: writer.set(column, double: Double(random.next() >> 12))
    case .bool: writer.set(column, bool: random.oneIn(2))
    case .uuid: writer.set(column, uuid: (random.next(), random.next()))
    case .reference: writer.set(column, reference: RowReference(table: 1, key: random.next() >> 40))
    case .references:
      let count = Int.random(in: 0...20, using: &random)
      writer.append(
        column,
        references: (0..<count).map { RowReference(table: 2, key: UInt64($0) + 1) }
      )
    case .text, .bytes, .structured, .blob:
      let count = Int.random(in: 0...textByteCount, using: &random)
      let letter = UInt8.random(in: 97...122, using: &random)
      writer.append(column, bytes: [UInt8](repeating: letter, count: count).span.bytes)
    }
  }
}
