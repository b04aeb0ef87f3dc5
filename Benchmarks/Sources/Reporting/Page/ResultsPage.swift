public import Foundation
import Harness

/// Writes the plots of a run, and one page in Markdown that has them all and every figure.
public struct ResultsPage {
  private let results: Results

  public init(_ results: Results) { self.results = results }

  /// Writes the files.
  ///
  /// - Parameter folder: The folder; it exists.
  /// - Throws: What the file system throws.
  public func write(to folder: URL) throws {
    let plots = Plots(results: results).all
    for plot in plots {
      try Data(plot.svg.utf8).write(to: folder.appending(path: "\(plot.name).svg"))
    }
    try Data(markdown(plots).utf8).write(to: folder.appending(path: "results.md"))
  }

  private func markdown(_ plots: [Plots.Plot]) -> String {
    var lines = ["# Benchmarks", "", results.circumstances, ""]
    for plot in plots { lines += ["![\(plot.title)](\(plot.name).svg)", ""] }
    for group in results.groups { lines += section(group) }
    return lines.joined(separator: "\n")
  }

  private func section(_ group: String) -> [String] {
    let shown = results.measurements(of: group)
    var lines = ["## \(group.isEmpty ? "Figures" : group)", ""]
    lines += FigureTable(shown).markdown
    lines.append("")
    lines += results.settings(shown).map { "- \($0)" }
    lines.append("")
    return lines
  }
}

/// A line for each workload and metric, a column for each contender.
struct FigureTable {
  private let measurements: [Measurement]

  init(_ measurements: [Measurement]) { self.measurements = measurements }

  var markdown: [String] {
    let contenders = distinct(measurements.map(\.contender))
    let rule = ["---", "---", "---"] + contenders.map { _ in "---:" }
    let kinds = distinct(measurements.map(Kind.init))
    let rows = kinds.map { kind in
      line(
        [kind.workload, kind.durability.name, kind.metric] + contenders.map { figure(kind, $0) }
      )
    }
    return [line(["workload", "durability", "metric"] + contenders), line(rule)] + rows
  }

  private func figure(_ kind: Kind, _ contender: String) -> String {
    let found = measurements.first {
      $0.workload == kind.workload && $0.metric == kind.metric && $0.contender == contender
    }
    return found.map { Figure.format($0.median) } ?? ""
  }

  private func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

  private struct Kind: Hashable {
    let workload: String
    let durability: Durability?
    let metric: String

    init(_ measurement: Measurement) {
      workload = measurement.workload
      durability = measurement.durability
      metric = measurement.metric
    }
  }
}
