import Locking
import LogFormat
import RowFormat
import Synchronization

/// Reads what another process appends to the log, from where it stopped the last time.
///
/// The writer knows nothing of it. What a follower relies on is that frames are written in order, that
/// what was written does not change, and that a segment begins only when its predecessor has ended:
///
/// - Zeros where the next frame would be, or a frame of which only a part is there, are a writer that
///   has not come that far.
/// - A segment that names the current one as its predecessor says where that one ended: after a crash,
///   what follows there is a commit that never was.
/// - A frame that is not valid, though a later one says that it was on disk, or though it is before
///   the end that the next segment names, is damage.
final class Follower: Sendable {
  let state: StoreState
  /// The commits of others that were read, for those who follow them.
  let news = ForeignCommits()
  private let position: Lock<Position>

  /// Where the reading stopped, and what was learnt so far.
  struct Position {
    var end: Recovery.End
    var replay: Replay
    /// Why nothing is read any more: half of a commit is in the index that cannot be applied, or rows of one are that this
    /// process could not write.
    var failure: StorageError?
    /// The newest manifest that was read.
    var manifest: UInt64
    /// The last segment that was packed before it could be read, all of whose commits were known; none if that of the
    /// end was.
    var passedSegment = SegmentID.none
    /// Where the log begins by now, if that is not taken up yet.
    var newBase: LogBase?
    /// Whether this process appends, and so knows all there is.
    var isInTurn = false
    /// Whether there is more in the log, which waits for a reader of this process.
    var isHeldBack = false
    /// The newest pack on whose rows records may stand that are read.
    var admittedPack = SegmentID.none
  }

  init(state: StoreState, manifest: UInt64, end: Recovery.End, replay: Replay) {
    self.state = state
    position = Lock(
      Position(end: end, replay: replay, manifest: manifest),
      state.options.mode == .readWrite ? .memberPosition : .followerPosition
    )
  }

  /// Reads what there is, commit by commit.
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

  /// Whether the last reading left out what waits for a reader of this process.
  var isHeldBack: Bool { position.withLock { $0.isHeldBack } }

  /// Whether nothing is read any more, whatever is committed.
  var hasFailed: Bool { position.withLock { $0.failure != nil } }

  /// Lends the place where the reading stopped; no one reads on meanwhile.
  func withEnd<R>(_ body: (Recovery.End) -> R) -> R { position.withLock { body($0.end) } }

  /// Lends the place where the reading stopped, and what was learnt so far.
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

  /// Reads on, and begins the segments that follow.
  ///
  /// - Returns: Whether there were any.
  func readSegments(_ position: inout Position) throws -> Bool {
    let lastKind = try readOn(&position)
    // Also where nothing says that the segment has ended: its writer may have been killed.
    let successors = try findSuccessors(&position)
    if successors.isEmpty {
      if lastKind == nil { try checkForDamage(&position) }
      return false
    }
    for header in successors { try goOn(to: header, &position) }
    // Where segments begin, older ones may have been packed.
    try findBase(&position)
    return true
  }

  func publishUsage(_ position: Position) {
    // A process that writes learns where the log ends when its turn comes.
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

  /// Reads one frame, and shows readers the commit it completes.
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

  /// Shows readers a commit: rows, counts and catalogue in one step.
  func publish(_ replay: inout Replay, _ sequence: UInt64) {
    state.visibility.publication.add(1, ordering: .acquiringAndReleasing)
    // No count is seen to change before the publication is.
    atomicMemoryFence(ordering: .releasing)
    replay.publishRowCounts()
    state.visibility.catalogue.withLock { $0 = replay.catalogue }
    state.visibility.foreign.store(sequence, ordering: .releasing)
    state.visibility.visible.store(sequence, ordering: .releasing)
    state.visibility.publication.add(1, ordering: .acquiringAndReleasing)
    // Last: the commits that are taken from there can be read.
    news.add(sequence)
  }

  /// The current segment, as long as its file now is: a segment that was cut off when the store was
  /// closed grows again when the log goes on in it.
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

  /// Looks whether a frame that cannot be read is one that is being written, or damage.
  private func checkForDamage(_ position: inout Position) throws {
    guard let segment = position.end.segment else { return }
    let offset = position.end.offset
    let header = try segment.file.readBytes(FrameHeader.byteCount, at: offset)
    if header.bytes.isZero { return }
    let tail = try TornTail(in: segment, from: offset, to: segment.capacity, .nearby)
    guard tail.durableEnd > segment.logPosition(of: offset) else { return }
    // The proof may have been written after the frame was looked at; then the frame is there now.
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
