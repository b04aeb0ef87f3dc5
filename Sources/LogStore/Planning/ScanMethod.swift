/// The method by which a fetch scans a table that no index narrows down, and the limits up to which an index pays.
///
/// Three access paths lead to the rows that match, and their costs per row of the table differ by powers of ten:
///
/// - An *index* names the rows that can match. Each is then read by itself, for some tenths of a microsecond, or
///   some microseconds if no other row of its pack block is wanted. So an index is worth it while it
///   names few rows.
/// - *Columns* are read a block at a time, for some nanoseconds a row, and of the rows that pass only those that
///   are needed are read. This takes a predicate, or a part of one, that columns can answer.
/// - *Rows* are looked at one by one, for a tenth of a microsecond each or two. That is as good as columns if
///   most rows match, and better in a table so small that preparing anything takes longer than looking.
enum ScanMethod: Equatable {
  case columns
  case rows

  /// The share of a predicate that columns can answer.
  enum ColumnAnswer {
    /// Not decided yet.
    case unknown
    /// Nothing.
    case nothing
    /// The rows that do not match; the bytes of the others have to be read.
    case rowsToRead
    /// Everything that is asked for.
    case everything
  }

  /// The method for a table that no index leads through.
  static func choose(rowCount: Int, _ answer: ColumnAnswer) -> ScanMethod {
    if rowCount <= smallTable { return .rows }
    switch answer {
    case .unknown, .nothing: return .rows
    case .rowsToRead, .everything: return .columns
    }
  }

  /// Limit of the number of rows that an index may name to be followed.
  static func indexLimit(rowCount: Int, _ answer: ColumnAnswer) -> Int {
    switch answer {
    case .unknown, .everything: rowCount / 64
    case .rowsToRead: rowCount / 16
    case .nothing: rowCount / 4
    }
  }

  /// What it costs to test a packed row by itself instead of scanning, beyond the same in the log: such a row takes some
  /// microseconds, and each row of a scan of columns some nanoseconds.
  static func packedSurcharge(_ plan: ColumnPlan) -> Int {
    !plan.tells ? 3 : plan.test.readsWholeTexts ? 2 : 23
  }

  /// Maximum number of an index's entries that are looked at for those of rows to leave out of their number.
  static let greatestExactCount = 1024

  /// Limit of the number of other rows that are looked for first, to find the rows that refer to them.
  ///
  /// Each is looked up in the index of references, for some microseconds.
  static func targetLimit(rowCount: Int) -> Int { rowCount / 16 }

  /// Estimates the cost of reading the lists of some rows, in rows that are read.
  ///
  /// - Parameters:
  ///   - ownerCount: The number of these rows.
  ///   - rowCount: The number of rows that have such lists.
  ///   - memberCount: The number of members in all.
  /// - Returns: The cost; lists are taken to be of one length.
  static func listCost(_ ownerCount: Int, of rowCount: Int, _ memberCount: Int) -> Int {
    let lists = Double(ownerCount) * (1 + Double(memberCount) / Double(max(rowCount, 1)))
    return Int(min(lists, Double(Int32.max)))
  }

  /// The method for the next range of keys, whose rows are to be read.
  ///
  /// - Parameters:
  ///   - matchCount: The number of rows of the last range that matched.
  ///   - rowCount: The number of its rows.
  /// - Returns: The method.
  static func next(after matchCount: Int, of rowCount: Int) -> ScanMethod {
    matchCount > rowCount / 2 ? .rows : .columns
  }

  /// So few rows that an index names are read and tested faster than a better way is looked for.
  static let fewRows = 64

  /// Tables with up to this many rows are read row by row without planning.
  static let smallTable = 256
}
