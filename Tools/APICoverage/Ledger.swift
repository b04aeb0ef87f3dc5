import Terminal

/// The list of declarations we are compared with; see `SwiftData.declarations` for its form.
struct Ledger {
  var entries: [Entry] = []

  struct Entry {
    /// The type the declaration is a member of; `nil` at the top level.
    var parent: String?
    /// The line as it is, without its remark.
    var text: String
    var declaration: Declaration
    /// The protocols that a type must conform to.
    var conformances: Set<String> = []
    var status: Status
  }

  /// The ledger's claim about a declaration.
  enum Status {
    case expected
    /// Another spelling takes its calls.
    case spelled(Declaration)
    case absent(reason: String)
    case later(feature: String)
  }

  init(parsing text: String) throws(ToolError) {
    var parent: String?
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      guard !line.allSatisfy(\.isWhitespace), !line.hasPrefix("#") else { continue }
      if line == "-" {
        parent = nil
        continue
      }
      let isMember = line.hasPrefix(" ")
      var entry = try Ledger.entry(line, number + 1)
      if isMember {
        entry.parent = parent
      } else {
        parent = entry.declaration.name
      }
      entries.append(entry)
    }
  }

  private static func entry(_ line: Substring, _ number: Int) throws(ToolError) -> Entry {
    let halves = line.split(separator: " -- ", maxSplits: 1)
    let text = halves[0].trimmingSpaces
    guard let declaration = Declaration(text) else {
      throw ToolError(
        "the ledger has a line that is no declaration",
        place: "line \(number)",
        found: text
      )
    }
    var entry = Entry(text: text, declaration: declaration, status: .expected)
    if halves.count == 2 { entry.status = try status(halves[1], number) }
    if !line.hasPrefix(" "), let colon = text.firstIndex(of: ":") {
      entry.conformances = Set(
        text[text.index(after: colon)...].split(separator: ",").map(\.trimmingSpaces)
      )
    }
    return entry
  }

  private static func status(_ remark: Substring, _ number: Int) throws(ToolError) -> Status {
    let parts = remark.split(separator: ": ", maxSplits: 1).map(\.trimmingSpaces)
    if parts.count == 2 {
      switch parts[0] {
      case "absent": return .absent(reason: parts[1])
      case "later": return .later(feature: parts[1])
      case "as": if let declaration = Declaration(parts[1]) { return .spelled(declaration) }
      default: break
      }
    }
    throw ToolError(
      "the ledger has a remark that says nothing",
      place: "line \(number)",
      expected: "as: DECLARATION, absent: REASON or later: FEATURE",
      found: String(remark)
    )
  }
}

extension Substring {
  fileprivate var trimmingSpaces: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
