/// The answer of a store, and the work it left to the context.
struct FetchAnswer {
  var rows: [FetchedRow]
  var needsFilter = false
  var needsSort = false
  /// Whether the rows that were to be left out are not among the rows.
  var areExcluded = false

  /// Records the answer in the trace of a question.
  func tell(_ trace: QueryTrace?) {
    trace?.recordAnswer(rows.count, needsFilter: needsFilter, needsSort: needsSort)
  }

  /// Passes the rows to a caller who then owns them alone.
  mutating func takeRows() -> [FetchedRow] {
    defer { rows = [] }
    return rows
  }
}
