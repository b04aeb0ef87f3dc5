import Foundation
import Harness

/// Distributions of latencies at one workload.
///
/// HdrHistogram's way to plot them: shares up the nines, so that the tail is not a line along the top.
/// Turned so that time runs to the right as it does in any cumulative distribution.
struct LatencyChart {
  let workload: String
  let distributions: [LatencyDistribution]

  var panel: PanelPage.Panel {
    let top = distributions.map { 1 - 1 / Double(max(2, $0.count)) }.max() ?? 0.9
    let times = distributions.flatMap(\.microseconds).filter { $0 > 0 }
    let low = times.min() ?? 1
    let domain = low...max(times.max() ?? 1, low * 10)
    let nines = [(0.0, "0 %"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %")]
    let ticks = (nines + [(0.9999, "99.99 %"), (0.99999, "99.999 %")]).filter { $0.0 <= top }
    return CurvePanel(
      title: "\(workload): share done within a time",
      // Names are in the order of the curves, from the left.
      curves: distributions.sorted { $0.median < $1.median }.map(curve),
      xKind: .logarithmic,
      yKind: .nines,
      xTicks: Ticks.logarithmic(domain).map { ($0, Figure.duration(microseconds: $0)) },
      yTicks: ticks.map { (value: $0.0, label: $0.1) },
      xDomain: domain,
      yDomain: 0...top,
      xTitle: "time of one commit or read (logarithmic)",
      hasThreads: false
    ).panel
  }

  private func curve(_ distribution: LatencyDistribution) -> CurvePanel.Curve {
    let last = 1 - 1 / Double(max(2, distribution.count))
    let points = zip(distribution.microseconds, distribution.shares)
      .map { (x: $0, y: min($1, last)) }
    return CurvePanel.Curve(contender: distribution.contender, points: points)
  }
}

extension LatencyDistribution {
  /// The duration that half of all do not exceed, in microseconds.
  fileprivate var median: Double {
    zip(shares, microseconds).first { $0.0 >= 0.5 }?.1 ?? .infinity
  }
}
