import Locking
import LogFormat
import RowFormat
import Synchronization

// A writer that is one of several.
//
// A turn, step by step; the numbers are those of the models (`Tools/ModelCheck/Turns.pml`):
//
// T1. Take the lock of `TURN`.
// T2. Read the record: the holder of the last turn, and the number of turns.
// T3. Write the holder of this turn.
// T4. If others had turns, or died in one: read their commits, as a follower does. If one died: repair (R).
// T5. Write, like a process that has the store to itself.
// T6. Write the record, and remove this member's number from it.
// T7. Release the lock.
// T8. Wait until the commits are on disk (see SharedSynchronization), if the durability promises that.
//
// R. Find the highest file number in use, and write down the next, before any file is removed. Remove segments without a
//    header. Rewrite and synchronize the part that may be only in the system's memory: the member that died may have seen a
//    synchronization fail. Continue in the next segment, since a torn frame may follow.
extension LogWriter {
  /// Runs `body` in a turn of this process, if several write the store.
  ///
  /// Locks of ranks up to that of checkpoints are taken before, all others within.
  func inTurn<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    guard let turns else { return try body() }
    try enterTurn(turns)
    let result = Result { () throws(StorageError) in try body() }
    try leaveTurn(turns, with: result)
    return try result.get()
  }

  /// Runs `body`, which may throw any error, in a turn.
  func inTurn<R>(any body: () throws -> R) throws -> R {
    guard let turns else { return try body() }
    try enterTurn(turns)
    let result = Result { try body() }
    try leaveTurn(turns, with: result)
    return try result.get()
  }

  /// Leaves a turn, and waits for the disk unless the work in the turn has thrown.
  private func leaveTurn<R, Failure: Error>(
    _ turns: Turns,
    with result: Result<R, Failure>
  ) throws(StorageError) {
    switch result {
    case .success: try leaveTurn(turns)
    case .failure: abandonTurn(turns)
    }
  }

  /// Whether other processes may be writing the store at this moment.
  var isOutOfTurn: Bool { turns.map { !$0.isEntered } ?? false }

  func enterTurn(_ turns: Turns) throws(StorageError) {
    try turns.enter { (deadline) throws(StorageError) in try beginTurn(turns, until: deadline) }
  }

  /// Leaves a turn, and waits until the thread's commits in it are as safe as the options ask for.
  ///
  /// - Throws: ``StorageError`` if that cannot be determined; then nothing can be written any more.
  func leaveTurn(_ turns: Turns) throws(StorageError) {
    guard let end = abandonTurn(turns) else { return }
    try synchronize(through: end, turns)
  }

  /// Leaves a turn without waiting for the disk, by a thread that is about to throw.
  ///
  /// - Returns: The log position up to which the log must be on disk before the thread's commits count as durable.
  @discardableResult
  private func abandonTurn(_ turns: Turns) -> UInt64? {
    // A writer that has ended gives up its lease.
    if hasEnded { turns.stopLeasing() }
    let departure = turns.leave { endTurn(turns) }
    // Whatever the turn was for, the background gives it up if no thread uses it.
    if departure.keepsTurn { housekeeper.signalWork() }
    return departure.owed
  }
}

// MARK: Steps

extension LogWriter {
  private func beginTurn(_ turns: Turns, until deadline: Int?) throws(StorageError) {
    try lead.withLock { (lead) throws(StorageError) in try check(lead) }
    let own = turns.membership.number
    guard try turns.file.takeLock(for: own, until: deadline) else { throw turns.timeoutError }
    do throws(StorageError) {
      try turns.file.checkName()
      try turns.membership.checkName()
      if let deadline, let shared = turns.shared {
        let isHeld = try synchronization.withLock { (_) throws(StorageError) in
          try shared.hold(until: deadline)
        }
        if !isHeld { throw turns.timeoutError }
      }
      let record = try turns.file.read()
      try turns.file.write(.init(turns: record.holder.turns, member: own))
      do throws(StorageError) {
        try takeOver(record, turns)
      } catch {
        follower?.endTurn { _ in }
        // Nothing was written; the member that died still needs its repair.
        if record.holder.member == 0 { try? turns.file.write(record.holder) }
        throw error
      }
      turns.decideOnLease()
    } catch {
      release(turns)
      throw error
    }
  }

