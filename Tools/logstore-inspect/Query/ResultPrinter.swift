import Terminal

/// Prints the rows of a result: a table, or lines of names and values, for people, and items for programs.
struct ResultPrinter {
  /// The layout of rows on a screen.
  enum Layout {
    case table
    /// A line for each value, and an empty one between two rows.
    case lines
  }

  private let console: Console
  private let format: OutputFormat
  private let names: [String]
  private var items: ItemPrinter
  /// Rows of a table that is not printed yet: their widths decide those of the columns.
  private var table: TextTable
  private let columns: [TextTable.Column]
  private let layout: Layout
  private var pendingCount = 0
  private(set) var rowCount = 0

  /// Number of rows after which a table is printed, and the next begun.
  private static let tableLimit = 1000

  init(
    _ query: RowQuery,
    _ console: Console,
    _ format: OutputFormat,
    _ layout: Layout = .table,
    header: TableHeader = .shown
  ) {
    self.console = console
    self.layout = layout
    self.format = format
    names = query.outputs.map(\.name)
    columns = query.outputs.map { output in
      let isNumber =
        output.item.function != nil
        || output.column.map { query.reader.kind(of: $0) == .number } ?? true
      let title = header == .shown ? output.name.printable : ""
      return .init(title, isNumber ? .right : .left)
    }
    table = TextTable(columns)
    items = ItemPrinter(
      console,
      format == .text ? .ndjson : format,
      fields: names,
      header: header
    )
  }

  mutating func print(_ cells: [CellValue]) {
    rowCount += 1
    guard format == .text else {
      return items.print(
        .object(zip(names, cells).map { JSONValue.Member(name: $0, value: $1.json) })
      )
    }
    if layout == .lines { return printLines(cells) }
    table.append(cells.map { $0.tableText.beginning })
    pendingCount += 1
    if pendingCount == Self.tableLimit { flush() }
  }

  private mutating func flush() {
    if pendingCount == 0 { return }
    console.print(table)
    table = TextTable(columns)
    pendingCount = 0
  }

  private func printLines(_ cells: [CellValue]) {
    if rowCount > 1 { console.line() }
    let width = names.map(\.printable.displayWidth).max() ?? 0
    for (name, cell) in zip(names, cells) {
      console.line("\(name.printable.leftPadding(to: width)) = \(cell.tableText)")
    }
  }

  /// Ends the result.
  ///
  /// - Parameter remainder: The text about rows that are not shown.
  mutating func end(_ remainder: String? = nil) {
    guard format == .text else {
      items.end()
      return remainder.map { console.notice($0) } ?? ()
    }
    flush()
    let words = [rowCount.counted("row"), remainder].compactMap(\.self)
    console.line(console.styled(words.joined(separator: ", "), .faint))
  }
}

extension CellValue {
  /// The value for people, without quotes around a text.
  fileprivate var tableText: String {
    if case .text(let text) = self { text.printable } else { text }
  }
}

extension String {
  /// Limit of the characters of a value in a table: all rows of a table are as wide as the longest.
  private static let limit = 400

  /// The string, or its beginning if it is longer than a table has room for.
  fileprivate var beginning: String {
    let beginning = unicodeScalars.prefix(Self.limit)
    return beginning.endIndex == endIndex ? self : String(beginning) + "…"
  }
}
