/// How a fetch goes through a table that no index narrows down, and when an index is worth following.
///
/// Three access paths lead to the rows that match, and their costs per row of the table differ by powers of ten:
///
/// - An *index* names the rows that can match. Each is then read by itself, for some tenths of a microsecond, and
///   some microseconds where it is the only one wanted of its block of a pack. So an index is worth it while it
///   names few rows.
/// - *Columns* are read a block at a time, for some nanoseconds a row, and of the rows that pass only those that
///   are needed are read. This takes a predicate, or a part of one, that columns can answer.
/// - *Rows* are looked at one by one, for a tenth of a microsecond each or two. That is as good as columns where
///   most rows match, and better in a table so small that preparing anything takes longer than looking.
enum ScanMethod: Equatable {
  case columns
  case rows

  /// What columns can say of a predicate.
  enum ColumnAnswer {
    /// Not decided yet.
    case unknown
    /// Nothing.
    case nothing
    /// Which rows do not match; what others do, their bytes have to tell.
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

  /// Up to how many rows an index may name to be followed.
  static func indexLimit(rowCount: Int, _ answer: ColumnAnswer) -> Int {
    switch answer {
    case .unknown, .everything: rowCount / 64
    case .rowsToRead: rowCount / 16
    case .nothing: rowCount / 4
    }
  }

  /// Up to how many other rows may be looked for first, to find those that refer to them.
  ///
  /// Each is looked up in the index of references, for some microseconds.
  static func targetLimit(rowCount: Int) -> Int { rowCount / 16 }

  /// What reading the lists of some rows costs, in rows that are read.
  ///
  /// - Parameters:
  ///   - ownerCount: How many rows these are.
  ///   - rowCount: How many rows have such lists.
  ///   - memberCount: How many members there are in all.
  /// - Returns: The cost; lists are taken to be of one length.
  static func listCost(_ ownerCount: Int, of rowCount: Int, _ memberCount: Int) -> Int {
    let lists = Double(ownerCount) * (1 + Double(memberCount) / Double(max(rowCount, 1)))
    return Int(min(lists, Double(Int32.max)))
  }

  /// The method for the next range of keys, whose rows are to be read.
  ///
  /// - Parameters:
  ///   - matchCount: How many rows of the last range matched.
  ///   - rowCount: How many rows it had.
  /// - Returns: The method.
  static func next(after matchCount: Int, of rowCount: Int) -> ScanMethod {
    matchCount > rowCount / 2 ? .rows : .columns
  }

  /// Tables with up to this many rows are read row by row without planning.
  static let smallTable = 256
}
