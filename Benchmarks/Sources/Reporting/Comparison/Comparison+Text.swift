import Harness

extension Comparison {
  /// The changes as lines people read, the worst first.
  public var text: String {
    let lines = changes.map { change in
      let floor = change.floorFactor.map { ", floor \(Self.describe($0))" } ?? ""
      return [
        pad(Self.describe(change.factor) + floor, 34),
        pad("\(change.new.workload) \(change.new.contender)", 34),
        pad(change.new.metric, 22),
        "\(Figure.format(change.old.median)) → \(Figure.format(change.new.median))",
      ].joined()
    }
    let worse = changes.count(where: \.isWorse)
    let summary = """
      \(comparedCount) figures compared: \(worse) worse and \(changes.count - worse) better than the \
      spread of both runs; \(unmatchedCount) are in one run only
      """
    return (lines + [summary]).joined(separator: "\n") + "\n"
  }

  private static func describe(_ factor: Double) -> String {
    factor > 1 ? "\(Figure.ratio(factor)) × worse" : "\(Figure.ratio(1 / factor)) × better"
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
