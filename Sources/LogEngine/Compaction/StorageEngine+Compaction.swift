import Synchronization

/// How far a compaction has come.
public struct CompactionProgress: Sendable, Hashable {
  /// How many rows were written into the pack.
  public let foldedRowCount: Int
}

/// What a compaction did.
public struct CompactionReport: Sendable, Hashable {
  /// How many segments of the log were packed.
  public let segmentCount: Int
  /// How many packs were written again.
  public let packCount: Int
  /// How many rows the new pack has.
  public let rowCount: Int
  /// The bytes of the files that are gone.
  public let readByteCount: Int
  /// The bytes of the new pack.
  public let writtenByteCount: Int
}

extension StorageEngine {
  /// Packs all of the log that can be packed: every segment but the one being written, as far as no view
  /// needs an older state of its rows.
  ///
  /// Commits and reads go on meanwhile; no commit waits for it longer than for a checkpoint.
  ///
  /// - Parameter progress: Called every few rows; to stop leaves the store as it is.
  /// - Returns: What was done; `nil` if there was nothing to do, or it was stopped.
  /// - Throws: ``StorageError``; the store is as before, unless the error says it is poisoned.
  /// - Complexity: O(rows), and a checkpoint.
  @discardableResult
  public func compact(
    progress: @escaping (CompactionProgress) -> ScanControl = { _ in .proceed }
  ) throws(StorageError) -> CompactionReport? {
    try requireWriter().compact(.now, progress)
  }
}

extension LogWriter {
  /// Packs what is due, if the options say so, and lets go of what nobody reads any more.
  func compactIfDue() {
    state.epochs.collect()
    guard state.options.compaction == .automatic else { return }
    let isDue = lead.withLock { $0.failure == nil && !$0.isClosed }
    // A failure leaves the store as it is, and is met again; if it was the log's, the next commit says so.
    guard isDue else { return }
    _ = try? compact(.due) { _ in
      self.isStopping.load(ordering: .relaxed) ? .stop : .proceed
    }
  }

  /// Packs segments; one thread at a time.
  func compact(
    _ urgency: CompactionUrgency,
    _ observer: @escaping (CompactionProgress) -> ScanControl
  ) throws(StorageError) -> CompactionReport? {
    try checkpointing.withLock { (_) throws(StorageError) in
      do {
        return try Compactor(writer: self, observer: observer).run(urgency)
      } catch let error as StorageError {
        throw error
      } catch {
        // Nothing below throws anything else.
        preconditionFailure("compaction threw \(error)")
      }
    }
  }
}
