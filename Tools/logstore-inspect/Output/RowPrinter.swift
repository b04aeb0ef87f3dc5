import LogEngine
import Terminal

/// Prints rows one after the other in one format.
struct RowPrinter {
  private let console: Console
  private let format: OutputFormat
  /// The name of the key's column in csv.
  private let keyName: String
  private var items: ItemPrinter
  private var isFirst = true

  /// Begins to print.
  ///
  /// - Throws: ``ToolError`` if the rows of several tables are to fit under one header.
  init(
    _ format: OutputFormat,
    of tables: [TableDefinition],
    in store: InspectedStore,
    _ console: Console
  ) throws(ToolError) {
    self.console = console
    self.format = format
    if format == .csv, tables.count > 1 {
      throw ToolError(
        "csv has one header, and entities have different columns",
        expected: "--entity with one of \(tables.map(\.name).joined(separator: ", "))"
      )
    }
    keyName = tables.first?.keyName ?? "key"
    let fields = tables.first.map { store.askableNames(of: $0) } ?? []
    items = ItemPrinter(console, format, fields: fields)
  }

  mutating func print(_ entity: String, _ key: UInt64, _ cells: [RowDecoder.Cell]) {
    defer { isFirst = false }
    let values = cells.map { JSONValue.Member(name: $0.name, value: $0.value.json) }
    switch format {
    case .text:
      if !isFirst { console.line() }
      console.line(console.styled("\(entity.printable)/\(key)", .bold))
      let width = cells.map(\.name.displayWidth).max() ?? 0
      for cell in cells {
        console.line("  \(cell.name.printable.padding(to: width))  \(cell.value.text)")
      }
    case .json, .ndjson:
      items.print(["entity": .string(entity), "key": .unsigned(key), "values": .object(values)])
    case .csv: items.print(.object([.init(name: keyName, value: .unsigned(key))] + values))
    }
  }

  func end() { items.end() }
}
