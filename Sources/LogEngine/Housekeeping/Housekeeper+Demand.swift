import Locking
import LogFormat
import Synchronization

// Compacting at a caller's request.
extension Housekeeper {
  /// Packs everything that can be packed, at once.
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

  /// Compacts until no further round pays off: the log may supersede rows of older packs, which shows only once the log itself
  /// is packed.
  ///
  /// On a device without room for the output of all files, it takes fewer: each round removes the files it took, which makes
  /// room for the next. The current segment is left as soon as there is room for another, in the end for the smallest.
  private func compactAll(
    _ log: some HousekeptLog,
    _ history: HistoryRetention,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws -> CompactionOutcome {
    var sum: CompactionReport?
    var fileLimit = Int.max
    var refusal = try leaveSegment(log, history, .asEver)
    var frugality = SegmentFrugality.asEver
    /// Leaves the current segment for the smallest possible one, after all other work; returns whether there was room.
    func leavesSmallestSegment() throws -> Bool {
      guard refusal != nil, frugality == .asEver else { return false }
      frugality = .least
      refusal = try leaveSegment(log, history, .least)
      return refusal == nil
    }
    var rounds = 0
    while rounds < Self.roundLimit {
      switch try compactOnce(log, history, fileLimit, observer) {
      case .ended(.compacted(let report)):
        sum = sum.map { $0 + report } ?? report
        if refusal != nil { refusal = try leaveSegment(log, history, frugality) }
        if fileLimit == .max { rounds += 1 }
        fileLimit = CompactionSchedule.raise(fileLimit)
      case .ended(let outcome):
        if outcome == .nothingToDo, try leavesSmallestSegment() { continue }
        if outcome == .nothingToDo, sum == nil, let refusal { throw refusal }
        return sum.map(CompactionOutcome.compacted) ?? outcome
      case .lacksSpace(let error, let fileCount):
        if refusal == nil { refusal = error }
        if fileCount > 1 {
          fileLimit = fileCount / 2
        } else {
          // An event has reported that there was no room for more.
          guard let sum else { throw error }
          return .compacted(sum)
        }
      }
    }
    return sum.map(CompactionOutcome.compacted) ?? .nothingToDo
  }

  /// Moves to another segment, so that the current one can be packed.
  ///
  /// - Returns: The error if there is no room for another: the older segments can still be packed.
  private func leaveSegment(
    _ log: some HousekeptLog,
    _ history: HistoryRetention,
    _ frugality: SegmentFrugality
  ) throws -> StorageError? {
    guard mayPackAll(keeping: history) else { return nil }
    do throws(StorageError) {
      try log.leaveSegment(frugality)
      return nil
    } catch {
      guard case .noSpace = error else { throw error }
      return error
    }
  }

  /// Whether no view needs the current segment, so that it can be packed, too.
  func mayPackAll(keeping history: HistoryRetention) -> Bool {
    let newest = HistoryRetention.Segment(ended: state.fileSystem.microseconds(), byteCount: 1)
    let visible = state.visibility.visible.load(ordering: .acquiring)
    return history.packableCount(of: [newest], at: newest.ended) > 0
      && state.visibility.pins.oldest(upTo: visible) == visible
  }

  /// Commits continue meanwhile, so the work might never end.
  private static let roundLimit = 3

  /// The result of an attempt.
  private enum Attempt {
    case ended(CompactionOutcome)
    /// There is no room for the output of so many files; 0 if fewer files would not help.
    case lacksSpace(StorageError, fileCount: Int)
  }

  private func compactOnce(
    _ log: some HousekeptLog,
    _ history: HistoryRetention,
    _ fileLimit: Int,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws -> Attempt {
    let compactor: Compactor
    switch try select(log, history, fileLimit, observer) {
    case .isBusy: return .ended(.stopped)
    case .outcome(let outcome): return .ended(outcome)
    case .plan(let plan):
      compactor = Compactor(log, plan)
      state.events.report(.compactionStarted(CompactionStart(.demand, plan)))
    }
    do {
      while true {
        if isStopping || observer(compactor.progress) == .stop {
          compactor.giveUp()
          state.events.report(.compactionEnded(.stopped))
          return .ended(.stopped)
        }
        if case .finished(let report) = try step(compactor) {
          try? log.checkpoint()
          return .ended(.compacted(report))
        }
      }
    } catch StorageError.commitGone(let pinned, _) {
      compactor.giveUp()
      state.events.report(.compactionEnded(.waitsForView(of: pinned)))
      return .ended(.waitsForView(of: pinned))
    } catch {
      compactor.giveUp()
      reportFailure(ofCompaction: error)
      guard let error = error as? StorageError, case .noSpace = error else { throw error }
      // If its manifest may count, a repetition would gain nothing.
      return .lacksSpace(error, fileCount: compactor.isPublished ? 0 : compactor.plan.fileCount)
    }
  }

  /// Selects the files to take, once no other process compacts.
  ///
  /// The wait may take minutes, and for ever if the process that compacts was stopped: so it can be ended.
  ///
  /// - Returns: ``Compactor/Selection/isBusy`` if the wait was ended.
  private func select(
    _ log: some HousekeptLog,
    _ history: HistoryRetention,
    _ fileLimit: Int,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws -> Compactor.Selection {
    while true {
      let selection = try Compactor.select(
        log,
        .now,
        history,
        fileLimit: fileLimit,
        lastEnd: { lastCompactionEnd }
      )
      guard case .isBusy = selection else { return selection }
      if isStopping || observer(CompactionProgress()) == .stop { return .isBusy }
      state.fileSystem.pause(microseconds: Self.busyPause)
    }
  }

  /// The pause between two checks whether another process still compacts, in microseconds.
  private static let busyPause = 20_000

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
