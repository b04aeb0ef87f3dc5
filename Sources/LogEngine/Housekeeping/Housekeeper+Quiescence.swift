import Locking
import Synchronization

// The work that is done once a store is quiescent.
extension Housekeeper {
  /// Packs the last segment too, if no commit came for a while and the gain is worth it.
  ///
  /// Otherwise the segment, and the dead rows that it leaves in older files, would stay until the next commit.
  func packIfQuiescent(_ log: some HousekeptLog) {
    let sequence = state.visibility.visible.load(ordering: .acquiring)
    let now = state.fileSystem.microseconds()
    // A running compaction ends first.
    guard !compactionSchedule.withLock({ $0.statistics.isRunning }),
      idleWatch.withLock({ $0.look(at: sequence, now) }), state.options.compaction == .automatic,
      mayCompact(log), mayPackAll(keeping: state.options.history)
    else { return }
    guard isWorthPacking(at: now, log) else { return }
    // The device may be full: a later attempt packs the segment.
    guard (try? log.leaveSegment(.asEver)) != nil else { return }
    compactIfDue(.quiescent, log)
  }

  private func isWorthPacking(at now: Int64, _ log: some HousekeptLog) -> Bool {
    var candidates = candidates(log)
    let isAllowed = compactionSchedule.withLock { $0.allowsAttempt(candidates, now) }
    guard isAllowed, let last = candidates.last else { return false }
    candidates.pickerInput.otherLiveByteCount -= last.usage.liveByteCount
    candidates.pickerInput.segments.append(last)
    return state.options.compactionPolicy.pressure(of: candidates.pickerInput, .quiescent) >= 1
  }

  /// The time until the store counts as quiescent, in microseconds; `nil` if it does, or never will.
  var quiescenceDelay: Int? {
    guard state.options.compaction == .automatic else { return nil }
    let now = state.fileSystem.microseconds()
    return idleWatch.withLock { $0.wait(now) }
  }
}
