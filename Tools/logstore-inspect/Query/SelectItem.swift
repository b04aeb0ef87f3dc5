/// An item of a query's result: a column, or a figure about many rows.
///
///     item = column | "count" | function "(" column ")"
///
/// `count` is the number of rows; the functions are those of ``Function``.
struct SelectItem: Equatable {
  enum Function: String, CaseIterable, Equatable {
    /// The number of rows that have a value.
    case count
    /// The number of different values.
    case distinct
    case sum, avg, min, max
  }

  /// `nil` for a column itself.
  let function: Function?
  /// `nil` for `count` alone.
  let column: String?
  /// The place of the column, or else of the item, in the text.
  let token: WhereToken

  /// The name of the item in a header.
  var name: String {
    guard let function else { return column ?? "" }
    return column.map { "\(function.rawValue)(\($0))" } ?? function.rawValue
  }

  /// An item and its direction in a sort.
  struct SortKey: Equatable {
    let item: SelectItem
    let isDescending: Bool
  }
}

/// Reads lists of items, as `--columns` and `--sort` take them.
struct SelectParser {
  private let text: String
  private let tokens: [WhereToken]
  private var next = 0

  /// Reads items with commas between them.
  static func items(_ text: String) throws(WhereError) -> [SelectItem] {
    var parser = SelectParser(text: text, tokens: try WhereLexer.tokens(of: text))
    var items: [SelectItem] = []
    repeat { items.append(try parser.item()) } while parser.take(",")
    guard parser.token.kind == .end else { throw parser.error("a comma or the end") }
    return items
  }

  /// Reads sort keys: items with `-` before them, or `asc` or `desc` behind.
  static func sortKeys(_ text: String) throws(WhereError) -> [SelectItem.SortKey] {
    var parser = SelectParser(text: text, tokens: try WhereLexer.tokens(of: text))
    var keys: [SelectItem.SortKey] = []
    repeat {
      var isDescending = parser.take("-")
      let item = try parser.item()
      if parser.token.isWord("desc") {
        isDescending = true
        parser.next += 1
      } else if parser.token.isWord("asc") {
        parser.next += 1
      }
      keys.append(.init(item: item, isDescending: isDescending))
    } while parser.take(",")
    guard parser.token.kind == .end else { throw parser.error("asc, desc, a comma or the end") }
    return keys
  }

  private init(text: String, tokens: [WhereToken]) {
    self.text = text
    self.tokens = tokens
  }

  private var token: WhereToken { tokens[next] }

  private mutating func take(_ sign: String) -> Bool {
    guard token.isSign(sign) else { return false }
    next += 1
    return true
  }

  private mutating func name(_ expected: String) throws(WhereError) -> (String, WhereToken) {
    guard case .name(let name) = token.kind else { throw error(expected) }
    defer { next += 1 }
    return (name, token)
  }

  private mutating func item() throws(WhereError) -> SelectItem {
    let (name, start) = try name("a column, or a figure such as count or avg(column)")
    guard take("(") else {
      let isCount = name.lowercased() == "count" && !start.source.hasPrefix("`")
      return isCount
        ? SelectItem(function: .count, column: nil, token: start)
        : SelectItem(function: nil, column: name, token: start)
    }
    guard let function = SelectItem.Function(rawValue: name.lowercased()) else {
      let names = SelectItem.Function.allCases.map(\.rawValue)
      throw WhereError(
        text: text,
        position: start.position,
        expected: "one of \(names.joined(separator: ", "))",
        found: start.source
      )
    }
    if function == .count, take(")") {
      return SelectItem(function: .count, column: nil, token: start)
    }
    let (column, token) = try self.name("a column")
    guard take(")") else { throw error(")") }
    return SelectItem(function: function, column: column, token: token)
  }

  private func error(_ expected: String) -> WhereError {
    WhereError(
      text: text,
      position: token.position,
      expected: expected,
      found: token.found
    )
  }
}
