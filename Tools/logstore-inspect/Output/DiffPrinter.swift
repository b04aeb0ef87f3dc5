import LogEngine
import Terminal

/// Prints the rows that two states do not share.
struct DiffPrinter {
  enum Detail { case rows, counts }

  private struct Counts {
    var onlyInFirst = 0
    var onlyInSecond = 0
    var different = 0
    var isEmpty: Bool { onlyInFirst + onlyInSecond + different == 0 }
  }

  private let console: Console
  private let format: OutputFormat
  private let detail: Detail
  private var items: ItemPrinter
  private var counts = Counts()
  private(set) var hasDifferences = false

  init(
    _ stores: (InspectedStore, InspectedStore),
    _ format: OutputFormat,
    _ detail: Detail,
    _ console: Console
  ) {
    self.console = console
    self.format = format
    self.detail = detail
    let rows = ["change", "entity", "key", "columns"]
    let brief = ["entity", "only_in_first", "only_in_second", "different"]
    items = ItemPrinter(console, format, fields: detail == .rows ? rows : brief)
    guard format == .text else { return }
    console.line(console.styled("− \(Self.name(of: stores.0))", .red))
    console.line(console.styled("+ \(Self.name(of: stores.1))", .green))
  }

  private static func name(of store: InspectedStore) -> String {
    "\(store.path.printable) as of commit \(store.view.sequence.rawValue)"
  }

  mutating func print(_ difference: RowComparison.Difference) throws {
    hasDifferences = true
    switch difference.kind {
    case .onlyInFirst: counts.onlyInFirst += 1
    case .onlyInSecond: counts.onlyInSecond += 1
    case .different: counts.different += 1
    }
    guard detail == .rows else { return }
    if format == .text {
      if counts.onlyInFirst + counts.onlyInSecond + counts.different == 1 { console.line() }
      console.clippedLine(line(of: difference))
    } else {
      items.print(item(of: difference))
    }
  }

  /// Sums up an entity.
  mutating func endEntity(_ name: String) {
    defer { counts = Counts() }
    if detail == .rows || counts.isEmpty { return }
    guard format == .text else {
      return items.print([
        "entity": .string(name), "only_in_first": .integer(Int64(counts.onlyInFirst)),
        "only_in_second": .integer(Int64(counts.onlyInSecond)),
        "different": .integer(Int64(counts.different)),
      ])
    }
    let figures = [("−", counts.onlyInFirst), ("+", counts.onlyInSecond), ("~", counts.different)]
    let text = figures.filter { $0.1 > 0 }.map { $0.0 + $0.1.grouped }.joined(separator: " ")
    console.line("\(name.printable)  \(text)")
  }

  func end() {
    items.end()
    if format == .text, !hasDifferences { console.line("no differences") }
  }

  private func line(of difference: RowComparison.Difference) -> String {
    let (mark, style): (String, Style) =
      switch difference.kind {
      case .onlyInFirst: ("−", .red)
      case .onlyInSecond: ("+", .green)
      case .different: ("~", .cyan)
      }
    let columns = difference.columns.map { column in
      let isChanged = difference.kind == .different
      let values =
        isChanged
        ? [(column.first ?? .null).text, (column.second ?? .null).text]
        : [column.first, column.second].compactMap { $0?.text }
      return column.name.printable + " " + values.joined(separator: " → ")
    }
    let name = "\(difference.entity.printable)/\(difference.key)"
    return console.styled(mark, style) + " \(name)  " + columns.joined(separator: ", ")
  }

  private func item(of difference: RowComparison.Difference) -> JSONValue {
    let change =
      switch difference.kind {
      case .onlyInFirst: "only_in_first"
      case .onlyInSecond: "only_in_second"
      case .different: "different"
      }
    return [
      "change": .string(change), "entity": .string(difference.entity),
      "key": .unsigned(difference.key),
      "columns": .object(
        difference.columns.map { column in
          let members = [("first", column.first), ("second", column.second)]
            .compactMap { name, value in
              value.map { JSONValue.Member(name: name, value: $0.json) }
            }
          return JSONValue.Member(name: column.name, value: .object(members))
        }
      ),
    ]
  }
}
