import Harness
import Workloads

/// How large the stores are, and the memory beside it.
struct Size {
  let mebibytes: Int
  let rows: Int
  /// For how long each kind of work goes on.
  let seconds: Double

  /// Ten times as many bytes of rows as there is memory.
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
