import LogEngine

#if Logging || Metrics
import LogEngineObservability
#endif

/// The receivers of a store's events that its configuration names.
///
/// Without a handler, logger or metrics there is none, and the engine does not even record events.
struct StoreObservation: Sendable {
  private var handlers: [EngineEventHandler] = []
  /// Receives reports of slow fetches.
  private(set) var slowFetches: SlowFetches?
  #if Metrics
  private(set) var metrics: StoreMetrics?
  #endif
  #if Tracing
  private(set) var traces: StoreTraces?
  #endif

  /// Nobody.
  static let none = StoreObservation()

  private init() {}

  init(_ configuration: LogStoreConfiguration) {
    slowFetches = SlowFetches(configuration)
    if let handler = configuration.onEvent { handlers.append(handler) }
    #if Logging
    if let logger = configuration.logger {
      handlers.append(EngineEventLog(logger, store: configuration.name).record)
    }
    #endif
    #if Metrics
    if let factory = configuration.metricsFactory {
      let metrics = StoreMetrics(store: configuration.name, factory: factory)
      handlers.append(metrics.engine.record)
      self.metrics = metrics
    }
    #endif
    #if Tracing
    traces = configuration.tracer.map { StoreTraces(store: configuration.name, tracer: $0) }
    #endif
  }

  /// The handler that the engine calls; `nil` without a receiver.
  var onEvent: EngineEventHandler? {
    if handlers.count <= 1 { return handlers.first }
    return { [handlers] event in for handler in handlers { handler(event) } }
  }

  /// Records the engine, once it is open.
  func attach(_ engine: StorageEngine) {
    #if Metrics
    metrics?.engine.attach(engine)
    #endif
  }
}
