import Locking
import LogFormat
import Synchronization

/// What is done beside the commits.
extension LogWriter {
  /// After how many microseconds without a commit the log says that it is all on disk.
  static let witnessDelay = 100_000
  /// How many bytes the system may hold before they are sent to the disk without waiting for the
  /// interval: so that a power cut takes little, and ending a segment has little to wait for.
  static let unsynchronizedLimit: UInt64 = 8 << 20

  /// How long the background sleeps, in microseconds, when it is not woken.
  var backgroundDelay: Int? {
    if !isBackgroundAwake.load(ordering: .acquiring) { return restDelay }
    if isSweepingBlobs { return 1000 }
    switch state.options.durability {
    case .full, .memory: return LogWriter.witnessDelay
    case .relaxed(let interval):
      let (seconds, attoseconds) = interval.components
      return max(1000, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
    }
  }

  /// Does what is to be done.
  ///
  /// Errors end writing where they put commits at risk, and show there. Where they do not, the same
  /// call is made again when its result is needed, and then throws.
  func runBackground() {
    defer { state.events.deliver() }
    let before = state.visibility.visible.load(ordering: .acquiring)
    prepareIfNeeded()
    synchronizeBehind()
    leaveOutgrownSegment()
    checkpointIfDue()
    let isWitnessed = witnessIfIdle()
    if isWitnessed { checkpointIfMissing() }
    compactIfDue(isWitnessed ? .idle : .due)
    packIfAtRest()
    state.collectBlobs()
    let isSweeping = sweepBlobs()
    // Asleep first, then a last look: a commit in between wakes the background again.
    isBackgroundAwake.store(false, ordering: .sequentiallyConsistent)
    if !isWitnessed || isSweeping
      || state.visibility.visible.load(ordering: .sequentiallyConsistent) != before
    {
      isBackgroundAwake.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Makes the next segment ready once the current one is half full, or at once if the log grows fast.
  func prepareIfNeeded() {
    let (isDue, logEnd) = state.log.tail.withLock { tail in
      (tail.segment.map { tail.needsSuccessor(after: tail.end, of: $0) } ?? false, tail.logEnd)
    }
    if synchronizes, isDue {
      try? notingLackOfSpace { () throws(StorageError) in
        try preparation.prepare(at: sizeBasis(logEnd))
      }
    }
  }

  /// Wakes the background before its time when a segment is so full that its successor is to be made.
  func hurryIfFilled(_ work: LogTail.Work, _ lead: inout Lead) {
    guard let segment = work.segment, segment.id != lead.hurriedSegment else { return }
    let end = work.buffer.start + work.buffer.bytes.count
    guard end > segment.capacity / 2 else { return }
    lead.hurriedSegment = segment.id
    wakeBackground()
  }

  /// Wakes the background before its time when much was written and not synchronized.
  func hurryIfBehind(_ lead: inout Lead) {
    let written = state.log.writtenEnd.load(ordering: .relaxed)
    let known = max(state.log.durableEnd.load(ordering: .relaxed), lead.hurriedEnd)
    guard written > known, written - known >= LogWriter.unsynchronizedLimit else { return }
    lead.hurriedEnd = written
    wakeBackground()
  }

  /// Sends what was written to the disk, without keeping commits from being written meanwhile.
  func synchronizeBehind() {
    guard !writesThrough else { return }
    let (segment, end, isEnded) = lead.withLock { lead in
      let segment = state.log.tail.withLock { $0.segment }
      let isEnded = lead.failure != nil || lead.isClosed
      return (segment, state.log.writtenEnd.load(ordering: .relaxed), isEnded)
    }
    guard let segment, !isEnded, state.log.durableEnd.load(ordering: .relaxed) < end else { return }
    do throws(StorageError) {
      try synchronization.withLock { (failure) throws(StorageError) in
        do throws(StorageError) {
          try segment.file.synchronize()
        } catch {
          failure = error
          throw error
        }
      }
      state.counters.noteSynchronization()
      state.log.durableEnd.max(end, ordering: .relaxed)
    } catch {
      lead.withLock { _ = poison(error, &$0) }
    }
  }

  /// Appends a frame that says that everything before it is on disk, if nothing else did and no
  /// commit came for a while.
  ///
  /// Without it damage to the very last commit would look like a commit that was never finished.
  /// The frame itself may be lost; it holds nothing.
  ///
  /// - Returns: Whether there is nothing left to be said.
  private func witnessIfIdle() -> Bool {
    lead.withLock { lead in
      guard lead.failure == nil, !lead.isClosed else { return true }
      let durableEnd = state.log.durableEnd.load(ordering: .relaxed)
      let idleEnd = lead.idleEnd
      let (logEnd, work) = state.log.tail.withLock { tail -> (UInt64, LogTail.Work?) in
        // The last commit is on disk, and was the last one already when the background last looked.
        let isIdle = tail.logEnd == durableEnd && tail.logEnd == idleEnd
        guard isIdle, tail.hasRoom(for: FrameHeader.byteCount) else { return (tail.logEnd, nil) }
        tail.appendMark(.sync, durableEnd: durableEnd)
        return (tail.logEnd, tail.take())
      }
      defer { lead.idleEnd = logEnd }
      guard let work else { return logEnd == lead.witnessedEnd }
      lead.witnessedEnd = logEnd
      do throws(StorageError) {
        try write(work, synchronizing: false, &lead)
      } catch {
        // Writing has ended, and the next commit says so.
      }
      return true
    }
  }
}
