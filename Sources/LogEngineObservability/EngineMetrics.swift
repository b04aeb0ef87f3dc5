#if Metrics
public import CoreMetrics
public import LogEngine
import Synchronization

/// Publishes the activity and the state of a store as metrics.
///
///     let metrics = EngineMetrics(store: "trips")
///     let engine = try StorageEngine.open(at: path, onEvent: metrics.record)
///     metrics.attach(engine)
///
/// Counts and durations are published with each event. The state of the store is published
/// when an engine is attached, after an event that changes its files, and whenever ``sample()`` is called:
/// call it where metrics are scraped, or from a timer of the program's own. There is none in here, since a
/// store that is not written to should not wake a processor.
///
/// Each name begins with `logstore_`, and each metric has the dimension `store`; see ``MetricName``.
public final class EngineMetrics: Sendable {
  private let metrics: MetricSet
  private let attached = Mutex<Attached>(Attached())

  private struct Attached {
    weak var engine: StorageEngine?
    /// The values of the counters so far.
    var counted = EngineTotals()
  }

  /// Publishes to a factory.
  ///
  /// - Parameters:
  ///   - store: The value of the dimension `store`.
  ///   - factory: Makes the metrics; by default, the program's factory.
  public init(store: String, factory: any MetricsFactory = MetricsSystem.factory) {
    metrics = MetricSet(store: store, factory: factory)
  }

  /// Publishes the state of an engine now and from now on; the engine is not kept.
  ///
  /// Counters continue from their values, also if it is another engine of the same store.
  public func attach(_ engine: StorageEngine) {
    attached.withLock { $0 = Attached(engine: engine) }
    sample()
  }

  /// Counts an event, and publishes the state of the store if its files have changed.
  public func record(_ event: EngineEvent) {
    metrics.record(event)
    switch event {
    case .segmentSealed, .checkpointWritten, .compactionEnded, .blobsSwept, .closed, .poisoned:
      sample()
    default: break
    }
  }

  /// Publishes the state of the store; does nothing if it is gone.
  ///
  /// - Complexity: That of ``LogEngine/StorageEngine/statistics()``: no system call, but for the clock.
  public func sample() {
    guard let engine = attached.withLock({ $0.engine }) else { return }
    let statistics = engine.statistics()
    metrics.set(statistics)
    let totals = EngineTotals(statistics)
    let growth = attached.withLock { attached in
      defer { attached.counted = attached.counted.grown(to: totals) }
      return attached.counted.growth(to: totals)
    }
    metrics.add(growth)
  }

  /// Publishes the space of the store on its device, for every kind of file.
  ///
  /// - Throws: `StorageError` if a directory cannot be read.
  /// - Complexity: O(files), side files included: the file system is asked for each.
  public func sampleSpace() throws {
    guard let engine = attached.withLock({ $0.engine }) else { return }
    metrics.set(try engine.spaceUsage())
  }
}
#endif
