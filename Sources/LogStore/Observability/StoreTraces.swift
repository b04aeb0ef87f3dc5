#if Tracing
import Tracing

/// Opens spans for what a store does.
struct StoreTraces: Sendable {
  private let store: String
  private let tracer: any Tracer

  init(store: String, tracer: any Tracer) {
    self.store = store
    self.tracer = tracer
  }

  /// Does something in a span; an error that is thrown is recorded in it.
  func trace<R>(_ operation: StoreOperation, _ body: () throws -> R) rethrows -> R {
    try trace(operation, with: tracer, body)
  }

  private func trace<R>(
    _ operation: StoreOperation,
    with tracer: some Tracer,
    _ body: () throws -> R
  ) rethrows -> R {
    try tracer.withSpan("LogStore.\(operation)", ofKind: .client) { span in
      span.attributes["store"] = store
      return try body()
    }
  }
}
#endif
