/// The results of one repetition.
public struct Sample: Sendable {
  /// The figures.
  public var figures: [Metric: Double]
  /// The durations of commits or reads, in nanoseconds, if they are timed one by one.
  public var latencies: [UInt64]
  /// The same, counted: if there are too many to keep, and if percentiles are those of all of them.
  public var histogram = LatencyHistogram()

  public init(_ figures: [Metric: Double], latencies: [UInt64] = []) {
    self.figures = figures
    self.latencies = latencies
  }

  public init(_ figures: [Metric: Double], histogram: LatencyHistogram) {
    self.init(figures)
    self.histogram = histogram
  }

  /// The figures, those of the histogram among them.
  var series: [Metric: Double] {
    guard histogram.count > 0 else { return figures }
    let shares: [(Metric, Double)] = [
      (.p50Microseconds, 0.5), (.p90Microseconds, 0.9), (.p99Microseconds, 0.99),
      (.p999Microseconds, 0.999), (.maximumMicroseconds, 1),
    ]
    return shares.reduce(into: figures) { figures, entry in
      figures[entry.0] = Double(histogram.percentile(entry.1)) / 1e3
    }
  }
}

/// Does pieces of work for some time, one after the other, and times each.
///
/// - Parameters:
///   - seconds: The time; the last piece is ended.
///   - work: Does a piece, by number.
/// - Returns: The rate of pieces a second, and the duration of each.
/// - Throws: What the work throws.
public func timeWork(
  forSeconds seconds: Double,
  _ work: (Int) throws -> Void
) rethrows -> Sample {
  var histogram = LatencyHistogram()
  let begin = monotonicNanoseconds()
  let end = begin + UInt64(seconds * 1e9)
  var last = begin
  while last < end {
    try work(histogram.count)
    let now = monotonicNanoseconds()
    histogram.record(now - last)
    last = now
  }
  return Sample(
    [.rowsPerSecond: Double(histogram.count) * 1e9 / Double(max(last - begin, 1))],
    histogram: histogram
  )
}

/// Times work on a number of rows.
///
/// - Parameters:
///   - rows: The number of rows that the work handles.
///   - work: The work, done once.
/// - Returns: Rows a second by the clock on the wall, and the thread's own time for each.
/// - Throws: What the work throws.
public func timeRows(_ rows: Int, _ work: () throws -> Void) rethrows -> Sample {
  let processorStart = threadProcessorNanoseconds()
  let start = monotonicNanoseconds()
  try work()
  let elapsed = monotonicNanoseconds() - start
  let processor = threadProcessorNanoseconds() - processorStart
  return Sample([
    .rowsPerSecond: Double(rows) * 1e9 / Double(max(elapsed, 1)),
    .processorNanosecondsPerRow: Double(processor) / Double(rows),
  ])
}

/// Times commits one by one.
///
/// - Parameters:
///   - commits: The number of commits.
///   - rowsPerCommit: The number of rows in each.
///   - commit: Makes one, by number.
/// - Returns: The rate, the thread's own time for each row, and the duration of each commit.
/// - Throws: What a commit throws.
public func timeCommits(
  _ commits: Int,
  rowsPerCommit: Int,
  _ commit: (Int) throws -> Void
) rethrows -> Sample {
  var latencies: [UInt64] = []
  latencies.reserveCapacity(commits)
  let processorStart = threadProcessorNanoseconds()
  let begin = monotonicNanoseconds()
  var last = begin
  for number in 0..<commits {
    try commit(number)
    let now = monotonicNanoseconds()
    latencies.append(now - last)
    last = now
  }
  let rows = Double(commits * rowsPerCommit)
  let processor = threadProcessorNanoseconds() - processorStart
  return Sample(
    [
      .rowsPerSecond: rows * 1e9 / Double(max(last - begin, 1)),
      .processorNanosecondsPerRow: Double(processor) / rows,
    ],
    latencies: latencies
  )
}

/// Times short pieces of work one by one; reading the clock is part of each.
///
/// - Parameters:
///   - inputs: The inputs of the work.
///   - work: The work, done for each.
/// - Returns: The duration of each, and nothing else.
/// - Throws: What the work throws.
public func timeEach<Input>(
  _ inputs: some Sequence<Input>,
  _ work: (Input) throws -> Void
) rethrows -> Sample {
  var latencies: [UInt64] = []
  latencies.reserveCapacity(inputs.underestimatedCount)
  var last = monotonicNanoseconds()
  for input in inputs {
    try work(input)
    let now = monotonicNanoseconds()
    latencies.append(now - last)
    last = now
  }
  return Sample([:], latencies: latencies)
}

/// Times one piece of work in milliseconds.
///
/// - Parameter work: The work, done once.
/// - Returns: Its duration by the clock on the wall.
/// - Throws: What the work throws.
public func timeMilliseconds(_ work: () throws -> Void) rethrows -> Sample {
  let start = monotonicNanoseconds()
  try work()
  return Sample([.milliseconds: Double(monotonicNanoseconds() - start) / 1e6])
}
