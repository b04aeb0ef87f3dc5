import Terminal

/// The reason why a row of a CSV file cannot be used.
struct RowProblem: Error, CustomStringConvertible {
  let column: String
  let expected: String
  let found: String

  var description: String { "\(column): expected \(expected), found “\(found)”" }
}

/// The rows of a file that were skipped.
struct BadRows {
  private static let shownCount = 10

  private let path: String
  private(set) var count = 0
  private var shown: [String] = []

  init(path: String) { self.path = path }

  mutating func append(_ reason: String, line: Int) {
    count += 1
    if shown.count < Self.shownCount { shown.append("\(path):\(line): \(reason)") }
  }

  /// The messages for the user: the first ten with file and line, then the number of bad rows.
  var notices: [String] {
    guard count > 0 else { return [] }
    let rest = count > shown.count ? ["\(path): … and \((count - shown.count).grouped) more"] : []
    return shown + rest + ["\(path): skipped \(count.grouped) bad \(count == 1 ? "row" : "rows")"]
  }
}
