import Foundation
import Harness

/// The pictures of a run.
struct Plots {
  let results: Results

  struct Plot {
    /// The file's name without its extension.
    let name: String
    let title: String
    let svg: String
  }

  var all: [Plot] {
    var plots: [Plot?] = [overview]
    for group in results.groups {
      plots.append(bars(group, "throughput", more, "more is better"))
      plots.append(bars(group, "cost", less, "less is better"))
      plots.append(latencies(group))
      plots.append(timelines(group))
    }
    plots.append(scaling)
    return plots.compactMap { $0 }
  }

  static let overviewName = "overview"

  /// The highlights that fit into one picture.
  private var overview: Plot? {
    let shown = Highlight.all.filter { highlight in
      Highlight.pictured.contains(highlight.workload)
        && (more + less).contains(highlight.metric)
    }
    let panels = shown.compactMap { highlight -> BarPanel? in
      let bars = highlight.measurements(in: results)
      guard bars.count > 1 else { return nil }
      return BarPanel(
        title: highlight.workload.rawValue,
        meaning: highlight.workload.meaning ?? "",
        unit: highlight.metric.unit,
        bars: bars.sorted { ($0.median > $1.median) == highlight.metric.growsWithSpeed }
      )
    }
    guard !panels.isEmpty else { return nil }
    let page = PanelPage(
      title: "LogStore beside others: rates, more is better; bytes, fewer are",
      panels: panels.map(\.panel),
      smallPrint: [results.circumstances, "How each was set up: Performance.md."]
    )
    return Plot(name: Self.overviewName, title: "LogStore beside others", svg: page.svg())
  }

  private let more: [Metric] = [.rowsPerSecond, .megabytesPerSecond]

  private let less: [Metric] = [
    .milliseconds, .nanosecondsPerRow, .bytesPerRow, .deviceBytesPerRow,
  ]

  private func bars(
    _ group: String,
    _ name: String,
    _ metrics: [Metric],
    _ remark: String
  ) -> Plot? {
    let shown = results.measurements(of: group).filter { Scaled($0.workload) == nil }
    let panels = distinct(shown.map(\.workload)).flatMap { workload in
      metrics.compactMap { metric -> BarPanel? in
        let bars = shown.filter { $0.workload == workload && $0.metric == metric.rawValue }
        guard bars.count > 1 else { return nil }
        return BarPanel(
          title: workload,
          meaning: Workload(rawValue: workload)?.meaning ?? "",
          unit: metric.unit,
          bars: bars.sorted { ($0.median > $1.median) == metric.growsWithSpeed }
        )
      }
    }
    guard !panels.isEmpty else { return nil }
    return plot(
      "\(name)-\(group)",
      "\(group): \(name), median of all rounds, line from least to greatest; \(remark)",
      panels.map(\.panel),
      panels.flatMap(\.bars)
    )
  }

  private func latencies(_ group: String) -> Plot? {
    let shown = results.distributions.filter { ($0.group ?? "") == group }
    let panels = distinct(shown.map(\.workload)).map { workload in
      LatencyChart(workload: workload, distributions: shown.filter { $0.workload == workload })
    }
    guard !panels.isEmpty else { return nil }
    let names = Set(shown.map(\.workload))
    return plot(
      "latency-\(group)",
      "\(group): how long single commits and reads take; further left and up is better",
      panels.map(\.panel),
      results.measurements(of: group).filter { names.contains($0.workload) }
    )
  }

  private func timelines(_ group: String) -> Plot? {
    let shown = results.timelines.filter { ($0.group ?? "") == group && !$0.rowsPerSecond.isEmpty }
    let workloads = distinct(shown.map(\.workload))
    let panels = workloads.flatMap { workload in
      let timelines = shown.filter { $0.workload == workload }
      return [TimelineChart.Figure.rate, .longestCommit].map {
        TimelineChart(workload: workload, timelines: timelines, figure: $0).panel
      }
    }
    guard !panels.isEmpty else { return nil }
    return plot(
      "timeline-\(group)",
      "\(group): how contenders did second by second",
      panels,
      results.measurements(of: group).filter { workloads.contains($0.workload) }
    )
  }

  private var scaling: Plot? {
    let shown = results.measurements.compactMap { measurement in
      Scaled(measurement.workload).map { (scaled: $0, measurement) }
    }
    let kinds = distinct(shown.map { "\($0.scaled.name) \($0.1.metric)" })
    let panels = kinds.compactMap { kind -> ScalingChart? in
      let chosen = shown.filter { "\($0.scaled.name) \($0.1.metric)" == kind }
      guard Set(chosen.map(\.scaled.rows)).count > 1 else { return nil }
      return ScalingChart(
        title: chosen[0].scaled.title,
        unit: Metric(rawValue: chosen[0].1.metric)?.unit ?? chosen[0].1.metric,
        measurements: chosen.map { ($0.scaled.rows, $0.1) }
      )
    }
    guard !panels.isEmpty else { return nil }
    return plot(
      "scaling",
      "How cost grows with the number of rows",
      panels.map(\.panel),
      shown.map(\.1)
    )
  }

  private func plot(
    _ name: String,
    _ title: String,
    _ panels: [PanelPage.Panel],
    _ shown: [Measurement]
  ) -> Plot {
    let page = PanelPage(
      title: title,
      panels: panels,
      smallPrint: [results.circumstances] + results.settings(shown)
    )
    return Plot(name: name, title: title, svg: page.svg())
  }
}

/// The name of a workload measured at several sizes, taken apart: `scale-insert-100000`.
struct Scaled {
  let name: String
  let rows: Int

  init?(_ workload: String) {
    guard workload.hasPrefix("scale-"), let dash = workload.lastIndex(of: "-"),
      let rows = Int(workload[workload.index(after: dash)...])
    else { return nil }
    name = String(workload[..<dash])
    self.rows = rows
  }

  var title: String { String(name.dropFirst("scale-".count)) }
}
