import Locking
import LogFormat
import Synchronization

// Compacting because a caller asks for it.
extension Housekeeper {
  /// Packs all that can be packed, at once.
  func compact(
    _ log: some HousekeptLog,
    _ history: HistoryRetention,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws(StorageError) -> CompactionOutcome {
    do {
      return try compaction.withLock { slot in
        giveUp(&slot)
        return try compactAll(log, history, observer)
      }
    } catch let error as StorageError {
      throw error
    } catch {
      // Nothing below throws anything else.
      preconditionFailure("compaction threw \(error)")
    }
  }

  /// Compacts until no further round pays off: the log may supersede rows of older packs, which shows only once the
  /// log is packed itself.
  private func compactAll(
    _ log: some HousekeptLog,
    _ history: HistoryRetention,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws -> CompactionOutcome {
    if mayPackAll(keeping: history) { try log.leaveSegment() }
    var sum: CompactionReport?
    for _ in 0..<Self.roundLimit {
      let outcome = try compactOnce(log, history, observer)
      guard let report = outcome.report else {
        return sum.map(CompactionOutcome.compacted) ?? outcome
      }
      sum = sum.map { $0 + report } ?? report
    }
    return sum.map(CompactionOutcome.compacted) ?? .nothingToDo
  }

  /// Whether no view needs the segment that is being written, so that it can be packed, too.
  func mayPackAll(keeping history: HistoryRetention) -> Bool {
    let newest = HistoryRetention.Segment(ended: state.fileSystem.microseconds(), byteCount: 1)
    let visible = state.visibility.visible.load(ordering: .acquiring)
    return history.packableCount(of: [newest], at: newest.ended) > 0
      && state.visibility.pins.oldest(upTo: visible) == visible
  }

  /// Commits go on meanwhile, so there might always be something to do.
  private static let roundLimit = 3

  private func compactOnce(
    _ log: some HousekeptLog,
    _ history: HistoryRetention,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws -> CompactionOutcome {
    let compactor: Compactor
    switch try Compactor.select(log, .now, history, lastEnd: { lastCompactionEnd }) {
    case .outcome(let outcome): return outcome
    case .plan(let plan):
      compactor = Compactor(log, plan)
      state.events.report(.compactionStarted(CompactionStart(.demand, plan)))
    }
    do {
      while true {
        if isStopping || observer(compactor.progress) == .stop {
          compactor.giveUp()
          state.events.report(.compactionEnded(.stopped))
          return .stopped
        }
        if case .finished(let report) = try step(compactor) {
          try? log.checkpoint()
          return .compacted(report)
        }
      }
    } catch StorageError.commitGone(let pinned, _) {
      compactor.giveUp()
      state.events.report(.compactionEnded(.waitsForView(of: pinned)))
      return .waitsForView(of: pinned)
    } catch {
      compactor.giveUp()
      reportFailure(ofCompaction: error)
      throw error
    }
  }

  /// Does a step of a compaction; the caller holds the lock of compactions.
  func step(_ compactor: Compactor) throws -> Compactor.Progress {
    let progress = try compactor.step(state.options.compactionStepByteCount)
    if case .finished(let report) = progress { record(report) }
    return progress
  }

  private func record(_ report: CompactionReport) {
    state.counters.recordPacks(ofBytes: report.writtenByteCount)
    let end = state.visibility.visible.load(ordering: .acquiring)
    compactionSchedule.withLock { $0.record(report, through: end) }
    state.events.report(.compactionEnded(.compacted(report)))
  }
}
