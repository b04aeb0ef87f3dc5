import Harness
import Workloads

/// The size of the stores, and of the memory beside it.
struct Size {
  let mebibytes: Int
  let rows: Int
  /// The duration of each kind of work.
  let seconds: Double

  /// Ten times as many bytes of rows as there are of memory.
  init(_ plan: Plan) {
    mebibytes = plan.choose(quick: 64, full: 512)
    let bytes = mebibytes << 20 * 10
    rows = bytes / WideTrips.byteCount / Self.rowsPerCommit * Self.rowsPerCommit
    seconds = plan.choose(quick: 1.5, full: 15)
  }

  init(mebibytes: Int, rows: Int, seconds: Double) {
    self.mebibytes = mebibytes
    self.rows = rows
    self.seconds = seconds
  }

  static let rowsPerCommit = 1000
}
