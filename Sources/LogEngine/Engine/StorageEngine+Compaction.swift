import LogFormat

extension StorageEngine {
  /// Packs all of the log that can be packed.
  ///
  /// The limit is the oldest view, which still needs older states of its rows, and the history that must stay. If all of the
  /// log can be packed, a new segment is begun.
  ///
  /// Commits and reads continue meanwhile, and no commit waits for it longer than for another commit. A background compaction
  /// under way is given up for it; one of another process is waited for, until `progress` returns `stop`.
  ///
  /// - Parameters:
  ///   - history: The part of the log that stays; by default ``EngineOptions/history``.
  ///   - progress: Called every few hundred kilobytes of rows; stopping leaves the store unchanged. It must neither compact nor
  ///     close the store.
  /// - Returns: The work done, or the reason that there was none; on a nearly full device, as much as there was room for.
  /// - Throws: ``/LogFormat/StorageError``; the store is unchanged, unless the error says that it is poisoned.
  /// - Complexity: O(keys) and O(bytes of the rows that are packed), and a checkpoint.
  @discardableResult
  public func compact(
    keeping history: HistoryRetention? = nil,
    progress: (CompactionProgress) -> ScanControl = { _ in .proceed }
  ) throws(StorageError) -> CompactionOutcome {
    defer { state.events.deliver() }
    let writer = try requireWriter()
    return try writer.housekeeper.compact(writer, history ?? state.options.history, progress)
  }
}
