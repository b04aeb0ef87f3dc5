extension TableStore {
  /// Does something; measures it if its duration is published, and traces it if there is a tracer.
  @inline(__always)
  func measure<R>(_ operation: StoreOperation, _ body: () throws -> R) rethrows -> R {
    #if Tracing
    if let traces = observation.traces {
      return try traces.trace(operation) { try measureDuration(operation, body) }
    }
    #endif
    return try measureDuration(operation, body)
  }

  @inline(__always)
  private func measureDuration<R>(_ operation: StoreOperation, _ body: () throws -> R) rethrows -> R
  {
    #if Metrics
    if let metrics = observation.metrics { return try metrics.measure(operation, body) }
    #endif
    return try body()
  }
}
