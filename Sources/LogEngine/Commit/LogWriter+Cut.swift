import Locking
import LogFormat
import Synchronization

extension LogWriter {
  /// Synchronizes everything committed so far, by any process, and returns the log's end.
  func cut() throws(StorageError) -> LogCut {
    try inTurn { () throws(StorageError) in
      synchronizeMost()
      return try makeCut()
    }
  }

  private func makeCut() throws(StorageError) -> LogCut {
    let newBase = follower?.withPosition { $0.newBase }
    return try lead.withLock { (lead) throws(StorageError) in
      try check(lead)
      let work = state.log.tail.withLock { $0.take() }
      try write(work, synchronizing: true, &lead)
      publish(work)
      let end = work.segment?.readableEnd.load(ordering: .relaxed) ?? 0
      var cut = LogCut(state, last: work.segment, end: end, newBase: newBase)
      cut.application = lead.manifest.application
      cut.lineage = lead.manifest.lineage
      return cut
    }
  }
}
