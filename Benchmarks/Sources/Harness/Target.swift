/// A target of a figure; reported beside it, never asserted, because the machine decides too.
public struct Target: Sendable {
  /// The measure that the target applies to.
  public enum Measure: Sendable {
    /// The figure itself.
    case value
    /// Its ratio to the figure of the reference entrant.
    case share
    /// Its difference from the figure of the reference entrant.
    case difference
  }

  public enum Bound: Sendable {
    case atLeast(Double)
    case atMost(Double)
  }

  public let metric: Metric
  public let measure: Measure
  public let bound: Bound

  public init(_ metric: Metric, _ measure: Measure, _ bound: Bound) {
    self.metric = metric
    self.measure = measure
    self.bound = bound
  }

  public init(_ metric: Metric, _ bound: Bound) {
    self.init(metric, .value, bound)
  }

  /// Returns the target in words, and whether it was reached.
  func verdict(_ figure: Double) -> String {
    switch bound {
    case .atLeast(let least): "≥ \(describe(least)): \(figure >= least ? "reached" : "missed")"
    case .atMost(let most): "≤ \(describe(most)): \(figure <= most ? "reached" : "missed")"
    }
  }

  private func describe(_ limit: Double) -> String {
    switch measure {
    case .value: Figure.format(limit)
    case .share: "\(Figure.ratio(limit)) ×"
    case .difference: "\(Figure.format(limit)) more"
    }
  }
}
