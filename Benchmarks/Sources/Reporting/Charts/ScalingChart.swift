import Foundation
import Harness

/// The change of one metric as stores grow, on two logarithmic axes: a level line costs the same at
/// any size.
struct ScalingChart {
  let title: String
  let unit: String
  let measurements: [(rows: Int, Measurement)]

  var panel: PanelPage.Panel {
    let values = measurements.map(\.1.median).filter { $0 > 0 }
    let rows = measurements.map { Double($0.rows) }
    let yDomain = Self.around(values)
    let xDomain = (rows.min() ?? 1)...max(rows.max() ?? 10, (rows.min() ?? 1) * 10)
    return CurvePanel(
      title: "\(title), \(unit)",
      curves: curves,
      xKind: .logarithmic,
      yKind: .logarithmic,
      xTicks: Ticks.logarithmic(xDomain).filter { log10($0).rounded() == log10($0) }
        .map { ($0, Figure.axis($0)) },
      yTicks: Ticks.logarithmic(yDomain).map { ($0, Figure.axis($0)) },
      xDomain: xDomain,
      yDomain: yDomain,
      xTitle: "rows in the store (logarithmic)",
      height: 280
    ).panel
  }

  private var curves: [CurvePanel.Curve] {
    var contenders: [String] = []
    for (_, measurement) in measurements where !contenders.contains(measurement.contender) {
      contenders.append(measurement.contender)
    }
    return contenders.map { contender in
      let points = measurements.filter { $0.1.contender == contender && $0.1.median > 0 }
        .sorted { $0.rows < $1.rows }
        .map { (x: Double($0.rows), y: $0.1.median) }
      return CurvePanel.Curve(contender: contender, points: points, hasDots: true)
    }
  }

  /// A domain with some air around the values, and at least a factor of ten high.
  static func around(_ values: [Double]) -> ClosedRange<Double> {
    let low = (values.min() ?? 1) / 1.3
    let high = (values.max() ?? 1) * 1.3
    guard high / low < 10 else { return low...high }
    let middle = (low * high).squareRoot()
    return middle / 10.0.squareRoot()...middle * 10.0.squareRoot()
  }
}
