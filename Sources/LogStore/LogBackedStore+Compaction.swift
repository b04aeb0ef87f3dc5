import LogEngine

extension LogStore {
  /// Reclaims the space of replaced and deleted values now, except for what the history or a reader
  /// needs.
  ///
  /// Saves and fetches continue meanwhile, and the thread that calls it waits.
  ///
  /// - Returns: The number of bytes by which the store's files shrank; 0 if there was nothing to reclaim.
  /// - Throws: ``LogStoreError``; the store holds what it held.
  /// - Complexity: O(bytes of the log that are packed), and O(rows).
  @discardableResult
  public func compact() throws -> Int { try openTables().compact() }
}

extension DefaultStore {
  /// Reclaims the space of replaced and deleted values now; see ``LogStore/compact()``.
  ///
  /// - Returns: The number of bytes by which the store's files shrank; 0 if there was nothing to reclaim.
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
