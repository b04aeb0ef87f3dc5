import Locking
import Synchronization

extension Housekeeper {
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
  func recordLateness(_ lateness: Double) {
    let isHoldingBack = compactionSchedule.withLock { $0.recordLateness(lateness) }
    self.isHoldingBack.store(isHoldingBack, ordering: .relaxed)
  }
}
