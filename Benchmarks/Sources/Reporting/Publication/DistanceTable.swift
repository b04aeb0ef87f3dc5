import Harness

/// The distances of ours from the floor and from the best peer, the farthest first.
struct DistanceTable {
  let results: Results

  /// A figure of ours, measured beside another contender's.
  struct Distance {
    let ours: Measurement
    let other: Measurement
    /// The factor by which the other is better; below 1 if ours is.
    let factor: Double
  }

  private static let ours: Set<String> = [Contender.engine.rawValue, Contender.models.rawValue]
  private static let floors: Set<String> = [Contender.floor.rawValue, Contender.classes.rawValue]
  /// The metrics of a table's lines: single quantiles and the thread's own time would repeat a line.
  private static let metrics: [Metric] = [
    .rowsPerSecond, .megabytesPerSecond, .milliseconds, .bytesPerRow, .deviceBytesPerRow,
    .nanosecondsPerRow, .p99Microseconds,
  ]

  /// The figures at which a peer is better by more than a tenth.
  var losses: String {
    markdown(distances { !Self.ours.contains($0) && !Self.floors.contains($0) })
  }

  /// The distances from the floor.
  var floors: String { markdown(distances { $0 == Contender.floor.rawValue }) }

  func distances(_ isOther: (String) -> Bool) -> [Distance] {
    let kinds = distinct(results.measurements.map { [$0.group ?? "", $0.workload, $0.metric] })
    return kinds.flatMap { kind -> [Distance] in
      guard let metric = Metric(rawValue: kind[2]), Self.metrics.contains(metric) else { return [] }
      let all = results.measurements(of: kind[0]).filter {
        $0.workload == kind[1] && $0.metric == kind[2]
      }
      guard let other = HighlightTable.best(all.filter { isOther($0.contender) }) else { return [] }
      return all.filter { Self.ours.contains($0.contender) }.map { ours in
        let share = ours.median / other.median
        return Distance(ours: ours, other: other, factor: metric.growsWithSpeed ? 1 / share : share)
      }
    }
    .sorted { $0.factor > $1.factor }
  }

  /// One line for each workload and each of ours: that of the metric at which it is the farthest.
  ///
  /// If a workload was measured at several sizes, the largest counts for all.
  private func markdown(_ all: [Distance]) -> String {
    let sizes = all.compactMap { Scaled($0.ours.workload)?.rows }
    var seen: Set<[String]> = []
    let distances = all.filter { distance in
      let ours = distance.ours
      let isLargest = Scaled(ours.workload).map { $0.rows == sizes.max() } ?? true
      return distance.factor > 1.1 && isLargest
        && seen.insert([ours.group ?? "", ours.workload, ours.contender]).inserted
    }
    let head = [
      "| group | workload | metric | ours | | best | | times |",
      "| --- | --- | --- | --- | ---: | --- | ---: | ---: |",
    ]
    let lines = distances.map { distance in
      let (ours, other) = (distance.ours, distance.other)
      let figures = [Figure.format(ours.median), Figure.format(other.median)]
      return """
        | \(ours.group ?? "") | \(ours.workload) | \(ours.metric) | \(ours.contender) | \(figures[0]) \
        | \(other.contender) | \(figures[1]) | \(Figure.ratio(distance.factor)) |
        """
    }
    return (head + lines).joined(separator: "\n")
  }
}
