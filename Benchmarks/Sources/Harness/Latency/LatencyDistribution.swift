import Glibc

/// A histogram as points of its curve, for plots and for stored results.
public struct LatencyDistribution: Codable, Sendable, Equatable {
  public var group: String?
  public var workload: String
  public var contender: String
  /// Number of durations that were counted.
  public var count: Int
  /// Shares of all durations, rising; the last is 1.
  public var shares: [Double]
  /// The durations that those shares do not exceed, in microseconds.
  public var microseconds: [Double]

  public init(
    group: String?,
    workload: String,
    contender: String,
    count: Int,
    shares: [Double],
    microseconds: [Double]
  ) {
    self.group = group
    self.workload = workload
    self.contender = contender
    self.count = count
    self.shares = shares
    self.microseconds = microseconds
  }

  /// Takes the points of a histogram: sixteen for each further nine, as far as its count carries.
  ///
  /// - Parameters:
  ///   - group: The group of benchmarks it belongs to.
  ///   - key: The entrant.
  ///   - histogram: The counts; not empty.
  init(_ group: String?, _ key: Entrant.Key, _ histogram: LatencyHistogram) {
    self.group = group
    workload = key.name
    contender = key.contender.rawValue
    count = histogram.count
    shares = Self.shares(upTo: histogram.count)
    microseconds = shares.map { Double(histogram.percentile($0)) / 1e3 }
  }

  private static func shares(upTo count: Int) -> [Double] {
    let beyond = (0...).lazy.map { pow(10, -Double($0) / 16) }
    return beyond.prefix { $0 * Double(count) >= 1 }.map { 1 - $0 } + [1]
  }
}
