/// What a store answered, and what it left to the context.
struct FetchAnswer {
  var rows: [FetchedRow]
  var needsFilter = false
  var needsSort = false

  /// Reports to the trace of a question how it is answered.
  func tell(_ trace: QueryTrace?) {
    trace?.recordAnswer(rows.count, needsFilter: needsFilter, needsSort: needsSort)
  }

  /// Hands the rows over, to one who then owns them alone.
  mutating func takeRows() -> [FetchedRow] {
    defer { rows = [] }
    return rows
  }
}
