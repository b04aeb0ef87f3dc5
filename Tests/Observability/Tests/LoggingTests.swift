import InMemoryLogging
import LogEngine
import LogEngineObservability
import Logging
import Testing

@Suite struct `A log of a store` {
  private let handler = InMemoryLogHandler()

  private func logger(_ level: Logger.Level) -> Logger {
    var logger = Logger(label: "test") { _ in handler }
    logger.logLevel = level
    return logger
  }

  @Test func `says in metadata what happened, under the store's name`() throws {
    let log = EngineEventLog(logger(.trace), store: "trips")
    let store = try NumberStore(onEvent: log.record)
    try store.insert(200)
    store.engine.performBackgroundWork()
    let report = try #require(try store.engine.compact().report)
    try store.engine.close()
    let entries = handler.entries
    #expect(entries.allSatisfy { $0.metadata["store"] == "trips" })
    #expect(entries.first?.message == "store opened")
    #expect(entries.last?.message == "store closed")
    let sealed = try #require(entries.first { $0.message == "segment sealed" })
    #expect(sealed.level == .trace)
    #expect(sealed.metadata["segment"] == "1")
    let compacted = try #require(entries.first { $0.message == "compaction ended" })
    #expect(compacted.level == .debug)
    #expect(compacted.metadata["outcome"] == "compacted")
    #expect(compacted.metadata["read_bytes"] == "\(report.readByteCount)")
    #expect(compacted.metadata["written_bytes"] == "\(report.writtenByteCount)")
    #expect(entries.allSatisfy { $0.level < .info })
  }

  @Test func `is silent about a store that is well, at the level programs begin with`() throws {
    let store = try NumberStore(onEvent: EngineEventLog(logger(.info)).record)
    try store.insert(200)
    store.engine.performBackgroundWork()
    try store.engine.compact()
    try store.engine.close()
    #expect(handler.entries.isEmpty)
  }

  private static let error = StorageError.inputOutput(path: "a", operation: .write, errno: 5)

  @Test(arguments: [
    (EngineEvent.checkpointFailed(error), Logger.Level.warning),
    (.compactionFailed(error), .warning),
    (.noSpace(path: "a", needed: 4096), .warning),
    (.leftBehind(error), .warning),
    (.poisoned(error), .error),
    (.damageFound(error), .error),
    (.closed, .debug),
  ])
  func `has a level for each event`(event: EngineEvent, level: Logger.Level) {
    EngineEventLog(logger(.trace)).record(event)
    #expect(handler.entries.map(\.level) == [level])
    #expect(handler.entries.map(\.message.description) == [event.name])
    let details = event.details.map { ($0.name, Logger.MetadataValue.string($0.value)) }
    #expect(handler.entries.map(\.metadata) == [Dictionary(uniqueKeysWithValues: details)])
  }
}
