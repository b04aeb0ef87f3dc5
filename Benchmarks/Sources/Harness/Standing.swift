/// The results of an entrant over all rounds.
public struct Standing {
  let entrant: Entrant
  let series: [Metric: Series]
  let latencies: LatencyHistogram
  let reference: [Metric: Series]?

  /// The lines of the report, by metric.
  var lines: [ReportLine] {
    Metric.allCases.compactMap { metric in
      series[metric].map { line(metric, $0) }
    }
  }

  /// The figures, to be stored.
  func measurements(in group: String?) -> [Measurement] {
    Metric.allCases.compactMap { metric in
      guard let values = series[metric] else { return nil }
      return Measurement(
        group: group,
        workload: entrant.key.name,
        contender: entrant.key.contender.rawValue,
        metric: metric.rawValue,
        median: values.median,
        min: values.min,
        max: values.max,
        runs: values.values.count,
        settings: entrant.settings,
        durability: entrant.key.workload.durability
      )
    }
  }

  /// The curve of its latencies, if they were timed one by one.
  func distribution(in group: String?) -> LatencyDistribution? {
    latencies.count == 0 ? nil : LatencyDistribution(group, entrant.key, latencies)
  }

  private func line(_ metric: Metric, _ values: Series) -> ReportLine {
    let other = reference?[metric]
    let share = other.map { values.shares(of: $0).median }
    let targets = entrant.targets.filter { $0.metric == metric }
    return ReportLine(
      workload: entrant.key.name,
      contender: entrant.key.contender.rawValue,
      durability: entrant.key.workload.durability.name,
      metric: metric.rawValue,
      median: Figure.format(values.median),
      spread: "\(Figure.format(values.min)) … \(Figure.format(values.max))",
      share: share.map { describe($0, metric) } ?? "",
      target: targets.map { target in
        switch target.measure {
        case .value: target.verdict(values.median)
        case .share: target.verdict(share ?? .nan)
        case .difference: target.verdict(values.median - (other?.median ?? .nan))
        }
      }.joined(separator: ", ")
    )
  }

  private func describe(_ share: Double, _ metric: Metric) -> String {
    guard let reference = entrant.reference else { return "" }
    let name =
      reference.name == entrant.key.name
      ? reference.contender.rawValue
      : "\(reference.name) \(reference.contender.rawValue)"
    return "\(Figure.ratio(share)) × \(name)"
  }
}
