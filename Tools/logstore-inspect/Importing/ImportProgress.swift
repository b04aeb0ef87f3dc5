import LogEngine
import Terminal

/// The progress of an import.
struct ImportProgress {
  private(set) var commitCount = 0
  private(set) var pendingCount = 0
  private var rowCount = 0
  /// The line in which the first row begins that is in no commit.
  private var pendingLine: Int?

  /// Counts a row that the next commit has.
  mutating func add(_ line: Int) {
    if pendingCount == 0 { pendingLine = line }
    pendingCount += 1
  }

  /// Counts a commit.
  mutating func commit() {
    commitCount += 1
    rowCount += pendingCount
    pendingCount = 0
    pendingLine = nil
  }

  /// The error, with the rows that are in the store all the same: a second attempt with the whole file would repeat them.
  func toolError(_ error: StorageError, at path: String) -> ToolError {
    var words = ToolError(error, at: path)
    if commitCount == 0 { return words }
    let verb = rowCount == 1 ? "is" : "are"
    words.what += "; \(rowCount.counted("row")) of the file \(verb) imported"
    words.advice =
      pendingLine.map { line in
        "take the rows before line \(line) out of the file before you try again"
      } ?? "do not import the file again: all its rows are in the store"
    return words
  }
}
