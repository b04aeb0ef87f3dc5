import LogEngine
import LogTools
import RowFormat
import Terminal

// Prints the fields of records.
extension FramePrinter {
  mutating func print(
    _ record: RecordDescription,
    _ body: RawSpan,
    of segment: SegmentDescription
  ) throws {
    let columns = columns(of: record, body)
    let entity = name(of: record)
    guard isText else { return items.print(item(record, columns, entity)) }
    var line = place(record.address.offset) + "    " + record.kind.name.padding(to: 18)
    line += "\(record.byteCount)".leftPadding(to: 9) + "  crc \(record.checksum.hexadecimal(8))"
    if record.kind != .catalogue { line += "  \(entity.printable)/\(record.reference.key)" }
    if record.kind == .delta { line += "  depth \(record.chainDepth)" }
    if let previous = record.previous {
      line += "  after \(previous.segment.rawValue):\(previous.offset)"
    }
    if !columns.text.isEmpty { line += "  " + columns.text }
    console.clippedLine(line)
    let range = record.address.offset..<(record.address.offset + record.byteCount)
    try dump(range, of: segment)
  }

  private func name(of record: RecordDescription) -> String {
    store?.name(ofTable: record.reference.table) ?? "table \(record.reference.table)"
  }

  /// The columns of a record, or its changes of the catalogue.
  private mutating func columns(
    of record: RecordDescription,
    _ body: RawSpan
  ) -> (text: String, json: JSONValue) {
    switch record.kind {
    case .delta:
      let found = decoder?.cells(
        ofDelta: body,
        layout: record.layout,
        table: record.reference.table
      )
      guard let (names, cells) = found else { return ("", .null) }
      if cells.isEmpty {
        return (names.map(\.printable).joined(separator: ", "), .array(names.map(JSONValue.string)))
      }
      let text = cells.map { "\($0.name.printable) \($0.value.text)" }.joined(separator: ", ")
      return (text, .object(cells.map { .init(name: $0.name, value: $0.value.json) }))
    case .catalogue:
      let changes = CatalogueChange.list(inRecord: body) ?? []
      let words = changes.map { names.words(for: $0) }
      return (words.joined(separator: "; "), .array(words.map(JSONValue.string)))
    case .insert, .delete, .fullImage: return ("", .null)
    }
  }

  private func item(
    _ record: RecordDescription,
    _ columns: (text: String, json: JSONValue),
    _ entity: String
  ) -> JSONValue {
    let isRow = record.kind != .catalogue
    return [
      "segment": .unsigned(UInt64(record.address.segment.rawValue)),
      "offset": .integer(Int64(record.address.offset)), "what": .string("record"),
      "kind": .string("\(record.kind)"), "bytes": .integer(Int64(record.byteCount)),
      "checksum": .string(record.checksum.hexadecimal(8)),
      "entity": isRow ? .string(entity) : .null,
      "key": isRow ? .unsigned(record.reference.key) : .null,
      "layout": .unsigned(UInt64(record.layout.rawValue)),
      "depth": .integer(Int64(record.chainDepth)),
      "previous": record.previous.map {
        .string("\($0.segment.rawValue):\($0.offset)")
      } ?? .null,
      "columns": columns.json,
    ]
  }
}
