import Harness

/// Curves over a logarithmic axis, each with its name where it ends.
struct CurvePanel {
  struct Curve {
    let contender: String
    /// Rising in `x`.
    let points: [(x: Double, y: Double)]
    /// Whether each point is a measurement of its own, to be marked by a dot.
    var hasDots = false
  }

  let title: String
  let curves: [Curve]
  let xKind: Scale.Kind
  let yKind: Scale.Kind
  let xTicks: [(value: Double, label: String)]
  let yTicks: [(value: Double, label: String)]
  let xDomain: ClosedRange<Double>
  let yDomain: ClosedRange<Double>
  let xTitle: String
  var height = 300.0
  /// Whether a thread leads from a name that had to move to the end of its curve.
  var hasThreads = true

  private static let axisWidth = 52.0
  private static let nameWidth = 88.0
  private static let head = 26.0
  private static let foot = 40.0

  var panel: PanelPage.Panel {
    PanelPage.Panel(height: height) { drawing, frame in draw(in: &drawing, frame) }
  }

  private func draw(in drawing: inout Drawing, _ frame: PanelPage.Frame) {
    let top = frame.y + Self.head
    let bottom = frame.y + height - Self.foot
    let x = Scale(
      xKind,
      xDomain,
      from: frame.x + Self.axisWidth,
      to: frame.x + frame.width - Self.nameWidth
    )
    let y = Scale(yKind, yDomain, from: bottom, to: top)
    drawing.text(title, frame.x, frame.y + 10, class: "panel")
    for tick in xTicks {
      drawing.line(x.place(tick.value), top, x.place(tick.value), bottom, class: "grid")
      drawing.text(tick.label, x.place(tick.value), bottom + 15, anchor: .middle, class: "small")
    }
    for tick in yTicks {
      drawing.line(x.start, y.place(tick.value), x.end, y.place(tick.value), class: "grid")
      drawing.text(tick.label, x.start - 6, y.place(tick.value) + 4, anchor: .end, class: "small")
    }
    drawing.line(x.start, bottom, x.end, bottom, class: "axis")
    drawing.text(xTitle, (x.start + x.end) / 2, bottom + 32, anchor: .middle, class: "small")
    for curve in curves { draw(curve, x, y, in: &drawing) }
    nameCurves(x, y, in: &drawing)
  }

  private func draw(_ curve: Curve, _ x: Scale, _ y: Scale, in drawing: inout Drawing) {
    let name = Style.name(of: curve.contender)
    let places = curve.points.map { (x: x.place($0.x), y: y.place($0.y)) }
    drawing.path(places, class: "curve \(name)")
    guard curve.hasDots else { return }
    for place in places { drawing.dot(place.x, place.y, class: name) }
  }

  private func nameCurves(_ x: Scale, _ y: Scale, in drawing: inout Drawing) {
    let ends = curves.compactMap { curve in
      curve.points.last.map { (curve.contender, x.place($0.x), y.place($0.y)) }
    }
    let places = LabelPlaces.spread(ends.map(\.2), apart: 14, within: y.end...y.start)
    for (end, place) in zip(ends, places) {
      drawing.text(end.0, x.end + 8, place + 4, class: Style.name(of: end.0))
      if hasThreads, abs(place - end.2) > 6 || x.end - end.1 > 10 {
        drawing.line(end.1, end.2, x.end + 5, place, class: "grid")
      }
    }
  }
}
