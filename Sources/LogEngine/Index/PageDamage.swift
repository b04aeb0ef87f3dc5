import Locking
import LogFormat
import RowFormat

/// The contents of a page of the index, copied.
struct CopiedPage {
  var slots: [UInt64]
  /// The greatest commit of its slots.
  var newest: UInt64

  /// A page of which nothing is known: to read any of its rows is an error.
  static var unreadable: CopiedPage {
    let nowhere = RecordLocation(
      segment: SegmentID(rawValue: 1 << 22 - 1),
      offset: 0,
      kind: .insert,
      depth: 0
    )
    return CopiedPage(
      slots: Array(repeating: nowhere.rawValue, count: Checkpoint.slotsPerPage),
      newest: 0
    )
  }
}

/// The damage of a checkpoint that was found only after the store was opened from it.
///
/// The right contents of its pages are in the log, which is read once for all of them, as at an opening without a checkpoint.
final class PageDamage: Sendable {
  private let path: String
  private let rebuilding = Lock(Rebuilding(), .pageDamage)
  private let readLog: @Sendable () throws(StorageError) -> [Table]
  private let report: @Sendable (StorageError) -> Void
  private let reportFailure: @Sendable (StorageError) -> Void

  private struct Rebuilding {
    var tables: [UInt16: Table] = [:]
    var hasRead = false
    /// The reason why the log could not be read.
    var failure: StorageError?
  }

  /// - Parameters:
  ///   - path: The checkpoint.
  ///   - readLog: Returns the tables as of the checkpoint, or somewhat later, from the log; the calling thread may hold any of the
  ///     engine's locks.
  ///   - report: Receives each damaged page; called under a lock.
  ///   - reportFailure: Receives the reason if the log could not be read, before any row of the page can be looked up.
  init(
    of path: String,
    readLog: @escaping @Sendable () throws(StorageError) -> [Table],
    report: @escaping @Sendable (StorageError) -> Void,
    reportFailure: @escaping @Sendable (StorageError) -> Void
  ) {
    self.path = path
    self.readLog = readLog
    self.report = report
    self.reportFailure = reportFailure
  }

  /// Mends a page, one at a time.
  ///
  /// - Parameters:
  ///   - number: The page's number.
  ///   - table: Its table.
  ///   - offset: Its place in the checkpoint's file.
  ///   - problem: The damage.
  ///   - isMended: Whether another thread was faster.
  ///   - replace: Called with the right contents.
  func mend(
    page number: UInt64,
    ofTable table: UInt16,
    at offset: Int,
    _ problem: Corruption.Problem,
    unless isMended: () -> Bool,
    _ replace: (CopiedPage) -> Void
  ) {
    rebuilding.withLock { rebuilding in
      if isMended() { return }
      report(.corruption(Corruption(path: path, offset: offset, problem: problem)))
      if !rebuilding.hasRead { readTables(&rebuilding) }
      replace(page(number, ofTable: table, rebuilding))
    }
  }

  private func page(_ number: UInt64, ofTable table: UInt16, _ rebuilding: Rebuilding) -> CopiedPage
  {
    if rebuilding.failure != nil { return .unreadable }
    var slots: [UInt64] = []
    // Without a page, or a table, the log has no row of these keys.
    let newest = rebuilding.tables[table]?.pages.copyPage(number, into: &slots)
    return newest.map { CopiedPage(slots: slots, newest: $0) }
      ?? CopiedPage(slots: Array(repeating: 0, count: Checkpoint.slotsPerPage), newest: 0)
  }

  private func readTables(_ rebuilding: inout Rebuilding) {
    rebuilding.hasRead = true
    do throws(StorageError) {
      for table in try readLog() { rebuilding.tables[table.number] = table }
    } catch {
      rebuilding.failure = error
      reportFailure(error)
    }
  }
}
