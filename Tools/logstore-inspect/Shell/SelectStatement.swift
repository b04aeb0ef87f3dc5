/// A statement of SQL that a user typed out of habit, and the question that says the same.
struct SelectStatement {
  let question: String

  /// Translates `SELECT list FROM entity …`; `nil` for anything else.
  init?(_ line: String) {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.first?.lowercased() == "select" else { return nil }
    guard let from = words.firstIndex(where: { $0.lowercased() == "from" }), from + 1 < words.count
    else {
      question = "Entity where … columns … sort … limit …"
      return
    }
    let list = words[1..<from].joined(separator: " ")
    let clauses = words[(from + 2)...].map(String.init)
    let entity = String(words[from + 1])
    let columns = list.lowercased().replacing("count(*)", with: "count")
    let isCount = columns == "count" && !clauses.contains { $0.lowercased() == "group" }
    var parts = isCount ? ["count", entity] : [entity]
    if columns != "*", !isCount { parts += ["columns", list.replacing("count(*)", with: "count")] }
    question = (parts + clauses).joined(separator: " ")
  }
}
