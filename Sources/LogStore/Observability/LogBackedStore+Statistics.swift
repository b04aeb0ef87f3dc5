public import LogEngine

#if Metrics
import LogEngineObservability
#endif

extension LogStore {
  /// The state of the store, and what was done to it since it was opened: bytes that are live, dead and
  /// history, amplifications, compaction's debt and rate, the cache's hits, views.
  ///
  ///     let store = container.stores(of: LogStore.self).first
  ///     if let debt = store?.statistics().compaction.debtByteCount, debt > 1 << 30 { … }
  ///
  /// - Complexity: O(files of the log and tables); no system call but the clock's.
  public func statistics() -> EngineStatistics { tables.engine.statistics() }

  /// Measures the space of the store on its device, by kind of file.
  ///
  /// - Throws: ``LogStoreError`` if a directory cannot be read.
  /// - Complexity: O(files), those of external storage included: the file system is asked for each.
  public func spaceUsage() throws -> SpaceUsage { try openTables().spaceUsage() }
}

extension DefaultStore {
  /// The state of the store; see ``LogStore/statistics()``.
  ///
  /// - Complexity: O(files of the log and tables); no system call but the clock's.
  public func statistics() -> EngineStatistics { tables.engine.statistics() }

  /// Measures the space of the store on its device, or in memory, by kind of file.
  ///
  /// - Throws: ``LogStoreError`` if a directory cannot be read.
  /// - Complexity: O(files), those of external storage included: the file system is asked for each.
  public func spaceUsage() throws -> SpaceUsage { try openTables().spaceUsage() }
}

extension TableStore {
  fileprivate func spaceUsage() throws -> SpaceUsage {
    try perform(.measuring) { try engine.spaceUsage() }
  }
}

#if Metrics
extension LogStore {
  /// Publishes the state of the store now, without waiting for an event: call it where metrics are scraped.
  ///
  /// Does nothing for a configuration without ``LogStoreConfiguration/metricsFactory``.
  ///
  /// - Parameter space: Whether to ask the file system for every kind of file, too.
  /// - Throws: ``LogStoreError`` if a directory cannot be read.
  /// - Complexity: That of ``statistics()``, and of ``spaceUsage()`` if that is measured.
  public func publishMetrics(space: SpaceMeasurement = .omitted) throws {
    guard let metrics = tables.observation.metrics else { return }
    metrics.engine.sample()
    if space == .included { try tables.perform(.measuring) { try metrics.engine.sampleSpace() } }
  }

  /// Whether the file system is asked what every kind of file takes.
  public enum SpaceMeasurement: Sendable { case omitted, included }
}
#endif