  private func release(_ turns: Turns) {
    // If nothing is held, the end of the turn must not wait for a thread that synchronizes: the lock is not taken.
    if let shared = turns.shared, !turns.synchronizesLater {
      synchronization.withLock { _ in shared.letGo() }
    }
    turns.file.lock.release()
  }

  /// Steps 4 and R, for a process that joins and has read the whole log.
  func takeOver(_ record: TurnRecord) throws(StorageError) {
    guard let turns else { return }
    try turns.file.write(.init(turns: record.holder.turns, member: turns.membership.number))
    try takeOver(record, turns)
    follower?.endTurn { _ in }
  }

  /// Begins a segment behind one that may be followed by a torn frame.
  func leaveTornSegment() throws(StorageError) {
    try lead.withLock { (lead) throws(StorageError) in
      let logEnd = state.log.tail.withLock { $0.logEnd }
      do throws(StorageError) {
        try beginNextSegment(for: 0, at: logEnd, .asEver, &lead)
      } catch .noSpace {
        // The next commit begins the segment, or throws that there is no space.
      }
    }
  }

  /// Steps 4 and R.
  private func takeOver(_ record: TurnRecord, _ turns: Turns) throws(StorageError) {
    guard let follower else { return }
    let diedBefore = record.holder.member != 0
    let isOfLastTurn = !diedBefore && record.isReadable && record.isCounted
    let isKnown =
      isOfLastTurn && record.holder.turns == turns.known.load(ordering: .relaxed)
    try follower.beginTurn(catchingUp: !isKnown, to: isOfLastTurn ? record.logEnd : nil)
    if isKnown { return }
    state.files.blobs.hasForeignTurns.store(true, ordering: .relaxed)
    if record.isReadable {
      try adopt(record, readingManifest: diedBefore)
      if diedBefore { try repair(after: record, turns) }
    } else {
      try turns.file.restore(synchronizationNumber: turns.shared?.number)
      let known = try knownRecord(insteadOf: record)
      try adopt(known, readingManifest: true)
      try repair(after: known, turns)
    }
    assert(state.log.tail.withLock { $0.active.bytes.count == 0 }, "bytes of an earlier turn")
  }

  /// Returns a record made from this process's reading of the log, to replace a damaged one.
  private func knownRecord(insteadOf damaged: TurnRecord) throws(StorageError) -> TurnRecord {
    var record = damaged
    record.durableEnd = state.log.durableEnd.load(ordering: .relaxed)
    record.segment =
      state.files.segments.indices(from: 0).lazy
      .compactMap { [state] in state.files.segments[$0] }
      .last { $0.header.logPosition <= record.durableEnd }?.id ?? .none
    record.isEnded = true
    record.checkpoint.highest = max(
      lead.withLock { $0.checkpoint.highest },
      try CheckpointFiles(state).numbers().last ?? 0
    )
    return record
  }

  /// Continues the log from the end that other members left.
  private func adopt(
    _ record: TurnRecord,
    readingManifest: Bool
  ) throws(StorageError) {
    preparation.skip(to: record.nextFile)
    state.files.blobs.record(next: record.nextBlob)
    try lead.withLock { (lead) throws(StorageError) in
      if readingManifest || record.manifest != lead.manifest.number {
        guard let manifest = try manifestFiles.readNewest() else {
          throw .corruption(
            Corruption(path: state.paths.root, offset: 0, problem: .missing(.manifest))
          )
        }
        lead.manifest = manifest
      }
      lead.checkpoint = record.checkpoint
      // The member that died may have compacted, and removed the checkpoint.
      if readingManifest { lead.checkpoint.newest = nil }
    }
    follower?.withPosition { position in
      state.log.tail.withLock { $0.take(up: position, isEnded: record.isEnded) }
    }
    state.log.durableEnd.max(record.durableEnd, ordering: .relaxed)
  }

