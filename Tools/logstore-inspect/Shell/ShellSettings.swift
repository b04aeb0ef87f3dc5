/// The settings of the shell's answers.
struct ShellSettings {
  /// The form of results; `sqlite3` has modes of the same names.
  enum Mode: String, CaseIterable {
    case table, line, csv, json, ndjson

    /// The form that commands print in.
    var format: OutputFormat {
      switch self {
      case .table, .line: .text
      case .csv: .csv
      case .json: .json
      case .ndjson: .ndjson
      }
    }

    var layout: ResultPrinter.Layout { self == .line ? .lines : .table }
  }

  /// Limit of the rows that are shown for a question that names none.
  enum Limit: Equatable {
    /// As many as the terminal has room for; all, if there is none.
    case screenful
    case rows(Int)
    case none

    /// The number of rows on a terminal of a height in lines.
    func rowCount(height: Int?) -> Int? {
      switch self {
      case .rows(let count): count
      case .none: nil
      // Beside the rows: the header, the line that counts, the question and the next prompt.
      case .screenful: height.map { max($0 - 4, 5) }
      }
    }
  }

  var mode = Mode.table
  var header = TableHeader.shown
  var limit = Limit.screenful
  var explains = false
  var isTimed = false
}
