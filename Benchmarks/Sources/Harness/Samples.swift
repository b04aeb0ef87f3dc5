/// What an entrant's repetitions found out, in their order.
struct Samples {
  private(set) var series: [Metric: Series] = [:]
  private var latencies: [UInt64] = []

  /// How many commits a percentile is taken of, so that the hundredth part still is some.
  private static let block = 1000

  mutating func append(_ sample: Sample) {
    for (metric, value) in sample.figures {
      series[metric, default: Series()].append(value)
    }
    latencies += sample.latencies
  }

  /// Turns the latencies into series of percentiles, one figure for each block of commits.
  mutating func finish() {
    guard !latencies.isEmpty else { return }
    let blocks = max(1, latencies.count / Self.block)
    for block in 0..<blocks {
      let bounds = latencies.count * block / blocks..<latencies.count * (block + 1) / blocks
      let sorted = latencies[bounds].sorted()
      series[.p50Microseconds, default: Series()].append(percentile(0.50, of: sorted))
      series[.p99Microseconds, default: Series()].append(percentile(0.99, of: sorted))
    }
    latencies = []
  }

  /// The smallest of sorted latencies that a share of all does not exceed, in microseconds.
  private func percentile(_ share: Double, of sorted: [UInt64]) -> Double {
    let rank = Int((Double(sorted.count) * share).rounded(.up))
    return Double(sorted[max(0, rank - 1)]) / 1e3
  }
}