  /// Step R.
  private func repair(after record: TurnRecord, _ turns: Turns) throws(StorageError) {
    preparation.skip(to: try highestFileNumber().next)
    state.files.blobs.record(try highestBlob())
    lead.withLock { lead in
      // The member that died may have written a checkpoint without recording it.
      lead.checkpoint.highest += 1
    }
    try turns.file.writeBody(makeRecord(startingAt: record), turns: record.holder.turns + 1)
    let segment = state.log.tail.withLock { $0.segment }
    for id in try LogFiles.numbers(state.paths, state.fileSystem) where id > segment?.id ?? .none {
      try state.fileSystem.unlink(state.paths.segment(id))
    }
    guard let segment else { return }
    let logEnd = state.log.tail.withLock { tail in
      tail.isEnded = true
      return tail.logEnd
    }
    if let shared = turns.shared {
      try shared.repair(end: logEnd) { () throws(StorageError) in
        try writeAgain(from: record, through: segment)
      }
    } else {
      try writeAgain(from: record, through: segment)
    }
    state.log.durableEnd.max(logEnd, ordering: .relaxed)
    try leaveTornSegment()
  }

  /// Rewrites and synchronizes the part of the log written since the record.
  private func writeAgain(
    from record: TurnRecord,
    through last: Segment
  ) throws(StorageError) {
    let segments = state.files.segments.indices(from: Int(record.segment.rawValue)).compactMap {
      state.files.segments[$0]
    }
    let end = state.log.tail.withLock { $0.end }
    for segment in segments where segment.id <= last.id {
      let limit = segment.id == last.id ? end : segment.readableEnd.load(ordering: .relaxed)
      // For a segment that was not the last when this process read it, the file is open for reading only.
      let file =
        segment.id == last.id ? segment.file : try state.fileSystem.open(segment.path, .write)
      var offset = 0
      if segment.id == record.segment, record.durableEnd > segment.header.logPosition {
        offset = min(segment.offset(of: record.durableEnd), limit)
      }
      try segment.writeAgain(from: offset, to: limit, in: file)
      if synchronizes { try file.synchronize() }
    }
  }

  private func highestFileNumber() throws(StorageError) -> SegmentID {
    let segment = try LogFiles.numbers(state.paths, state.fileSystem).last ?? .none
    let pack = try PackID.numbers(state.paths, state.fileSystem).last?.rawValue ?? 0
    return max(segment, SegmentID(rawValue: pack))
  }

  func highestBlob() throws(StorageError) -> BlobID {
    var highest = BlobID(rawValue: 0)
    for directory in try state.files.blobs.directories() {
      for id in try state.files.blobs.list(directory) where id.rawValue > highest.rawValue {
        highest = id
      }
    }
    return highest
  }

  /// Writes the appended frames, and lets the follower continue from there.
  func flushAndHandOver() throws(StorageError) {
    try lead.withLock { (lead) throws(StorageError) in
      if let cause = lead.failure { throw .poisoned(path: state.paths.root, cause: cause) }
      let work = state.log.tail.withLock { $0.take() }
      try write(work, synchronizing: false, &lead)
      publish(work)
    }
    handOver()
  }

  private func handOver() {
    let manifest = lead.withLock { $0.manifest.number }
    follower?.endTurn { position in
      state.log.tail.withLock { position.take(up: $0) }
      position.replay.catalogue = state.visibility.catalogue.withLock { $0 }
      if position.manifest < manifest {
        position.manifest = manifest
        position.newBase = nil
      }
    }
  }

  /// Lets the follower continue behind the last visible commit, so that it reads no commit twice.
  ///
  /// Exception: if appended commits did not become visible, their rows are in the index under numbers that other members'
  /// commits will get. Then this process reads no further: its state is final, and later refreshes throw the error.
  private func handOverAfterFailure(_ error: StorageError) {
    let written = state.log.writtenEnd.load(ordering: .relaxed)
    let visible = state.visibility.visible.load(ordering: .relaxed)
    let isAllVisible = state.log.tail.withLock { $0.logEnd == written && $0.sequence == visible }
    if isAllVisible { return handOver() }
    follower?.endTurn { $0.failure = error }
  }

