import Locking
import Synchronization

extension Housekeeper {
  /// Delays a commit that is about to be written, if compaction is behind; call it without holding a lock.
  ///
  /// - Parameter byteCount: The commit's bytes in the log.
  func stallCommit(of byteCount: Int) {
    guard isStallingCommits.load(ordering: .relaxed) else { return }
    let now = state.fileSystem.microseconds()
    let microseconds = compactionSchedule.withLock { $0.delay(of: byteCount, now) }
    if microseconds > 0 { state.fileSystem.pause(microseconds: microseconds) }
  }

  /// Records how far compaction is behind, and decides whether commits wait.
  func recordBackPressure(_ backPressure: Double) {
    let isStallingCommits = compactionSchedule.withLock { $0.recordBackPressure(backPressure) }
    self.isStallingCommits.store(isStallingCommits, ordering: .relaxed)
  }
}
