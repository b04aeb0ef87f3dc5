import Locking
import LogFormat
import RowFormat
import Synchronization

/// Reads another process's appends to the log, from the last position on.
///
/// The writer does not know about it. A follower relies on three facts: frames are written in order, written bytes do not
/// change, and a segment begins only when its predecessor has ended:
///
/// - Zeros in place of the next frame, or an incomplete frame, mean that the writer has not got further.
/// - The end of the current segment is the one that its successor's header names: after a crash, bytes behind that end belong
///   to a commit that was never made.
/// - An invalid frame is damage if a later one says that it was on disk, or if it is before the end that the next segment
///   names.
final class Follower: Sendable {
  let state: StoreState
  /// The commits of other processes that were read, for those who follow them.
  let news = ForeignCommits()
  private let position: Lock<Position>

  /// The position of the last read, and the state gathered so far.
  struct Position {
    var end: Recovery.End
    var replay: Replay
    /// The reason that reading has ended: a commit in the index is only half applied, or has rows that this process could not
    /// write.
    var failure: StorageError?
    /// The newest manifest that was read.
    var manifest: UInt64
    /// The last segment that was packed before it could be read, all of whose commits were known; none if that of the
    /// end was.
    var passedSegment = SegmentID.none
    /// The new beginning of the log, if it is not adopted yet.
    var newBase: LogBase?
    /// Whether this process appends, and so has read everything.
    var isInTurn = false
    /// Whether the rest of the log waits for a reader of this process.
    var isHeldBack = false
    /// The newest pack that the records read may build on.
    var admittedPack = SegmentID.none
  }

  init(state: StoreState, manifest: UInt64, end: Recovery.End, replay: Replay) {
    self.state = state
    position = Lock(
      Position(end: end, replay: replay, manifest: manifest),
      state.options.mode == .readWrite ? .memberPosition : .followerPosition
    )
  }

  /// Reads the new commits, one by one.
  func refresh() throws(StorageError) -> CommitSequence {
    try position.withLock { (position) throws(StorageError) in
      if let failure = position.failure { throw failure }
      if position.isInTurn {
        return CommitSequence(state.visibility.visible.load(ordering: .relaxed))
      }
      do {
        try advance(&position)
      } catch let error as StorageError {
        throw error
      } catch {
        // Nothing below throws anything else.
        preconditionFailure("following threw \(error)")
      }
      return CommitSequence(state.visibility.visible.load(ordering: .relaxed))
    }
  }

  /// Whether the last reading stopped at a commit that waits for a reader of this process.
  var isHeldBack: Bool { position.withLock { $0.isHeldBack } }

  /// Whether reading has ended for good.
  var hasFailed: Bool { position.withLock { $0.failure != nil } }

  /// Lends the position of the last read, and the state gathered so far.
  func withPosition<R, E: Error>(_ body: (inout Position) throws(E) -> R) throws(E) -> R {
    try position.withLock { (position) throws(E) in try body(&position) }
  }

  private func advance(_ position: inout Position) throws {
    let before = position.end.logPosition
    defer { if position.end.logPosition != before { publishUsage(position) } }
    position.isHeldBack = false
    do {
      while try readSegments(&position) {}
    } catch is MustWaitForReader {
      position.isHeldBack = true
      return
    } catch {
      try checkIsNotLeftBehind(&position)
      throw error
    }
    _ = try takeUpBase(&position)
  }

  /// Reads to the end of the current segment, and begins the segments that follow.
  ///
  /// - Returns: Whether there were any.
  func readSegments(_ position: inout Position) throws -> Bool {
    let lastKind = try readOn(&position)
    // Checked even if nothing says that the segment has ended: its writer may have been killed.
    let successors = try findSuccessors(&position)
    if successors.isEmpty {
      if lastKind == nil { try checkForDamage(&position) }
      return false
    }
    for header in successors { try goOn(to: header, &position) }
    // With new segments, older ones may have been packed.
    try findBase(&position)
    return true
  }