  /// Steps 6 and 7; a writer that has failed leaves its number in the record, like a member that died.
  func endTurn(_ turns: Turns) {
    defer { release(turns) }
    do throws(StorageError) {
      try flushAndHandOver()
    } catch {
      // Poisoned: this process writes no more, and the next one repairs.
      handOverAfterFailure(error)
      return
    }
    do throws(StorageError) {
      let record = makeRecord(startingAt: nil)
      let count = try turns.file.readHolder().turns + 1
      try turns.file.writeBody(record, turns: count)
      if writesThrough { turns.shared?.record(turnEnd: record.segment, record.end) }
      try turns.file.write(.init(turns: count))
      turns.known.store(count, ordering: .relaxed)
      turns.read.store(count, ordering: .releasing)
    } catch {
      // The next member finds this member's number, and makes an unnecessary repair.
      turns.known.store(.max, ordering: .relaxed)
    }
  }

  /// Step 8, by a thread that has left its turn.
  private func synchronize(through end: UInt64, _ turns: Turns) throws(StorageError) {
    while state.log.durableEnd.load(ordering: .acquiring) < end {
      var needsTurn = false
      _ = try synchronizations.run(
        unless: { state.log.durableEnd.load(ordering: .acquiring) >= end },
        { () throws(StorageError) in
          needsTurn = try !synchronizeOutOfTurn(through: end, turns)
        }
      )
      // The synchronization of a member failed. A member that has the turn rewrites the part that may be lost.
      if needsTurn { return try synchronize() }
    }
  }

  /// - Returns: `false` if a turn is needed.
  private func synchronizeOutOfTurn(
    through end: UInt64,
    _ turns: Turns
  ) throws(StorageError) -> Bool {
    if state.log.durableEnd.load(ordering: .acquiring) >= end { return true }
    // If the segment was sealed since, all of it is on disk, and the record says so.
    guard let segment = state.log.tail.withLock({ $0.segment }) else { return false }
    do throws(StorageError) {
      return try synchronize(segment, through: end, isInTurn: false)
    } catch {
      throw lead.withLock { poison(error, &$0) }
    }
  }

  /// Returns the record for the next member.
  ///
  /// - Parameter start: The record whose durable end holds, if not all of the log is known to be on disk.
  /// - Returns: The record.
  func makeRecord(startingAt start: TurnRecord?) -> TurnRecord {
    var record = TurnRecord()
    record.nextFile = preparation.nextID
    record.nextBlob = state.files.blobs.nextID
    lead.withLock { lead in
      record.manifest = lead.manifest.number
      record.checkpoint = lead.checkpoint
    }
    if let start {
      record.segment = start.segment
      record.end = start.end
      record.durableEnd = start.durableEnd
      record.isEnded = start.isEnded
      return record
    }
    state.log.tail.withLock { tail in
      record.segment = tail.segment?.id ?? .none
      record.end = tail.segment == nil ? 0 : tail.end
      record.isEnded = tail.isEnded
    }
    record.durableEnd = state.log.durableEnd.load(ordering: .relaxed)
    return record
  }
}

extension LogTail {
  /// Continues from the position that a follower has reached.
  fileprivate mutating func take(up position: Follower.Position, isEnded: Bool) {
    let end = position.end
    segment = end.segment
    self.isEnded = isEnded
    intendedCapacity = nil
    outgrownCapacity = nil
    sequence = end.sequence
    chain = end.chain
    frame = end.frame
    logEnd = end.logPosition
    usages = position.replay.usages
    active.reset(at: end.offset)
    inFlight.reset(at: end.offset)
  }
}

extension TurnRecord {
  fileprivate var logEnd: Follower.KnownEnd {
    Follower.KnownEnd(manifest: manifest, segment: segment, offset: end)
  }
}

extension Follower.Position {
  /// Continues from the end of the same process's writer.
  fileprivate mutating func take(up tail: borrowing LogTail) {
    end.segment = tail.segment
    if tail.segment != nil { end.offset = tail.end }
    end.frame = tail.frame
    end.chain = tail.chain
    end.sequence = tail.sequence
    end.logPosition = tail.logEnd
    replay.usages = tail.usages
  }
}
