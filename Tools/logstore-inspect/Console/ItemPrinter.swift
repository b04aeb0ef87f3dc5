/// Whether names are above the columns of a result.
enum TableHeader { case shown, hidden }

/// Prints items one after the other, for programs: as JSON or as CSV.
struct ItemPrinter {
  private let console: Console
  private let format: OutputFormat
  /// The columns of CSV: names of members of the items.
  private let fields: [String]
  private var isFirst = true

  init(
    _ console: Console,
    _ format: OutputFormat,
    fields: [String],
    header: TableHeader = .shown
  ) {
    self.console = console
    self.format = format
    self.fields = fields
    switch format {
    case .json: console.line("[")
    case .csv:
      if header == .shown { console.dataLine(CSV.line(fields.map(CSV.field))) }
    case .text, .ndjson: break
    }
  }

  /// Prints an item.
  ///
  /// - Parameter item: An object; in CSV, members that are objects or arrays become their JSON.
  mutating func print(_ item: JSONValue) {
    switch format {
    // The comma is before an item, because no item knows whether it is the last.
    case .json: console.line((isFirst ? " " : ",") + item.text)
    case .csv: console.dataLine(CSV.line(fields.map { item[$0]?.csvField ?? "" }))
    case .text, .ndjson: console.line(item.text)
    }
    isFirst = false
  }

  func end() {
    if format == .json { console.line("]") }
  }
}

/// Comma-separated values as RFC 4180 has them, with lines that end as lines do on Unix.
enum CSV {
  static func line(_ fields: [String]) -> String { fields.joined(separator: ",") }

  /// Text as a field: between quotes if it has to be, and if it is empty, so that it is not taken for none.
  static func field(_ text: String) -> String {
    // Scalars, not characters: a quote with a combining mark behind it is a quote.
    let scalars = text.unicodeScalars
    guard text.isEmpty || scalars.contains(where: { "\",\n\r".unicodeScalars.contains($0) }) else {
      return text
    }
    var field = "\"".unicodeScalars
    for scalar in scalars {
      if scalar == "\"" { field.append(scalar) }
      field.append(scalar)
    }
    field.append("\"")
    return String(field)
  }
}

extension JSONValue {
  /// The value as a field of CSV; nothing for null.
  var csvField: String {
    switch self {
    case .null: ""
    case .string(let text): CSV.field(text)
    // A number that JSON has not, a text there, is a word here, as every reader of numbers takes it.
    case .double(let value): "\(value)"
    case .bool, .integer, .unsigned: text
    case .array, .object: CSV.field(text)
    }
  }

  /// A member of an object.
  subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}

extension Console {
  /// Prints the outcome of a command: a sentence for people, an object for programs.
  func printFacts(_ facts: JSONValue, _ format: OutputFormat, _ text: () -> String) {
    switch format {
    case .text: line(text())
    case .json, .ndjson: line(facts.text)
    case .csv:
      guard case .object(let members) = facts else { return }
      line(CSV.line(members.map(\.name)))
      line(CSV.line(members.map(\.value.csvField)))
    }
  }
}
