import Locking
import Synchronization

extension StorageEngine {
  /// Ends writing and gives back the lock without touching a file.
  ///
  /// For a store whose folder was removed or moved while it was open: its path may now hold another store, whose files this one
  /// must neither write nor remove. Committed rows stay readable.
  package func disown() {
    defer {
      lock.withLock { $0 = nil }
      state.files.close()
      state.events.reportClosing()
      state.events.deliver()
    }
    writer?.turns?.stopLeasing()
    stopWatching()
    writer?.housekeeper.stop()
    writer?.disown()
    writer?.turns?.close()
    state.files.blobs.isOpen.store(false, ordering: .releasing)
  }
}

extension LogWriter {
  fileprivate func disown() {
    housekeeper.compaction.withLock { $0 = nil }
    lead.withLock { lead in
      lead.isClosed = true
      endFlag.store(true, ordering: .releasing)
      state.log.tail.withLock { $0.gate = .closed }
    }
  }
}
