/// The durations of the commits or reads of all rounds: together, and in blocks of some thousand.
///
/// A percentile is reported as the median over the blocks, with the least and the greatest of them: one
/// burst of other work on the machine then spoils the blocks it hits and not the figure.
struct LatencyRecorder {
  /// All durations.
  private(set) var all = LatencyHistogram()
  private var percentiles = [
    BlockPercentile(.p50Microseconds, 0.5, block: 1_000),
    BlockPercentile(.p90Microseconds, 0.9, block: 1_000),
    BlockPercentile(.p99Microseconds, 0.99, block: 1_000),
    BlockPercentile(.p999Microseconds, 0.999, block: 10_000),
  ]

  mutating func record(_ durations: [UInt64]) {
    for duration in durations {
      all.record(duration)
      for index in percentiles.indices { percentiles[index].record(duration) }
    }
  }

  /// Adds durations that were counted only: of them alone, percentiles are those of all.
  mutating func merge(_ histogram: LatencyHistogram) { all.merge(histogram) }

  /// The percentiles and the longest duration, in microseconds; empty if nothing was recorded.
  var series: [Metric: Series] {
    guard all.count > 0 else { return [:] }
    var series: [Metric: Series] = [.maximumMicroseconds: Series([Double(all.maximum) / 1e3])]
    for percentile in percentiles { series[percentile.metric] = percentile.series(of: all) }
    // Of fewer, the longest would pass for it.
    if all.count < 1000 { series[.p999Microseconds] = nil }
    return series
  }
}

/// One percentile, taken of each block of durations.
private struct BlockPercentile {
  let metric: Metric
  private let share: Double
  /// The number of durations in a block: so many that the share beyond the percentile still is some of them.
  private let blockLength: Int
  private var block = LatencyHistogram()
  private var values: [Double] = []

  init(_ metric: Metric, _ share: Double, block: Int) {
    self.metric = metric
    self.share = share
    blockLength = block
  }

  mutating func record(_ duration: UInt64) {
    block.record(duration)
    guard block.count == blockLength else { return }
    values.append(Double(block.percentile(share)) / 1e3)
    block = LatencyHistogram()
  }

  /// The percentile over blocks, or of all durations if they do not fill one.
  func series(of all: LatencyHistogram) -> Series {
    Series(values.isEmpty ? [Double(all.percentile(share)) / 1e3] : values)
  }
}
