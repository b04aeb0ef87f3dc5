import Terminal

/// A list of items of the same kind, small enough to be measured before it is printed.
///
/// On a terminal an aligned table; for programs the same items with exact numbers.
struct Listing {
  /// A property of the items.
  struct Column {
    /// The title of the column in the table; `nil` for a property that only programs get.
    var title: String?
    /// The member's name for programs.
    var name: String
    var alignment = TextTable.Alignment.left
    var importance = TextTable.Importance.essential
  }

  /// A property of one item.
  struct Cell {
    var text: String
    var value: JSONValue
  }

  private let columns: [Column]
  private var rows: [[Cell]] = []

  init(_ columns: [Column]) { self.columns = columns }

  mutating func append(_ cells: [Cell]) {
    precondition(cells.count == columns.count, "\(cells.count) cells, \(columns.count) columns")
    rows.append(cells)
  }

  var isEmpty: Bool { rows.isEmpty }

  /// The items as objects.
  var items: [JSONValue] {
    rows.map { row in
      .object(zip(columns, row).map { JSONValue.Member(name: $0.name, value: $1.value) })
    }
  }

  /// The items as a table; `style` may colour a cell of an item.
  func table(_ style: (_ row: Int, _ title: String, String) -> String = { $2 }) -> TextTable {
    let shown = columns.indices.filter { columns[$0].title != nil }
    var table = TextTable(
      shown.map {
        .init(columns[$0].title ?? "", columns[$0].alignment, columns[$0].importance)
      }
    )
    for (number, row) in rows.enumerated() {
      table.append(shown.map { style(number, columns[$0].title ?? "", row[$0].text) })
    }
    return table
  }

  /// Prints the items in a form for programs.
  func printItems(to console: Console, _ format: OutputFormat) {
    var printer = ItemPrinter(console, format, fields: columns.map(\.name))
    for item in items { printer.print(item) }
    printer.end()
  }
}

extension Listing.Cell {
  /// An absent value.
  static var none: Self { .init(text: "–", value: .null) }

  static func text(_ text: String) -> Self { .init(text: text.printable, value: .string(text)) }
  static func text(_ text: String?) -> Self { text.map { .text($0) } ?? .none }

  static func count(_ number: some BinaryInteger) -> Self {
    .init(text: number.grouped, value: .unsigned(UInt64(clamping: number)))
  }

  /// A number that is a name.
  static func number(_ number: some BinaryInteger) -> Self {
    .init(text: "\(number)", value: .unsigned(UInt64(clamping: number)))
  }

  /// A number of bytes; `nil` if that is unknown.
  static func bytes(_ count: Int?) -> Self {
    count.map { .init(text: $0 == 0 ? "0" : $0.byteCount, value: .integer(Int64($0))) } ?? .none
  }

  /// An instant, in microseconds since 1970-01-01T00:00:00Z.
  static func time(_ microseconds: Int64?) -> Self {
    microseconds.map { .text("\(Timestamp(microseconds: $0))") } ?? .none
  }

  /// The age of something, in microseconds.
  static func age(_ microseconds: Int64?) -> Self {
    microseconds.map {
      .init(text: $0.age, value: .double(Double($0) / 1e6))
    } ?? .none
  }
}

extension Int64 {
  /// The microseconds in the largest unit that fits: 12 s, 3 min, 5 h, 8 d.
  var age: String {
    let seconds = Swift.max(self, 0) / 1_000_000
    switch seconds {
    case ..<60: return "\(seconds) s"
    case ..<3600: return "\(seconds / 60) min"
    case ..<86_400: return "\(seconds / 3600) h"
    default: return "\((seconds / 86_400).grouped) d"
    }
  }
}
