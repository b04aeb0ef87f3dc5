import Locking
import Synchronization

extension LogWriter {
  /// Has a commit wait that is about to be made, if compaction is late; under no lock.
  ///
  /// - Parameter byteCount: Its bytes in the log.
  func holdBack(_ byteCount: Int) {
    guard isHoldingBack.load(ordering: .relaxed) else { return }
    let now = state.fileSystem.microseconds()
    let microseconds = compactionSchedule.withLock { $0.delay(of: byteCount, now) }
    if microseconds > 0 { state.fileSystem.pause(microseconds: microseconds) }
  }

  /// Records how late compaction is.
  func noteLateness(_ lateness: Double) {
    let isHoldingBack = compactionSchedule.withLock { $0.noteLateness(lateness) }
    self.isHoldingBack.store(isHoldingBack, ordering: .relaxed)
  }
}
