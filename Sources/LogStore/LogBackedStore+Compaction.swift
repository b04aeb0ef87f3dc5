import LogEngine

extension LogStore {
  /// Gives back now what was replaced and deleted, as far as neither the history nor a reader
  /// needs it.
  ///
  /// Saves and fetches go on meanwhile, and the thread that calls it waits.
  ///
  /// - Returns: By how many bytes the store's files became fewer; 0 if there was nothing to give back.
  /// - Throws: ``LogStoreError``; the store holds what it held.
  /// - Complexity: O(bytes of the log that are packed), and O(rows).
  @discardableResult
  public func compact() throws -> Int { try openTables().compact() }
}

extension DefaultStore {
  /// Gives back now what was replaced and deleted; see ``LogStore/compact()``.
  ///
  /// - Returns: By how many bytes the store's files became fewer; 0 if there was nothing to give back.
  /// - Throws: ``LogStoreError``; the store holds what it held.
  /// - Complexity: O(bytes of the log that are packed), and O(rows).
  @discardableResult
  public func compact() throws -> Int { try openTables().compact() }
}

extension TableStore {
  /// Compacts the engine.
  ///
  /// - Returns: By how many bytes it became smaller.
  /// - Throws: ``LogStoreError``.
  func compact() throws -> Int {
    try perform(.compacting) {
      let report = try engine.compact().report
      return report.map { max(0, $0.readByteCount - $0.writtenByteCount) } ?? 0
    }
  }
}

extension EngineOptions {
  /// Takes over how a store is compacted.
  mutating func take(_ compaction: LogStoreConfiguration.Compaction) {
    self.compaction =
      switch compaction.timing {
      case .automatic: .automatic
      case .onDemand: .onDemand
      }
    history = HistoryRetention(
      age: compaction.historyAge,
      byteCount: compaction.historyByteCount
    )
  }
}
