import Terminal

/// Prints the rows of a result: a table for people, items for programs.
struct ResultPrinter {
  private let console: Console
  private let format: OutputFormat
  private let names: [String]
  private var items: ItemPrinter
  /// Rows of a table that is not printed yet: their widths decide those of the columns.
  private var table: TextTable
  private let columns: [TextTable.Column]
  private var pendingCount = 0
  private var rowCount = 0

  /// After how many rows a table is printed, and the next begun.
  private static let tableLimit = 1000

  init(_ query: RowQuery, _ console: Console, _ format: OutputFormat) {
    self.console = console
    self.format = format
    names = query.outputs.map(\.name)
    columns = query.outputs.map { output in
      let isNumber =
        output.item.function != nil
        || output.column.map { query.reader.kind(of: $0) == .number } ?? true
      return .init(output.name.printable, isNumber ? .right : .left)
    }
    table = TextTable(columns)
    items = ItemPrinter(console, format == .text ? .ndjson : format, fields: names)
  }

  mutating func print(_ cells: [CellValue]) {
    rowCount += 1
    guard format == .text else {
      return items.print(
        .object(zip(names, cells).map { JSONValue.Member(name: $0, value: $1.json) })
      )
    }
    table.append(cells.map(\.tableText))
    pendingCount += 1
    if pendingCount == Self.tableLimit { flush() }
  }

  private mutating func flush() {
    if pendingCount == 0 { return }
    console.print(table)
    table = TextTable(columns)
    pendingCount = 0
  }

  mutating func end() {
    guard format == .text else { return items.end() }
    flush()
    console.line(console.styled(rowCount.counted("row"), .faint))
  }
}

extension CellValue {
  /// The value in a table: a text stands for itself.
  fileprivate var tableText: String {
    if case .text(let text) = self { text.printable } else { text }
  }
}
