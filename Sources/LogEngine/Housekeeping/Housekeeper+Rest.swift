import Locking
import Synchronization

// What is done once a store has come to rest.
extension Housekeeper {
  /// Has the last segment packed, too, if no commit came for a while and it is worth it.
  ///
  /// Otherwise what is in it would stay unpacked for as long as no commit comes, and with it what it makes
  /// superfluous elsewhere.
  func packIfAtRest(_ log: some HousekeptLog) {
    let sequence = state.visibility.visible.load(ordering: .acquiring)
    let now = state.fileSystem.microseconds()
    // One that is under way is waited for.
    guard !compactionSchedule.withLock({ $0.statistics.isRunning }),
      idleWatch.withLock({ $0.look(at: sequence, now) }), state.options.compaction == .automatic,
      mayCompact(log), mayPackAll(keeping: state.options.history)
    else { return }
    guard isWorthLeaving(at: now) else { return }
    // A full device, say: what is not packed now is packed some other time.
    guard (try? log.leaveSegment()) != nil else { return }
    compactIfDue(.rest, log)
  }

  private func isWorthLeaving(at now: Int64) -> Bool {
    var prospect = Compactor.prospect(state, state.options.history)
    let isAllowed = compactionSchedule.withLock { $0.allowsAttempt(floor: prospect.floor, now) }
    guard isAllowed, let last = prospect.last else { return false }
    prospect.situation.otherLiveByteCount -= last.usage.liveByteCount
    prospect.situation.segments.append(last)
    return state.options.compactionPolicy.pressure(of: prospect.situation, .rest) >= 1
  }

  /// How long until the store counts as at rest, in microseconds; `nil` if it does, or never will.
  var restDelay: Int? {
    guard state.options.compaction == .automatic else { return nil }
    let now = state.fileSystem.microseconds()
    return idleWatch.withLock { $0.wait(now) }
  }
}
