#if Logging
public import LogEngine
public import Logging

/// Writes the events of a store to a logger.
///
///     let log = EngineEventLog(Logger(label: "trips"))
///     let engine = try StorageEngine.open(at: path, onEvent: log.record)
///
/// Messages are the same few words each time; figures are in the metadata, and are put together only if
/// the logger wants the level. Routine is logged at `trace` and `debug`, so that it is invisible
/// unless the log level asks for it; events that need a person, at `warning` and `error`.
public struct EngineEventLog: Sendable {
  private let logger: Logger

  /// Logs to a logger.
  ///
  /// - Parameters:
  ///   - logger: The logger; its level and metadata count.
  ///   - store: The store's name, which goes with each message as `store`; `nil` for none.
  public init(_ logger: Logger, store: String? = nil) {
    var logger = logger
    if let store { logger[metadataKey: "store"] = "\(store)" }
    self.logger = logger
  }

  /// Logs an event.
  public func record(_ event: EngineEvent) {
    logger.log(
      level: event.logLevel,
      "\(event.name)",
      metadata: event.logMetadata,
      source: "LogEngine"
    )
  }
}

extension EngineEvent {
  /// The importance of an event.
  public var logLevel: Logger.Level {
    switch self {
    case .segmentSealed: .trace
    case .closed, .checkpointWritten, .compactionStarted, .compactionEnded: .debug
    case .opened(let report): report.damage == nil ? .debug : .warning
    case .blobsSwept(let report): report.failure == nil ? .debug : .warning
    case .rowsExpired(let report): report.failure == nil ? .debug : .warning
    case .checkpointFailed, .compactionFailed, .noSpace, .leftBehind: .warning
    case .poisoned, .damageFound: .error
    }
  }

  /// The event's figures.
  public var logMetadata: Logger.Metadata {
    Logger.Metadata(
      details.map { ($0.name, .string($0.value)) },
      uniquingKeysWith: { first, _ in first }
    )
  }
}
#endif
