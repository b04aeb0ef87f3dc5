import LogEngine
import RowFormat

/// Everything a store holds, as text: what a fixture is compared with.
enum RowListing {
  static func text(of engine: StorageEngine) throws -> String {
    var lines = ["commits \(engine.lastCommit.rawValue)"]
    let catalogue = engine.catalogue
    for (key, value) in catalogue.metadata.sorted(by: { $0.key < $1.key }) {
      lines.append("metadata \(key) \(FileListing.hexadecimal(value))")
    }
    for table in catalogue.tables {
      lines.append("table \(table.number) \(table.name), layout \(table.currentLayout.rawValue)")
      for column in table.columns {
        lines.append(
          "  column \(column.number) \(column.name): \(column.type)"
            + (column.isNullable ? ", nullable" : "") + (column.isRetired ? ", retired" : "")
        )
      }
      try engine.scan(table.number) { key, layout, row in
        lines.append("  row \(key), layout \(layout.rawValue)")
        guard let definition = table.layout(layout) else { return .proceed }
        for (position, column) in definition.columns.enumerated() {
          var value = self.text(position, definition.layout, row)
          if let blob = definition.layout.blob(position, in: row)?.reference {
            value += ", the side file \(try self.text(of: blob, engine))"
          }
          lines.append("    \(column): \(value)")
        }
        return .proceed
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func text(of blob: BlobReference, _ engine: StorageEngine) throws -> String {
    let bytes = try engine.openBlob(blob).withBytes { $0.withUnsafeBytes { Array($0) } }
    let isOfOneByte = bytes.allSatisfy { $0 == bytes.first }
    return isOfOneByte
      ? "\(bytes.count) times \(FileListing.hexadecimal(bytes.prefix(1)))"
      : FileListing.hexadecimal(bytes)
  }

  private static func text(_ column: Int, _ layout: RowLayout, _ row: RawSpan) -> String {
    if layout.isNull(column, in: row) { return "null" }
    let width = layout.types[column].fixedWidth
    let start = width > 0 ? layout.offset(of: column) : 0
    let range = width > 0 ? start..<(start + width) : layout.range(column, in: row)
    let bytes = range.map { row.load(UInt8.self, at: $0) }
    if bytes.count > 16, let first = bytes.first, bytes.allSatisfy({ $0 == first }) {
      return "\(bytes.count) times \(FileListing.hexadecimal([first]))"
    }
    return bytes.isEmpty ? "empty" : FileListing.hexadecimal(bytes)
  }
}
