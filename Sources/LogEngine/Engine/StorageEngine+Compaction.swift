import Locking
import LogFormat
import Synchronization

extension StorageEngine {
  /// Packs all of the log that can be packed.
  ///
  /// That is as far as no view needs an older state of its rows, and as far as the history need not stay. If
  /// all of it can be, a new segment is begun.
  ///
  /// Commits and reads go on meanwhile, and no commit waits for it longer than for another commit. A
  /// compaction of the background that is under way is given up for it.
  ///
  /// - Parameters:
  ///   - history: How much of the log stays; by default what ``EngineOptions/history`` says.
  ///   - progress: Called every few hundred kilobytes of rows; to stop leaves the store as it is. It must
  ///     neither compact nor close the store.
  /// - Returns: What was done, or why nothing was.
  /// - Throws: ``/LogFormat/StorageError``; the store is as before, unless the error says it is poisoned.
  /// - Complexity: O(keys) and O(bytes of the rows that are packed), and a checkpoint.
  @discardableResult
  public func compact(
    keeping history: HistoryRetention? = nil,
    progress: (CompactionProgress) -> ScanControl = { _ in .proceed }
  ) throws(StorageError) -> CompactionOutcome {
    defer { state.events.deliver() }
    let writer = try requireWriter()
    return try writer.compact(history ?? state.options.history, progress)
  }
}

extension LogWriter {
  /// Packs all that can be packed, at once.
  func compact(
    _ history: HistoryRetention,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws(StorageError) -> CompactionOutcome {
    do {
      return try compaction.withLock { slot in
        giveUp(&slot)
        return try compactAll(history, observer)
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
    _ history: HistoryRetention,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws -> CompactionOutcome {
    if mayPackAll(keeping: history) { try leaveSegment() }
    var sum: CompactionReport?
    for _ in 0..<Self.roundLimit {
      let outcome = try compactOnce(history, observer)
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
      && state.visibility.pins.floor(upTo: visible) == visible
  }

  /// Commits go on meanwhile, so there might always be something to do.
  private static let roundLimit = 3

  private func compactOnce(
    _ history: HistoryRetention,
    _ observer: (CompactionProgress) -> ScanControl
  ) throws -> CompactionOutcome {
    let compactor: Compactor
    switch try Compactor.select(self, .now, history, lastEnd: { lastCompactionEnd }) {
    case .outcome(let outcome): return outcome
    case .plan(let plan):
      compactor = Compactor(self, plan)
      state.events.note(.compactionStarted(CompactionStart(.demand, plan)))
    }
    do {
      while true {
        if isStopping.load(ordering: .relaxed) || observer(compactor.progress) == .stop {
          compactor.giveUp()
          state.events.note(.compactionEnded(.stopped))
          return .stopped
        }
        if case .finished(let report) = try step(compactor) {
          try? checkpoint()
          return .compacted(report)
        }
      }
    } catch StorageError.commitGone(let pinned, _) {
      compactor.giveUp()
      state.events.note(.compactionEnded(.waitsForView(of: pinned)))
      return .waitsForView(of: pinned)
    } catch {
      compactor.giveUp()
      noteFailure(ofCompaction: error)
      throw error
    }
  }

  /// Does a step of a compaction; the caller holds the lock of compactions.
  func step(_ compactor: Compactor) throws -> Compactor.Progress {
    let progress = try compactor.step(state.options.compactionStepByteCount)
    if case .finished(let report) = progress { note(report) }
    return progress
  }

  private func note(_ report: CompactionReport) {
    state.counters.notePacks(ofBytes: report.writtenByteCount)
    let end = state.visibility.visible.load(ordering: .acquiring)
    compactionSchedule.withLock { $0.note(report, through: end) }
    state.events.note(.compactionEnded(.compacted(report)))
  }
}
