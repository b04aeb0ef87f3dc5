extension TableStore {
  #if Metrics
  /// Runs a closure, and measures it if its duration is published.
  @inline(__always)
  func measure<R>(_ operation: StoreMetrics.Operation, _ body: () throws -> R) rethrows -> R {
    guard let metrics = observation.metrics else { return try body() }
    return try metrics.measure(operation, body)
  }
  #else
  enum MeasuredOperation { case save, fetch }

  /// Does something that would be measured with the trait `Metrics`.
  @inline(__always)
  func measure<R>(_: MeasuredOperation, _ body: () throws -> R) rethrows -> R { try body() }
  #endif
}
