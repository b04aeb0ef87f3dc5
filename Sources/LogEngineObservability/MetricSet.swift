#if Metrics
import CoreMetrics
import LogEngine
import Synchronization

/// The metrics of one store.
///
/// Those without a further dimension are made once; the others when there is something to be said.
final class MetricSet: Sendable {
  private let store: String
  private let factory: any MetricsFactory
  private let counters: [Counter]
  private let openDuration: CoreMetrics.Timer
  private let checkpointDuration: CoreMetrics.Timer
  private let compactionDuration: CoreMetrics.Timer
  private let segmentWaitDuration: CoreMetrics.Timer
  private let compactionReadBytes: Counter
  private let gauges = Mutex<[Key: Gauge]>([:])
  /// Those with a further dimension.
  private let kindCounters = Mutex<[Key: Counter]>([:])

  /// A further dimension, and its value.
  private struct Kind: Hashable {
    let dimension: String
    let value: String

    static func kind(_ value: String) -> Kind { Kind(dimension: "kind", value: value) }
    static func table(_ value: String) -> Kind { Kind(dimension: "table", value: value) }
    static func entity(_ value: String) -> Kind { Kind(dimension: "entity", value: value) }
  }

  private struct Key: Hashable {
    let name: MetricName
    let kind: Kind?
  }

  init(store: String, factory: any MetricsFactory) {
    self.store = store
    self.factory = factory
    let dimensions = [("store", store)]
    func counter(_ name: MetricName) -> Counter {
      Counter(label: name.rawValue, dimensions: dimensions, factory: factory)
    }
    func timer(_ name: MetricName) -> CoreMetrics.Timer {
      CoreMetrics.Timer(label: name.rawValue, dimensions: dimensions, factory: factory)
    }
    counters = EngineTotals.names.map(counter)
    compactionReadBytes = counter(.compactionReadBytes)
    openDuration = timer(.openDuration)
    checkpointDuration = timer(.checkpointDuration)
    compactionDuration = timer(.compactionDuration)
    segmentWaitDuration = timer(.segmentWaitDuration)
  }

  func add(_ growth: EngineTotals) {
    for (counter, value) in zip(counters, growth.values) where value > 0 {
      counter.increment(by: value)
    }
  }

  private func set(_ name: MetricName, _ value: Double, _ kind: Kind? = nil) {
    gauge(name, kind).record(value)
  }

  private func set(_ name: MetricName, _ value: Int, _ kind: Kind? = nil) {
    gauge(name, kind).record(value)
  }

  /// The gauge of a name and a further dimension, made when it is first used.
  private func gauge(_ name: MetricName, _ kind: Kind?) -> Gauge {
    gauges.withLock { gauges in
      let key = Key(name: name, kind: kind)
      if let known = gauges[key] { return known }
      let gauge = Gauge(label: name.rawValue, dimensions: dimensions(kind), factory: factory)
      gauges[key] = gauge
      return gauge
    }
  }

  private func dimensions(_ kind: Kind?) -> [(String, String)] {
    [("store", store)] + (kind.map { [($0.dimension, $0.value)] } ?? [])
  }
}

// MARK: The state of the store

extension MetricSet {
  func set(_ statistics: EngineStatistics) {
    let history = statistics.historyByteCount
    set(.fileBytes, statistics.segments.reduce(0) { $0 + $1.fileByteCount }, .kind("log"))
    set(.fileBytes, statistics.packs.reduce(0) { $0 + $1.fileByteCount }, .kind("packs"))
    set(.liveBytes, statistics.liveByteCount)
    set(.deadBytes, statistics.deadByteCount)
    set(.historyBytes, history)
    set(.spaceAmplification, statistics.spaceAmplification)
    set(.writeAmplification, statistics.writing.writeAmplification)
    set(.compactionDebtBytes, statistics.compaction.debtByteCount)
    set(.compactionPressure, statistics.compaction.pressure)
    set(.compactionRate, statistics.compaction.rate)
    set(.indexBytes, statistics.indexByteCount)
    set(.cacheBytes, statistics.blockCache.byteCount)
    set(.views, statistics.pins.count)
    set(.oldestViewAge, (statistics.pins.oldestAge ?? .zero) / .seconds(1))
    set(.viewHeldBytes, statistics.pins.heldByteCount)
    set(.poisoned, statistics.failure == nil ? 0 : 1)
    for table in statistics.tables { set(.rows, table.rowCount, .table(table.name)) }
  }

  func set(_ usage: SpaceUsage) {
    for kind in SpaceUsage.Kind.allCases {
      set(.fileBytes, usage[kind].byteCount, .kind(kind.rawValue))
    }
  }
}

// MARK: What happens

extension MetricSet {
  func record(_ event: EngineEvent) {
    switch event {
    case .opened(let report): openDuration.record(report.duration)
    case .segmentSealed(let report): segmentWaitDuration.record(report.duration)
    case .checkpointWritten(let report): checkpointDuration.record(report.duration)
    case .compactionEnded(.compacted(let report)):
      compactionDuration.record(report.duration)
      compactionReadBytes.increment(by: report.readByteCount)
    case .checkpointFailed: countFailure("checkpoint")
    case .compactionFailed: countFailure("compaction")
    case .blobsSwept(let report): if report.failure != nil { countFailure("blob_sweep") }
    case .rowsExpired(let report):
      let entity = Kind.entity(report.entityName)
      if report.deletedCount > 0 {
        counter(.expiredRows, entity).increment(by: report.deletedCount)
      }
      set(.keptExpiredRows, report.keptCount, entity)
      if report.failure != nil { countFailure("expiration") }
    case .noSpace: countFailure("no_space")
    case .poisoned: countFailure("poisoned")
    case .damageFound: countFailure("damage")
    case .leftBehind: countFailure("left_behind")
    case .closed, .compactionStarted, .compactionEnded: break
    }
  }

  private func countFailure(_ kind: String) { counter(.failures, .kind(kind)).increment() }

  /// The counter of a name and a further dimension, made when it is first used.
  private func counter(_ name: MetricName, _ kind: Kind) -> Counter {
    kindCounters.withLock { counters in
      let key = Key(name: name, kind: kind)
      if let known = counters[key] { return known }
      let counter = Counter(label: name.rawValue, dimensions: dimensions(kind), factory: factory)
      counters[key] = counter
      return counter
    }
  }
}

extension CoreMetrics.Timer {
  /// Records a duration, to the nanosecond.
  package func record(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
#endif
