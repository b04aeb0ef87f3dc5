import Harness

/// The highlights in Markdown: a line for each, a column for each contender.
struct HighlightTable {
  let results: Results
  var highlights = Highlight.all

  /// Each has a column; of the others, such as an array of classes, no figure is shown, and none can be the best.
  private static let contenders: [Contender] = [
    .engine, .models, .sqlite, .grdb, .lmdb, .leveldb, .rocksdb, .floor,
  ]

  var markdown: String {
    let names = ["what", "unit", "durability"] + Self.contenders.map(\.rawValue)
    let rule = ["---", "---", "---"] + Self.contenders.map { _ in "---:" }
    let lines = highlights.compactMap { highlight -> [String]? in
      let found = highlight.measurements(in: results)
      guard !found.isEmpty else { return nil }
      let rivals = Set(Self.contenders.map(\.rawValue)).subtracting([Contender.floor.rawValue])
      let best = Self.best(found.filter { rivals.contains($0.contender) })
      let figures = Self.contenders.map { contender in
        found.first { $0.contender == contender.rawValue }
          .map { $0 == best ? "**\(Figure.format($0.median))**" : Figure.format($0.median) } ?? ""
      }
      let durability = highlight.workload.durability.name
      return [highlight.words, highlight.metric.unit, durability] + figures
    }
    return ([names, rule] + lines).map { "| " + $0.joined(separator: " | ") + " |" }
      .joined(separator: "\n")
  }

  /// The one whose figure is the best.
  static func best(_ measurements: [Measurement]) -> Measurement? {
    guard let metric = measurements.first.flatMap({ Metric(rawValue: $0.metric) }) else {
      return nil
    }
    return metric.growsWithSpeed
      ? measurements.max { $0.median < $1.median } : measurements.min { $0.median < $1.median }
  }
}
