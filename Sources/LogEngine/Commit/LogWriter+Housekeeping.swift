import Locking
import LogFormat
import Synchronization

extension LogWriter: HousekeptLog {
  /// Limit, in bytes, of the unsynchronized log, beyond which it is synchronized before the interval has passed: a power cut
  /// loses little, and ending a segment waits briefly.
  static let unsynchronizedLimit: UInt64 = 8 << 20

  /// The time after which an idle process gives up its turn, in microseconds.
  private static let leaseTime = 50_000

  var hasEnded: Bool { endFlag.load(ordering: .relaxed) }

  var keepsTurn: Bool { turns?.isLeased ?? false }

  var checkpointDistance: CheckpointDistance? {
    lead.withLock { lead in
      guard lead.failure == nil, !lead.isClosed else { return nil }
      let logEnd = state.log.tail.withLock { $0.logEnd }
      let basis = turns == nil && lead.checkpoint.newest != nil ? lead.checkpoint.basis : nil
      return CheckpointDistance(
        grownByteCount: logEnd - min(lead.checkpoint.attemptEnd, logEnd),
        lastByteCount: lead.checkpoint.byteCount,
        continuedByteCount: basis.map { logEnd - $0.place.logPosition },
        isMissing: state.isCheckpointDamaged.load(ordering: .relaxed)
          || lead.manifest.base != nil
            && (lead.checkpoint.newest == nil || lead.checkpoint.namesGoneFiles)
      )
    }
  }

  /// Prepares the next segment once the current one is half full, or at once if the log grows fast, and extends the file of a
  /// segment that has not got its full size yet.
  func prepareIfNeeded() {
    // The process that has the turn creates the file; otherwise a number could be used twice.
    if turns != nil { return }
    if synchronizes { try? reportingLackOfSpace { () throws(StorageError) in try extendAhead() } }
    let (isDue, logEnd) = state.log.tail.withLock { tail in
      (tail.segment.map { tail.needsSuccessor(after: tail.end, of: $0) } ?? false, tail.logEnd)
    }
    if synchronizes, isDue {
      try? reportingLackOfSpace { () throws(StorageError) in
        try preparation.prepare(at: sizeBasis(logEnd))
      }
    }
  }

  /// Wakes the background early when a segment is so full that its successor must be prepared or its file extended.
  func hurryIfFilled(_ work: LogTail.Work, _ lead: inout Lead) {
    guard let segment = work.segment else { return }
    let hurried = (segment.id, segment.capacity)
    let end = work.buffer.start + work.buffer.bytes.count
    guard hurried != lead.hurriedSegment, end > segment.capacity / 2 else { return }
    lead.hurriedSegment = hurried
    housekeeper.wake()
  }

  /// Wakes the background early when a large part of the log is not synchronized.
  func hurryIfBehind(_ lead: inout Lead) {
    let written = state.log.writtenEnd.load(ordering: .relaxed)
    let known = max(state.log.durableEnd.load(ordering: .relaxed), lead.hurriedEnd)
    guard written > known, written - known >= LogWriter.unsynchronizedLimit else { return }
    lead.hurriedEnd = written
    housekeeper.wake()
  }

  /// Synchronizes the written log, without keeping commits from being written meanwhile.
  ///
  /// If the synchronization of another process failed, this takes a turn: commits that wait for no disk would take none for
  /// long, and nothing would be synchronized until then.
  func synchronizeBehind() {
    guard let (segment, end) = findUnsynchronized() else { return }
    do throws(StorageError) {
      if try synchronize(segment, through: end, isInTurn: false) { return }
    } catch {
      lead.withLock { _ = poison(error, &$0) }
      return
    }
    // If the turn does not come in time, it is asked for again.
    try? synchronize()
  }

  /// Synchronizes the writes of this process, without a turn.
  ///
  /// A process that leaves while another keeps the turn must not publish a durable end. The other processes do not learn of
  /// this synchronization, and synchronize once more.
  func synchronizeWithoutTurn() {
    guard let (segment, _) = findUnsynchronized() else { return }
    do throws(StorageError) {
      try segment.file.synchronize()
    } catch {
      lead.withLock { _ = poison(error, &$0) }
    }
  }

  /// Returns the part of the log that is written but not known to be on disk, if commits do not wait for the disk.
  private func findUnsynchronized() -> (segment: Segment, end: UInt64)? {
    guard !writesThrough else { return nil }
    let (segment, end, isEnded) = lead.withLock { lead in
      let (segment, logEnd) = state.log.tail.withLock { ($0.segment, $0.logEnd) }
      let isEnded = lead.failure != nil || lead.isClosed
      // After a turn of another process, the written end may be in another segment.
      return (segment, min(state.log.writtenEnd.load(ordering: .relaxed), logEnd), isEnded)
    }
    guard let segment, !isEnded, state.log.durableEnd.load(ordering: .relaxed) < end else {
      return nil
    }
    return (segment, end)
  }

  /// Synchronizes most of the written log while commits continue.
  ///
  /// Called before a step that synchronizes the log under the lead's lock: commits wait for the rest.
  func synchronizeMost() {
    guard !writesThrough else { return }
    for _ in 0..<4 {
      let written = state.log.writtenEnd.load(ordering: .relaxed)
      let durable = state.log.durableEnd.load(ordering: .relaxed)
      if written - min(durable, written) <= Self.promptLimit { return }
      synchronizeBehind()
    }
  }

  /// Appends a frame that witnesses that everything before it is on disk, unless there is one already or a commit came
  /// recently.
  ///
  /// Without it, damage to the very last commit would look like an unfinished commit. The frame itself may be lost; it holds no
  /// records.
  ///
  /// - Returns: Whether no witness is needed any more.
  func witnessIfIdle() -> Bool {
    // With several processes, the last one to close the store does so.
    if let turns {
      return turns.endLease(unusedFor: Self.leaseTime) { endTurn(turns) }
        && findUnsynchronized() == nil
    }
    return lead.withLock { lead in
      guard lead.failure == nil, !lead.isClosed else { return true }
      let durableEnd = state.log.durableEnd.load(ordering: .relaxed)
      let idleEnd = lead.idleEnd
      let (logEnd, work) = state.log.tail.withLock { tail -> (UInt64, LogTail.Work?) in
        // The last commit is on disk, and was the last one already at the background's previous look.
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
