import Harness

/// The figures of contenders second by second: rates from zero, or the longest commit of each second.
struct TimelineChart {
  /// The figure of a timeline that is drawn.
  enum Figure {
    case rate, longestCommit
  }

  let workload: String
  let timelines: [Timeline]
  let figure: Figure

  var panel: PanelPage.Panel {
    let curves = timelines.map(curve)
    let seconds = Double(timelines.map(\.rowsPerSecond.count).max() ?? 1)
    let greatest = curves.flatMap { $0.points.map(\.y) }.max() ?? 1
    let xTicks = Ticks.linear(upTo: max(seconds, 1), atMost: 6)
    let yTicks = Ticks.linear(upTo: max(greatest, 1), atMost: 5)
    return CurvePanel(
      title: title,
      curves: curves,
      xKind: .linear,
      yKind: .linear,
      xTicks: xTicks.map { ($0, Harness.Figure.axis($0)) },
      yTicks: yTicks.map { ($0, label($0)) },
      xDomain: 0...max(seconds, 1),
      yDomain: 0...(yTicks.last ?? 1),
      xTitle: "seconds",
      height: 280
    ).panel
  }

  private var title: String {
    switch figure {
    case .rate: "\(workload): rows/s in each second"
    case .longestCommit: "\(workload): longest commit of each second"
    }
  }

  private func label(_ value: Double) -> String {
    switch figure {
    case .rate: Harness.Figure.axis(value)
    case .longestCommit: value == 0 ? "0" : Harness.Figure.duration(microseconds: value)
    }
  }

  private func curve(_ timeline: Timeline) -> CurvePanel.Curve {
    let values =
      figure == .rate ? timeline.rowsPerSecond : timeline.longestMicroseconds
    let points = values.enumerated().map { (x: Double($0.offset + 1), y: $0.element) }
    return CurvePanel.Curve(contender: timeline.contender, points: points)
  }
}
