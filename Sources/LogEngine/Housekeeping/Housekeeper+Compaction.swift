import Locking
import LogFormat
import Synchronization

/// Compacting beside the commits.
///
/// The thread that prepares segments decides whether a compaction is due; another thread runs it in steps, and sleeps between
/// them: so the work that commits may wait for is done in time, and closing the store waits for one step.
extension Housekeeper {
  /// Starts the compaction that is due, and frees objects that have no readers left.
  func compactIfDue(_ urgency: CompactionUrgency, _ log: some HousekeptLog) {
    state.files.epochs.collect()
    guard state.options.compaction == .automatic, mayCompact(log) else { return }
    let isUnderWay = compactionSchedule.withLock { $0.statistics.isRunning }
    if !isUnderWay, !isDue(urgency, log) { return }
    if isUnderWay { recordBackPressure() }
    switch state.options.background {
    case .ownThread: wakeCompaction(of: log)
    case .caller: stepCompaction(of: log)
    }
  }

  func mayCompact(_ log: some HousekeptLog) -> Bool {
    // Checked without the lead's lock: otherwise each step of a compaction would wait for a commit's system call.
    !isStopping && !log.hasEnded
  }

  /// Starts the compaction that is due because a segment is full; called by the commit that filled it, under no
  /// lock: on a busy machine the background may check too late.
  func compactAfterSegment(of log: some HousekeptLog) {
    guard state.options.background == .ownThread, state.options.compaction == .automatic,
      mayCompact(log)
    else { return }
    let isUnderWay = compactionSchedule.withLock { $0.statistics.isRunning }
    if isUnderWay {
      recordBackPressure()
    } else if isDue(.due, log) {
      wakeCompaction(of: log)
    }
  }

  private func isDue(_ urgency: CompactionUrgency, _ log: some HousekeptLog) -> Bool {
    let candidates = candidates(log)
    let policy = state.options.compactionPolicy
    let isDue = !policy.choose(from: candidates.pickerInput, urgency).isEmpty
    let now = state.fileSystem.microseconds()
    return compactionSchedule.withLock { schedule in
      guard isDue else {
        if candidates.viewedCount >= policy.segmentCount {
          schedule.record(.waitsForView(of: CommitSequence(candidates.lowWaterMark)))
        }
        return false
      }
      guard schedule.allowsAttempt(candidates, now) else {
        if candidates.lowWaterMark < schedule.lastEnd {
          schedule.record(.waitsForView(of: CommitSequence(candidates.lowWaterMark)))
        }
        return false
      }
      schedule.ask(urgency)
      return true
    }
  }

  /// Returns the files that a compaction might take, by the current needs of other processes: those from the start of the last
  /// compaction would keep the next from being requested.
  func candidates(_ log: some HousekeptLog) -> Compactor.Candidates {
    Compactor.candidates(
      state,
      state.options.history,
      othersBound: (try? log.readOthersBound()) ?? nil
    )
  }

  private func recordBackPressure() {
    let input = Compactor.candidates(state, state.options.history).pickerInput
    recordBackPressure(state.options.compactionPolicy.backPressure(of: input))
  }

  /// Begins a compaction if one is due, or does a step of the one that is under way.
  func stepCompaction(of log: some HousekeptLog) {
    defer { state.events.deliver() }
    _ = compaction.withLockIfAvailable { slot in
      guard mayCompact(log) else { return }
      do {
        if let compactor = try slot ?? beginCompaction(of: log) {
          slot = compactor
          if try stepPaced(compactor, log) {
            slot = nil
            finishCompaction(of: log)
          }
        }
      } catch {
        reportFailure(ofCompaction: error)
        slot?.giveUp()
        let fileCount = slot.map { $0.isPublished ? 0 : $0.plan.fileCount } ?? 0
        slot = nil
        // The store is unchanged, and the compaction is tried again; if the log failed, the next commit throws.
        let now = state.fileSystem.microseconds()
        let failure = error as? StorageError
        isStallingCommits.store(false, ordering: .relaxed)
        compactionSchedule.withLock { schedule in
          if case .commitGone(let pinned, _) = failure {
            schedule.recordEnd(failure: nil, now)
            schedule.record(.waitsForView(of: pinned))
          } else {
            schedule.recordEnd(failure: failure, fileCount: fileCount, now)
          }
        }
      }
    }
  }

