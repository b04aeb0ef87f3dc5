import LogEngine
import RowFormat
import Terminal

/// Prints an object and the records it is put together from.
struct ObjectPrinter {
  private let store: InspectedStore
  private let console: Console
  private let format: OutputFormat

  init(_ store: InspectedStore, _ console: Console, _ format: OutputFormat) {
    self.store = store
    self.console = console
    self.format = format
  }

  /// Prints an object.
  ///
  /// - Parameters:
  ///   - reference: The object's entity and key.
  ///   - cells: Its values; `nil` if it was deleted or cannot be read.
  ///   - changes: Its records, newest first.
  ///   - decoder: Reads rows.
  /// - Throws: Nothing that is damage: that is noted.
  func print(
    _ reference: RowReference,
    _ cells: [RowDecoder.Cell]?,
    _ changes: [LoggedChange],
    _ decoder: inout RowDecoder
  ) throws {
    var details: [ChangeDetail?] = []
    for change in changes {
      do {
        details.append(try ChangeDetail(change, &decoder))
      } catch let error as StorageError {
        store.recordDamage(error)
        details.append(nil)
      }
    }
    let chain = Array(zip(changes, details))
    switch format {
    case .text: printText(reference, cells, chain)
    case .json, .ndjson: console.line(item(reference, cells, chain).text)
    case .csv:
      var items = ItemPrinter(console, .csv, fields: Self.chainFields)
      for (change, detail) in chain { items.print(item(of: change, detail)) }
      items.end()
    }
  }

  // MARK: Text

  private func printText(
    _ reference: RowReference,
    _ cells: [RowDecoder.Cell]?,
    _ chain: [(LoggedChange, ChangeDetail?)]
  ) {
    console.line(console.styled(store.name(of: reference).printable, .bold) + state(cells, chain))
    let shown = cells ?? []
    let width = shown.map(\.name.displayWidth).max() ?? 0
    for cell in shown {
      console.line("  \(cell.name.printable.padding(to: width))  \(cell.value.text)")
    }
    console.line()
    if chain.isEmpty {
      console.line(
        store.damage == nil
          ? "packed: a compaction left no records of how it came to be"
          : "its records cannot be read"
      )
      return
    }
    for (change, detail) in chain {
      let record = change.record
      var line = console.styled("commit \(change.sequence.rawValue)", .yellow)
      line += "  \(Timestamp(microseconds: change.microseconds))"
      if let author = change.author { line += "  by \(author.printable)" }
      line += "  \(record.kind.name) of \(record.byteCount) bytes at "
      line += "\(record.address.segment.rawValue):\(record.address.offset)"
      if record.kind == .delta { line += ", depth \(record.chainDepth)" }
      console.clippedLine(line)
      for column in detail?.columns ?? [] {
        let values = [column.before, column.after].compactMap { $0?.text }
        console.clippedLine("  \(column.name.printable)  \(values.joined(separator: " → "))")
      }
    }
    if let oldest = chain.last?.0, oldest.kind != .insert {
      console.line("before that: packed")
    }
  }

  private func state(
    _ cells: [RowDecoder.Cell]?,
    _ chain: [(LoggedChange, ChangeDetail?)]
  ) -> String {
    if cells != nil { return "  as of commit \(store.view.sequence.rawValue)" }
    if let last = chain.first?.0, last.kind == .delete {
      return console.styled("  deleted by commit \(last.sequence.rawValue)", .red)
    }
    return console.styled("  cannot be read", .red)
  }

  // MARK: Items

  private static let chainFields = [
    "commit", "time", "author", "kind", "bytes", "segment", "offset", "depth", "columns",
  ]

  private func item(
    _ reference: RowReference,
    _ cells: [RowDecoder.Cell]?,
    _ chain: [(LoggedChange, ChangeDetail?)]
  ) -> JSONValue {
    [
      "entity": .string(store.name(ofTable: reference.table)), "key": .unsigned(reference.key),
      "commit": .unsigned(store.view.sequence.rawValue),
      "values": cells.map { cells in
        .object(cells.map { .init(name: $0.name, value: $0.value.json) })
      } ?? .null,
      "records": .array(chain.map { item(of: $0, $1) }),
    ]
  }

  private func item(of change: LoggedChange, _ detail: ChangeDetail?) -> JSONValue {
    [
      "commit": .unsigned(change.sequence.rawValue),
      "time": .string("\(Timestamp(microseconds: change.microseconds))"),
      "author": change.author.map(JSONValue.string) ?? .null,
      "kind": .string("\(change.record.kind)"),
      "bytes": .integer(Int64(change.record.byteCount)),
      "segment": .unsigned(UInt64(change.record.address.segment.rawValue)),
      "offset": .integer(Int64(change.record.address.offset)),
      "depth": .integer(Int64(change.record.chainDepth)),
      "columns": detail?.json ?? .null,
    ]
  }
}

extension RecordKind {
  /// The kind in words.
  var name: String { self == .fullImage ? "full image" : "\(self)" }
}
