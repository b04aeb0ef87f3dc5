#if PostgreSQL
import PostgresStore

/// Counts rows, and reports them now and then.
///
/// The number that is expected may be out of date: it grows with the rows that come, and in the end is what came.
struct Meter {
  private let report: (StoreMove.Progress) throws -> Void
  private var phase = StoreMove.Progress.Phase.copying
  private var table = ""
  private var total = 0
  private var rowCount = 0

  init(_ report: @escaping (StoreMove.Progress) throws -> Void) { self.report = report }

  mutating func begin(
    _ phase: StoreMove.Progress.Phase,
    _ table: TableDescription,
    of total: Int
  ) throws {
    (self.phase, self.table, self.total, rowCount) = (phase, table.name, total, 0)
    try tell()
  }

  mutating func advance() throws {
    rowCount += 1
    if rowCount & 0xFFF == 0 { try tell() }
  }

  mutating func reach(_ rowCount: Int) throws {
    self.rowCount = rowCount
    try tell()
  }

  mutating func end(at rowCount: Int) throws {
    (self.rowCount, total) = (rowCount, rowCount)
    try tell()
  }

  private mutating func tell() throws {
    total = max(total, rowCount)
    try report(
      StoreMove.Progress(phase: phase, table: table, rowCount: rowCount, total: total)
    )
  }
}
#endif
