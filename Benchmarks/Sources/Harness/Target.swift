/// What a figure was hoped to reach; reported beside it, never asserted, because the machine decides too.
public struct Target: Sendable {
  /// What the figure is held against.
  public enum Measure: Sendable {
    /// The figure itself.
    case value
    /// Its share of what the entrant is compared with.
    case share
    /// How much greater it is than that of what the entrant is compared with.
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

  /// Says what was hoped for and whether it came true.
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
