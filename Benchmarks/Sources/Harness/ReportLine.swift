/// One line of the table people read.
struct ReportLine {
  var workload: String
  var contender: String
  var durability: String
  var metric: String
  var median: String
  var spread: String
  var share: String
  var target: String

  static let header = ReportLine(
    workload: "workload",
    contender: "contender",
    durability: "durability",
    metric: "metric",
    median: "median",
    spread: "min … max",
    share: "compared",
    target: "target"
  )

  var cells: [String] { [workload, contender, durability, metric, median, spread, share, target] }

  var markdown: String { "| " + cells.joined(separator: " | ") + " |" }

  /// The line in columns of fixed width; figures are aligned to the right.
  var aligned: String {
    zip(cells, Self.widths).map { cell, width in
      let padding = String(repeating: " ", count: max(0, abs(width) - cell.count))
      return width < 0 ? padding + cell : cell + padding
    }
    .joined(separator: "  ")
    .trimmingSuffix(while: { $0 == " " })
  }

  private static let widths = [21, 12, 10, 22, -11, -24, 27, 0]
}

extension String {
  fileprivate func trimmingSuffix(while isRemoved: (Character) -> Bool) -> String {
    var rest = self[...]
    while let last = rest.last, isRemoved(last) { rest.removeLast() }
    return String(rest)
  }
}