  func publishUsage(_ position: Position) {
    // A process that writes learns the end of the log at its next turn.
    if state.options.mode == .readWrite { return }
    state.log.tail.withLock { tail in
      tail.sequence = position.end.sequence
      tail.logEnd = position.end.logPosition
      tail.usages = position.replay.usages
    }
  }
}

// MARK: One segment

extension Follower {
  /// Reads the current segment, as far as it was written or to its declared end.
  ///
  /// - Returns: The kind of the last frame; `nil` if there was none.
  func readOn(_ position: inout Position, upTo limit: Int? = nil) throws -> FrameKind? {
    guard let segment = try growSegment(&position.end) else { return nil }
    var scan = FrameScan(
      segment,
      from: position.end.offset,
      to: min(limit ?? segment.capacity, segment.capacity),
      chain: position.end.chain,
      sequence: position.end.sequence
    )
    defer {
      position.end.move(to: scan)
      state.log.durableEnd.max(scan.durableEnd, ordering: .relaxed)
      state.log.writtenEnd.store(position.end.logPosition, ordering: .relaxed)
    }
    while try readNext(&scan, &position) {}
    return scan.lastKind
  }

  /// Reads one frame, and publishes the commit that it completes.
  private func readNext(_ scan: inout FrameScan, _ position: inout Position) throws -> Bool {
    let commitCount = scan.commitCount
    let segment = scan.segment
    var isApplying = false
    do {
      let isValid = try scan.next {
        try preparePacks(for: $0, &position)
      } _: { payload, offset, sequence in
        isApplying = true
        try position.replay.apply(payload, at: offset, in: segment, sequence: sequence)
      }
      if scan.commitCount != commitCount {
        publish(&position.replay, scan.sequence)
      }
      return isValid
    } catch let error as StorageError {
      if isApplying { position.failure = error }
      throw error
    }
  }

  /// Publishes a commit: rows, counts and catalogue in one step.
  func publish(_ replay: inout Replay, _ sequence: UInt64) {
    state.visibility.publication.add(1, ordering: .acquiringAndReleasing)
    // No count is seen to change before the publication is.
    atomicMemoryFence(ordering: .releasing)
    replay.publishRowCounts()
    state.visibility.catalogue.withLock { $0 = replay.catalogue }
    state.visibility.foreign.store(sequence, ordering: .releasing)
    state.visibility.visible.store(sequence, ordering: .releasing)
    state.visibility.publication.add(1, ordering: .acquiringAndReleasing)
    // Comes last: commits taken from the news can be read.
    news.add(sequence)
  }

  /// Returns the current segment at its file's current size: a segment that was cut off when the store was closed grows again
  /// when the log continues in it.
  private func growSegment(_ end: inout Recovery.End) throws(StorageError) -> Segment? {
    guard let segment = end.segment else { return nil }
    let size = try segment.file.size()
    guard size > segment.capacity else { return segment }
    let grown = try Segment(
      header: segment.header,
      file: segment.file,
      capacity: size,
      readableEnd: end.offset,
      reads: state.options.reads
    )
    state.add(grown)
    end.segment = grown
    return grown
  }

  /// Determines whether an unreadable frame is still being written, or damaged.
  private func checkForDamage(_ position: inout Position) throws {
    guard let segment = position.end.segment else { return }
    let offset = position.end.offset
    let header = try segment.file.readBytes(FrameHeader.byteCount, at: offset)
    if header.bytes.isZero { return }
    let tail = try TornTail(in: segment, from: offset, to: segment.capacity, .nearby)
    guard tail.durableEnd > segment.logPosition(of: offset) else { return }
    // The proof may have been written after the frame was examined; then the frame is there now.
    _ = try readOn(&position)
    guard position.end.offset > offset else {
      throw position.end.lost(in: segment, durableUpTo: tail.durableEnd, .laterFrame)
    }
  }
}

extension Recovery.End {
  func lost(
    in segment: Segment,
    durableUpTo: UInt64,
    _ witness: Corruption.Witness
  ) -> StorageError {
    let scan = FrameScan(segment, from: offset, to: offset, chain: chain, sequence: sequence)
    return scan.lost(durableUpTo: durableUpTo, witness)
  }
}
