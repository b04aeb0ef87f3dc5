import LogFormat

extension StorageEngine {
  /// Packs all of the log that can be packed.
  ///
  /// That is as far as no view needs an older state of its rows, and as far as the history need not stay. If
  /// all of it can be, a new segment is begun.
  ///
  /// Commits and reads go on meanwhile, and no commit waits for it longer than for another commit. A
  /// compaction of the background that is under way is given up for it; one of another process is waited for, until
  /// `progress` says stop.
  ///
  /// - Parameters:
  ///   - history: How much of the log stays; by default what ``EngineOptions/history`` says.
  ///   - progress: Called every few hundred kilobytes of rows; to stop leaves the store as it is. It must
  ///     neither compact nor close the store.
  /// - Returns: What was done, or why nothing was; on a nearly full device, what there was room for.
  /// - Throws: ``/LogFormat/StorageError``; the store is as before, unless the error says it is poisoned.
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