  /// Continues the checkpoint, which no opening can use before that, and checks whether the next compaction is due at once.
  private func finishCompaction(of log: some HousekeptLog) {
    // A failure costs the next opening some time; if the log failed, the next commit throws.
    try? log.appendIncrement()
    isStallingCommits.store(false, ordering: .relaxed)
    signalWork()
    if state.options.background == .ownThread { _ = isDue(.due, log) }
  }

  private func beginCompaction(of log: some HousekeptLog) throws -> Compactor? {
    let (isDue, urgency, fileLimit) = compactionSchedule.withLock {
      ($0.isDue, $0.urgency, $0.fileLimit)
    }
    guard isDue else { return nil }
    switch try Compactor.select(
      log,
      urgency,
      state.options.history,
      fileLimit: fileLimit,
      lastEnd: { lastCompactionEnd }
    ) {
    case .plan(let plan):
      compactionSchedule.withLock { $0.begin() }
      state.events.report(.compactionStarted(CompactionStart(.background, plan)))
      return Compactor(log, plan)
    case .isBusy:
      compactionSchedule.withLock { $0.record(.nothingToDo) }
      return nil
    case .outcome(let outcome):
      compactionSchedule.withLock { $0.record(outcome) }
      return nil
    }
  }

  /// The newest commit when the last compaction ended.
  var lastCompactionEnd: UInt64 { compactionSchedule.withLock { $0.lastEnd } }

  /// Limit, in bytes, of the rows packed before the pressure is checked again, if the compaction is not throttled.
  private static let hurriedByteCount = 4 << 20

  /// Does a step, and sets the time of the next; several steps, if it is late.
  ///
  /// - Returns: Whether it was the last step.
  private func stepPaced(_ compactor: Compactor, _ log: some HousekeptLog) throws -> Bool {
    var byteCount = 0
    repeat {
      guard case .goesOn(let count) = try step(compactor) else { return true }
      byteCount += max(count, 1)
    } while isStallingCommits.load(ordering: .relaxed) && mayCompact(log)
      && byteCount < Self.hurriedByteCount
    let input = Compactor.candidates(state, state.options.history).pickerInput
    let pressure = state.options.compactionPolicy.pressure(of: input)
    let now = state.fileSystem.microseconds()
    compactionSchedule.withLock { schedule in
      schedule.pace.record(byteCount, at: pressure, now)
      schedule.record(compactor.progress, rate: schedule.pace.rate(at: pressure))
    }
    recordBackPressure(state.options.compactionPolicy.backPressure(of: input))
    return false
  }

  /// The time for which the compacting thread sleeps unless it is woken, in microseconds.
  var compactionDelay: Int? {
    let now = state.fileSystem.microseconds()
    return compactionSchedule.withLock { schedule in
      if schedule.statistics.isRunning { return schedule.pace.delay(now) }
      if case .waitsForRead = schedule.obstacle { return CompactionSchedule.readerDelay }
      return schedule.isDue ? 0 : nil
    }
  }

  /// Gives up a running compaction because the store is being closed.
  func giveUpCompaction() { compaction.withLock { giveUp(&$0) } }

  /// Gives up a background compaction, if there is one.
  func giveUp(_ slot: inout Compactor?) {
    if slot != nil { state.events.report(.compactionEnded(.stopped)) }
    slot?.giveUp()
    slot = nil
    // Without this the schedule would wait for its end for ever.
    compactionSchedule.withLock { $0.recordEnd(failure: nil, 0) }
  }

  /// Reports that a compaction did nothing, with the reason.
  func reportFailure(ofCompaction error: any Error) {
    switch error {
    // A reader began to read rows that it would have left out.
    case StorageError.commitGone(let pinned, _):
      state.events.report(.compactionEnded(.waitsForView(of: pinned)))
    case let error as StorageError: state.events.report(.compactionFailed(error))
    default: break
    }
  }
}

extension CompactionStart {
  init(_ trigger: Trigger, _ plan: Compactor.Plan) {
    self.init(
      trigger: trigger,
      segmentCount: plan.segments.count,
      packCount: plan.packs.count,
      byteCount: plan.fileByteCount
    )
  }
}
