import Harness

/// Bars of one metric at one workload, the greatest first, from zero; a line on each spans the rounds.
struct BarPanel {
  let title: String
  /// The meaning of the workload, in words; may be empty.
  let meaning: String
  let unit: String
  let bars: [Measurement]

  private static let barHeight = 14.0
  private static let pitch = 20.0
  private static let head = 38.0
  private static let foot = 20.0
  private static let nameWidth = 88.0
  private static let figureWidth = 62.0

  var panel: PanelPage.Panel {
    let height = Self.head + Double(bars.count) * Self.pitch + Self.foot
    return PanelPage.Panel(height: height) { drawing, frame in draw(in: &drawing, frame) }
  }

  /// The greatest value the axis reaches to: a lone slow or fast round does not squeeze all bars.
  var maximum: Double {
    let median = bars.map(\.median).max() ?? 1
    let spread = bars.map(\.max).max() ?? 1
    return max(min(spread, 1.25 * median), .leastNormalMagnitude)
  }

  private func draw(in drawing: inout Drawing, _ frame: PanelPage.Frame) {
    let left = frame.x + Self.nameWidth
    let right = frame.x + frame.width - Self.figureWidth
    let ticks = Ticks.linear(upTo: maximum, atMost: 5)
    let scale = Scale(.linear, 0...(ticks.last ?? 1), from: left, to: right)
    let top = frame.y + Self.head
    let bottom = top + Double(bars.count) * Self.pitch
    drawing.text("\(title), \(unit)", frame.x, frame.y + 10, class: "panel")
    drawing.text(meaning, frame.x, frame.y + 25, class: "small")
    for tick in ticks {
      let x = scale.place(tick)
      drawing.line(x, top - 4, x, bottom, class: tick == 0 ? "axis" : "grid")
      drawing.text(Figure.axis(tick), x, bottom + 14, anchor: .middle, class: "small")
    }
    for (index, bar) in bars.enumerated() {
      draw(bar, at: top + Double(index) * Self.pitch, scale, in: &drawing)
    }
  }

  private func draw(_ bar: Measurement, at y: Double, _ scale: Scale, in drawing: inout Drawing) {
    let middle = y + Self.barHeight / 2
    let ours = Style.isOurs(bar.contender)
    drawing.text(
      bar.contender,
      scale.start - 6,
      middle + 4,
      anchor: .end,
      class: ours ? "ours" : "ink"
    )
    let end = scale.place(bar.median)
    drawing.bar(
      scale.start,
      y,
      end - scale.start,
      Self.barHeight,
      class: Style.name(of: bar.contender)
    )
    let low = scale.place(bar.min)
    let high = scale.place(bar.max)
    if high - low > 1 { drawing.line(low, middle, high, middle, class: "whisker") }
    drawing.text(
      Figure.format(bar.median),
      max(end, high) + 5,
      middle + 4,
      class: ours ? "ours" : "ink"
    )
  }
}
