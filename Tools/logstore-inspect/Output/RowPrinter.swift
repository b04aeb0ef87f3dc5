import Terminal

/// How a dump prints rows.
enum DumpFormat: String, CaseIterable {
  /// A block of lines for each row.
  case text
  /// One array.
  case json
  /// One object a line.
  case ndjson
}

/// Prints rows one after the other in one format.
struct RowPrinter {
  private let format: DumpFormat
  private var isFirst = true

  init(_ format: DumpFormat) { self.format = format }

  func begin(_ output: inout OutputBuffer) {
    if format == .json { output.writeLine("[") }
  }

  mutating func print(
    _ entity: String,
    _ key: UInt64,
    _ cells: [RowDecoder.Cell],
    _ output: inout OutputBuffer
  ) {
    switch format {
    case .text:
      if !isFirst { output.writeLine("") }
      output.writeLine("\(entity)/\(key)")
      let width = cells.map(\.name.count).max() ?? 0
      for cell in cells {
        output.writeLine("  \(cell.name.padding(to: width))  \(cell.value.text)")
      }
    case .json:
      // The comma stands before a row, because none knows whether it is the last.
      output.writeLine((isFirst ? " " : ",") + Self.object(entity, key, cells).text)
    case .ndjson: output.writeLine(Self.object(entity, key, cells).text)
    }
    isFirst = false
  }

  func end(_ output: inout OutputBuffer) {
    if format == .json { output.writeLine("]") }
  }

  private static func object(
    _ entity: String,
    _ key: UInt64,
    _ cells: [RowDecoder.Cell]
  ) -> JSONValue {
    [
      "entity": .string(entity), "key": .unsigned(key),
      "values": .object(cells.map { JSONValue.Member(name: $0.name, value: $0.value.json) }),
    ]
  }
}
