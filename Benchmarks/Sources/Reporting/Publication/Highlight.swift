import Harness

/// A line of the table that people see first, and perhaps a panel of the plot beside it.
struct Highlight {
  let group: String
  let workload: Workload
  let metric: Metric
  /// The description of the figure in the table.
  let words: String

  init(_ group: String, _ workload: Workload, _ metric: Metric, _ words: String) {
    self.group = group
    self.workload = workload
    self.metric = metric
    self.words = words
  }

  /// In the order in which an app meets them: it opens, writes, reads, asks, and takes room.
  static let all = [
    Highlight("peers", .openClean, .milliseconds, "open 1,000,000 rows, closed before"),
    Highlight("peers", .openCrash, .milliseconds, "open 1,050,000 rows, writer killed"),
    Highlight("peers", .durable1, .rowsPerSecond, "commit 1 row"),
    Highlight("peers", .durable1, .p99Microseconds, "commit 1 row, 99 %"),
    Highlight("peers", .durable100, .rowsPerSecond, "commit 100 rows"),
    Highlight("peers", .relaxed1, .rowsPerSecond, "commit 1 row"),
    Highlight("peers", .relaxed10000, .rowsPerSecond, "commit 10,000 rows"),
    Highlight(
      "peers",
      .update1,
      .rowsPerSecond,
      "change one attribute of a random row, a row a commit"
    ),
    Highlight("peers", .update100, .rowsPerSecond, "the same, 100 rows a commit"),
    Highlight("peers", .durableUpdate100, .deviceBytesPerRow, "the same, written to the device"),
    Highlight("peers", .pointRead, .rowsPerSecond, "read a random row, every attribute"),
    Highlight(
      "peers",
      .readBesideWriter,
      .p99Microseconds,
      "the same beside a thread that updates, 99 %"
    ),
    Highlight("queries", .scan, .rowsPerSecond, "count by two attributes"),
    Highlight("packs", .packedScan, .rowsPerSecond, "the same, rows packed"),
    Highlight("queries", .fetchAll, .rowsPerSecond, "fetch 100,000 objects, read every attribute"),
    Highlight("queries", .top100, .milliseconds, "the first 100 of 1,000,000 by a date"),
    Highlight("queries", .flightsImport, .rowsPerSecond, "import real flights, 1,000 a save"),
    Highlight("peers", .size, .bytesPerRow, "on disk, loaded"),
    Highlight("packs", .sizeCompacted, .bytesPerRow, "on disk, compacted"),
    Highlight("packs", .flightsSizeCompacted, .bytesPerRow, "real flights on disk, compacted"),
  ]

  /// The highlights that fit on a first page.
  static let short = all.filter { highlight in
    let left: [Workload] = [.durable100, .update100, .top100, .readBesideWriter]
    return !left.contains(highlight.workload) && highlight.metric != .p99Microseconds
  }

  /// The workloads that the one plot shows.
  static let pictured: [Workload] = [
    .durable1, .relaxed1, .update1, .pointRead, .scan, .packedScan, .fetchAll, .sizeCompacted,
  ]

  /// The figures of the contenders that were measured.
  func measurements(in results: Results) -> [Measurement] {
    results.measurements(of: group).filter {
      $0.workload == workload.rawValue && $0.metric == metric.rawValue
    }
  }
}
