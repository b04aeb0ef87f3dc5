import Locking
import LogFormat
import RowFormat
import Synchronization

// Moving from segment to segment.
extension LogWriter {
  /// Moves to a segment with room for that many bytes.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the commit.
  ///   - frugality: The room that the segment takes on a device that is nearly full.
  /// - Throws: ``StorageError/noSpace(path:needed:)`` before anything is changed.
  func makeRoom(
    for byteCount: Int,
    _ frugality: SegmentFrugality
  ) throws(StorageError) {
    let isNext = try lead.withLock { (lead) throws(StorageError) in
      try check(lead)
      let (hasRoom, end, logEnd) = state.log.tail.withLock {
        ($0.hasRoom(for: byteCount), $0.end, $0.logEnd)
      }
      if hasRoom { return false }
      if try extendSegment(to: end + byteCount + LogTail.reserve, frugality) { return false }
      if try growSegment(for: byteCount) { return false }
      try beginNextSegment(for: byteCount, at: logEnd, frugality, &lead)
      return true
    }
    if isNext { housekeeper.compactAfterSegment(of: self) }
  }

  /// Moves to the next segment if this one contains commits, so that it can be packed.
  ///
  /// - Parameter frugality: The room that the next segment takes on a device that is nearly full.
  /// - Throws: ``StorageError/noSpace(path:needed:)`` before anything is changed.
  func leaveSegment(_ frugality: SegmentFrugality) throws(StorageError) {
    try inTurn { () throws(StorageError) in
      synchronizeMost()
      try leaveSegmentInTurn(frugality)
    }
  }

  private func leaveSegmentInTurn(_ frugality: SegmentFrugality) throws(StorageError) {
    try lead.withLock { (lead) throws(StorageError) in
      try check(lead)
      let (isUsed, logEnd) = state.log.tail.withLock { tail in
        (tail.segment.map { $0.header.previousSequence.rawValue < tail.sequence }, tail.logEnd)
      }
      if isUsed == true { try beginNextSegment(for: 0, at: logEnd, frugality, &lead) }
    }
  }

  func beginNextSegment(
    for byteCount: Int,
    at logEnd: UInt64,
    _ frugality: SegmentFrugality,
    _ lead: inout Lead
  ) throws(StorageError) {
    let sealing = beginSealing()
    let prepared: PreparedSegment
    do throws(StorageError) {
      // Comes first: there may be room for only one of the two.
      try makeRoomForMark()
      // Other processes take the size of a file for its capacity.
      prepared = try preparation.take(
        for: byteCount,
        at: sizeBasis(logEnd),
        smallLogEnd: turns == nil ? logEnd : nil,
        frugality
      )
    } catch {
      throw preparation.hasFailed ? poison(error, &lead) : error
    }
    do throws(StorageError) {
      try sealSegment(&lead)
      try begin(prepared)
    } catch {
      throw poison(error, &lead)
    }
    reportSealing(sealing, next: prepared)
    housekeeper.wake()
  }

  /// Extends the segment by space that it was cut off from when the store was closed, or did not get yet because the log was
  /// small.
  ///
  /// - Parameters:
  ///   - needed: The capacity that it must reach, in bytes.
  ///   - frugality: The growth on a device without room for more.
  /// - Returns: Whether it has reached that capacity.
  /// - Throws: ``StorageError/noSpace(path:needed:)`` before anything is changed.
  private func extendSegment(
    to needed: Int,
    _ frugality: SegmentFrugality
  ) throws(StorageError) -> Bool {
    let (segment, logEnd, intended) = state.log.tail.withLock {
      ($0.segment, $0.logEnd, $0.intendedCapacity)
    }
    guard let segment, let intended else { return false }
    let full = max(intended, preparation.capacity(at: sizeBasis(logEnd)))
    guard segment.capacity < full, needed <= full else { return false }
    let capacity =
      turns == nil ? preparation.fileSize(for: needed, at: logEnd, of: full) : full
    let reached: Int
    do throws(StorageError) {
      try extend(segment, to: capacity)
      reached = capacity
    } catch {
      let smallest = SegmentPreparation.smallestSize(for: needed)
      guard case .noSpace = error, frugality != .asEver, smallest < capacity else { throw error }
      try extend(segment, to: smallest)
      reached = smallest
    }
    state.log.tail.withLock { $0.intendedCapacity = reached < full ? full : nil }
    return true
  }

  /// Extends the segment once its file is half full, so that commits need not, and lack of space is known before a commit is
  /// refused; called by the background.
  func extendAhead() throws(StorageError) {
    try lead.withLock { (lead) throws(StorageError) in
      guard lead.failure == nil, !lead.isClosed else { return }
      let (segment, end) = state.log.tail.withLock { ($0.segment, $0.end) }
      guard let segment, end > segment.capacity / 2 else { return }
      _ = try extendSegment(to: segment.capacity + 1, .asEver)
    }
  }

  /// Ends the current segment, on disk, so that the next one can name its end.
  private func sealSegment(_ lead: inout Lead) throws(StorageError) {
    let durableEnd = state.log.durableEnd.load(ordering: .relaxed)
    let work = state.log.tail.withLock { tail in
      tail.gate = .rotating
      // If the log did not end cleanly, not even the frame that seals a segment is appended.
      if !tail.isEnded { tail.appendMark(.seal, durableEnd: durableEnd) }
      return tail.take()
    }
    try write(work, synchronizing: true, &lead)
    publish(work)
  }

  /// Begins a segment whose file is ready.
  private func begin(_ prepared: PreparedSegment) throws(StorageError) {
    let now = state.fileSystem.microseconds()
    let header = state.log.tail.withLock { tail in
      tail.demand.begin(after: tail.segment == nil ? 0 : tail.end, at: now)
      return SegmentHeader(
        store: state.store,
        segment: prepared.id,
        salt: state.fileSystem.randomBits(),
        firstSequence: CommitSequence(tail.sequence + 1),
        logPosition: tail.logEnd,
        previousSegment: tail.segment?.id ?? .none,
        previousEnd: tail.segment == nil ? 0 : tail.end,
        previousSequence: CommitSequence(tail.sequence),
        previousChain: tail.chain,
        epoch: epoch,
        created: now
      )
    }
    var bytes = ByteBuffer(capacity: SegmentHeader.byteCount)
    header.encode(into: &bytes)
    try prepared.file.writeAll(bytes.bytes, at: 0)
    if synchronizes { try prepared.file.synchronize() }
    let segment = try Segment(
      header: header,
      file: prepared.file,
      capacity: prepared.capacity,
      readableEnd: SegmentHeader.byteCount,
      reads: state.options.reads
    )
    state.add(segment)
    state.log.tail.withLock { tail in
      tail.segment = segment
      tail.isEnded = false
      tail.intendedCapacity =
        prepared.capacity < prepared.intendedCapacity ? prepared.intendedCapacity : nil
      tail.outgrownCapacity = nil
      tail.frame = 0
      tail.active.reset(at: SegmentHeader.byteCount)
      tail.gate = .open
    }
  }
}
