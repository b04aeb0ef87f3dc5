import Locking
import LogFormat
import Synchronization

extension LogWriter: HousekeptLog {
  /// How many bytes the system may hold before they are sent to the disk without waiting for the
  /// interval: so that a power cut takes little, and ending a segment has little to wait for.
  static let unsynchronizedLimit: UInt64 = 8 << 20

  /// For how long a process that saves nothing keeps its turn, in microseconds.
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
        isMissing: lead.manifest.base != nil && lead.checkpoint.newest == nil
      )
    }
  }

  /// Makes the next segment ready once the current one is half full, or at once if the log grows fast; and the file of
  /// a segment longer that has not got its size yet.
  func prepareIfNeeded() {
    // Who has the turn makes the file; a number that is taken beside it would be given to two.
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

  /// Wakes the background before its time when a segment is so full that its successor is to be made, or its file
  /// to become longer.
  func hurryIfFilled(_ work: LogTail.Work, _ lead: inout Lead) {
    guard let segment = work.segment else { return }
    let hurried = (segment.id, segment.capacity)
    let end = work.buffer.start + work.buffer.bytes.count
    guard hurried != lead.hurriedSegment, end > segment.capacity / 2 else { return }
    lead.hurriedSegment = hurried
    housekeeper.wake()
  }

  /// Wakes the background before its time when much was written and not synchronized.
  func hurryIfBehind(_ lead: inout Lead) {
    let written = state.log.writtenEnd.load(ordering: .relaxed)
    let known = max(state.log.durableEnd.load(ordering: .relaxed), lead.hurriedEnd)
    guard written > known, written - known >= LogWriter.unsynchronizedLimit else { return }
    lead.hurriedEnd = written
    housekeeper.wake()
  }

  /// Sends what was written to the disk, without keeping commits from being written meanwhile.
  ///
  /// Where the synchronization of another process failed, that takes a turn: commits that wait for no disk would take none
  /// for long, and nobody would synchronize until then.
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

  /// Synchronizes what this process wrote, without a turn.
  ///
  /// A process that leaves while another keeps the turn has no right to say what is on disk. The others do not hear of this
  /// synchronization, and synchronize once more.
  func synchronizeWithoutTurn() {
    guard let (segment, _) = findUnsynchronized() else { return }
    do throws(StorageError) {
      try segment.file.synchronize()
    } catch {
      lead.withLock { _ = poison(error, &$0) }
    }
  }

  /// What commits that wait for no disk have written, and is not known to be on it.
  private func findUnsynchronized() -> (segment: Segment, end: UInt64)? {
    guard !writesThrough else { return nil }
    let (segment, end, isEnded) = lead.withLock { lead in
      let (segment, logEnd) = state.log.tail.withLock { ($0.segment, $0.logEnd) }
      let isEnded = lead.failure != nil || lead.isClosed
      // What others wrote since this process's last turn may be in another segment.
      return (segment, min(state.log.writtenEnd.load(ordering: .relaxed), logEnd), isEnded)
    }
    guard let segment, !isEnded, state.log.durableEnd.load(ordering: .relaxed) < end else {
      return nil
    }
    return (segment, end)
  }

  /// Sends most of what was written to the disk while commits go on.
  ///
  /// Before a step that sees the log to the disk under the lead's lock: commits wait for what that leaves to be done.
  func synchronizeMost() {
    guard !writesThrough else { return }
    for _ in 0..<4 {
      let written = state.log.writtenEnd.load(ordering: .relaxed)
      let durable = state.log.durableEnd.load(ordering: .relaxed)
      if written - min(durable, written) <= Self.promptLimit { return }
      synchronizeBehind()
    }
  }

  /// Appends a frame that says that everything before it is on disk, if nothing else did and no
  /// commit came for a while.
  ///
  /// Without it damage to the very last commit would look like a commit that was never finished.
  /// The frame itself may be lost; it holds nothing.
  ///
  /// - Returns: Whether there is nothing left to be said.
  func witnessIfIdle() -> Bool {
    // The last of several processes says so when it closes the store.
    if let turns {
      return turns.endLease(unusedFor: Self.leaseTime) { endTurn(turns) }
        && findUnsynchronized() == nil
    }
    return lead.withLock { lead in
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
