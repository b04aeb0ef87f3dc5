import Terminal

/// An amount over time, as an area under a line.
struct AreaChart {
  var title: String
  /// The class that gives the colour.
  var name: String
  var points: [(time: Int64, amount: Int)]
  /// The ratio of a unit to the next smaller one: 1,024 for bytes.
  var unit: Int
  /// An amount in words.
  var words: (Int) -> String

  var markup: String {
    guard let first = points.first, let last = points.last else { return "" }
    // A clock may jump back; commits do not.
    let start = points.map(\.time).min() ?? first.time
    let end = points.map(\.time).max() ?? last.time
    // In floating point: times of a damaged store may be further apart than integers go.
    let span = max(Double(end) - Double(start), 1)
    let most = max(points.map(\.amount).max() ?? 0, 1)
    let top = Self.roundedUp(most, unit: unit)
    func x(_ time: Int64) -> Double { (Double(time) - Double(start)) / span * 1000 }
    func y(_ amount: Int) -> Double { 300 - Double(amount) / Double(top) * 300 }
    var line = ""
    for (index, point) in points.enumerated() {
      let place = "\(x(point.time).fixed(1)) \(y(point.amount).fixed(1))"
      // The addition of a commit is there from its time on, not before.
      if index == 0 {
        line += "M\(place)"
      } else {
        line += "H\(x(point.time).fixed(1))V\(y(point.amount).fixed(1))"
      }
    }
    line += "H1000"
    let grid = [0, 75, 150, 225].map { "M0 \($0)H1000" }.joined()
    let description = "\(title): \(words(first.amount)) at first, \(words(last.amount)) at last"
    return """
      <figure>
      <figcaption>\(HTML.escaped(title)) <b>\(HTML.escaped(words(last.amount)))</b></figcaption>
      <div class="chart">
      <span class="top">\(HTML.escaped(words(top)))</span>
      <svg viewBox="0 0 1000 300" preserveAspectRatio="none" role="img" aria-label="\
      \(HTML.escaped(description))"><path class="grid" d="\(grid)"/>\
      <path class="area \(name)" d="\(line)V300H0Z"/><path class="line \(name)" d="\(line)"/></svg>
      </div>
      <div class="axis"><span>\(Self.shortTime(start, span))</span><span>UTC</span>\
      <span>\(Self.shortTime(end, span))</span></div>
      </figure>
      """
  }

  /// The next amount that reads well: 1, 1.5, 2, 3, … 10, 15, … 100, … of a unit.
  static func roundedUp(_ amount: Int, unit: Int) -> Int {
    var base = 1
    while amount / unit >= base { base *= unit }
    for factor in [1, 10, 100, 1000] {
      for digits in [10, 15, 20, 30, 40, 50, 60, 80] {
        let (product, hasOverflown) = base.multipliedReportingOverflow(by: digits * factor)
        if hasOverflown { return amount }
        // With the next unit at hand, a thousand of the last reads badly.
        guard product / 10 >= amount else { continue }
        if product / 10 / 900 < base { return product / 10 }
        let (next, isBeyond) = base.multipliedReportingOverflow(by: unit)
        return isBeyond ? product / 10 : next
      }
    }
    return amount
  }

  /// A time, as exact as the time that the chart spans needs it.
  private static func shortTime(_ microseconds: Int64, _ span: Double) -> String {
    let text = "\(Timestamp(microseconds: microseconds))".replacing("T", with: " ")
    let count =
      switch span {
      case ..<10e6: 23
      case ..<(3600e6): 19
      case ..<(30 * 86_400e6): 16
      default: 10
      }
    return HTML.escaped(String(text.prefix(count)))
  }
}
