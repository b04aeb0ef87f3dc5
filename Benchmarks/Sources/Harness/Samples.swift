/// The results of an entrant's repetitions, in their order.
struct Samples {
  private var figures: [Metric: Series] = [:]
  private var latencies = LatencyRecorder()

  mutating func append(_ sample: Sample) {
    for (metric, value) in sample.figures {
      figures[metric, default: Series()].append(value)
    }
    latencies.record(sample.latencies)
    latencies.merge(sample.histogram)
  }

  /// The figures of each metric, percentiles among them.
  var series: [Metric: Series] { figures.merging(latencies.series) { figure, _ in figure } }

  /// The durations of commits or reads, if they were timed one by one.
  var histogram: LatencyHistogram { latencies.all }
}
