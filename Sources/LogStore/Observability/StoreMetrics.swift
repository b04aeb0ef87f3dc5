#if Metrics
import CoreMetrics
import LogEngineObservability
import ModelRuntime

/// The metrics of a store of models: those of its engine, and of saves and fetches.
final class StoreMetrics: Sendable {
  let engine: EngineMetrics
  private let saves: Metric
  private let fetches: Metric
  private let now: @Sendable () -> ContinuousClock.Instant

  /// The durations of a frequent operation, and the number of its failures.
  private struct Metric: Sendable {
    let duration: CoreMetrics.Timer
    let failures: Counter
  }

  init(
    store: String,
    factory: any MetricsFactory,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    func metric(_ duration: MetricName, _ failures: MetricName) -> Metric {
      let dimensions = [("store", store)]
      return Metric(
        duration: .init(label: duration.rawValue, dimensions: dimensions, factory: factory),
        failures: Counter(label: failures.rawValue, dimensions: dimensions, factory: factory)
      )
    }
    engine = EngineMetrics(store: store, factory: factory)
    saves = metric(.saveDuration, .saveFailures)
    fetches = metric(.fetchDuration, .fetchFailures)
    self.now = now
  }

  /// Does something, and publishes how long it took, or that it failed.
  ///
  /// A store's refusal that leaves the work to the context is no failure: the context asks again, more simply.
  func measure<R>(_ operation: StoreOperation, _ body: () throws -> R) rethrows -> R {
    let metric = operation == .save ? saves : fetches
    let start = now()
    do {
      let result = try body()
      metric.duration.record(start.duration(to: now()))
      return result
    } catch {
      if !(error is DataStoreError) { metric.failures.increment() }
      throw error
    }
  }
}
#endif
