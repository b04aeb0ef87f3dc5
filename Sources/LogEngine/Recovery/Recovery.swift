import LogFormat
import RowFormat
import Synchronization

/// Recovers the state of a store's log after any crash.
///
/// The steps, in order:
///
/// 1. Read the header of every segment. Each names its predecessor, so none can be missing.
/// 2. Load the index from a checkpoint, if one fits.
/// 3. Read the frames after it. Every segment but the last must be valid up to the end that its successor declares: it was on
///    disk before the successor was begun.
/// 4. In the last segment, stop at the first invalid frame. The bytes behind it are a torn tail, or proof that the log was
///    longer: then opening fails.
///
/// Nothing is written here; ``repair(_:)`` makes the log safe for a writer to append to.
struct Recovery {
  let state: StoreState
  let manifest: Manifest
  /// Whether the whole log is read, and no checkpoint.
  var ignoresCheckpoints = false
  /// The log position up to which the log is read, the end of a commit; `nil` for all of it.
  var logLimit: UInt64?
  /// Reads the tables once more without a checkpoint, at any later time, up to a log position; without it, every page of the
  /// checkpoint is checked now.
  var readLogAlone: (@Sendable (_ end: UInt64) throws(StorageError) -> [Table])?
  var report = RecoveryReport()
  var replay: Replay
  /// The existing checkpoints.
  var checkpoints = CheckpointState()
  /// The durable end of the log according to a checkpoint.
  var checkpointedEnd: UInt64 = 0
  /// A close mark that a manifest counts and the file lacks in part; see ``CutCloseMark``.
  private(set) var cutCloseMark: CutCloseMark?

  /// The end of the log, with everything needed to continue it.
  struct End {
    /// The last segment; `nil` in a log that was never begun, or before any was read.
    var segment: Segment?
    /// Whether the log begins behind segments that were packed.
    var hasBase = false
    var offset = SegmentHeader.byteCount
    /// The offset of the last frame; 0 if the segment has none.
    var frame = 0
    var chain: UInt32 = 0
    var sequence: UInt64 = 0
    /// The end's position, counted over all segments.
    var logPosition: UInt64 = 0
    /// The durable end of the log, as far as is known.
    var durableEnd: UInt64 = 0
    /// Whether the log was closed here, so that it may continue in the same file.
    var isClean = true
    /// The end of the nonzero bytes that follow the log's end.
    var tornEnd = 0
    /// Segments without a header.
    var unfinished: [SegmentID] = []
    /// The number of the next segment.
    var nextSegment = SegmentID(rawValue: 1)
    /// The greatest epoch seen.
    var epoch: UInt32 = 0
  }

  init(state: StoreState, manifest: Manifest) {
    self.state = state
    self.manifest = manifest
    replay = Replay(state: state)
  }

  mutating func run() throws -> End {
    let checkpoints = readCheckpoints()
    checkpointedEnd = checkpoints.map(\.checkpoint.durableEnd).max() ?? 0
    try openPacks()
    let files = try LogFiles(
      paths: state.paths,
      fileSystem: state.fileSystem,
      mode: state.options.mode,
      after: manifest.base?.segment ?? .none
    )
    var isForeign = false
    do throws(StorageError) {
      try checkPresence(files)
    } catch {
      try recordDamage(error)
      isForeign = files.headers.contains { $0.store != state.store }
    }
    if let damage = files.damage { try recordDamage(damage) }
    let segments = isForeign ? [] : try open(files.headers)
    var end = End(manifest.base)
    end.unfinished = files.unfinished
    end.nextSegment = max(manifest.nextSegment, files.highest.next)
    end.epoch = max(manifest.epoch, files.headers.last?.epoch ?? 0)
    // A checkpoint may name records beyond the damage.
    let usesIndex = state.options.mode != .readOnlyUpToDamage && !ignoresCheckpoints
    let start = usesIndex ? takeIndex(from: checkpoints, segments) : nil
    if start == nil { try takeIndexFromPacks() }
    try read(segments, from: start, &end)
    replay.publishRowCounts()
    report.lastCommit = CommitSequence(end.sequence)
    report.wasClosedCleanly = end.isClean && report.damage == nil
    return end
  }

  /// Records damage if the store is opened up to it, and throws it otherwise.
  private mutating func recordDamage(_ error: StorageError) throws(StorageError) {
    guard state.options.mode == .readOnlyUpToDamage else { throw error }
    report.damage = error
  }

  /// Checks that every segment named in the manifest is there, and as long as it says.
  private mutating func checkPresence(_ files: LogFiles) throws(StorageError) {
    let known = Set(files.headers.map(\.segment))
    for segment in manifest.segments {
      let path = state.paths.segment(segment.id)
      guard let size = try state.fileSystem.size(of: path) else {
        throw .corruption(Corruption(path: path, offset: 0, problem: .missing(.segment)))
      }
      guard size >= segment.end || passesCutCloseMark(in: segment, size: size) else {
        let problem = Corruption.Problem.truncated(
          .segment,
          needed: segment.end,
          available: size
        )
        throw .corruption(Corruption(path: path, offset: size, problem: problem))
      }
      guard known.contains(segment.id) else {
        throw .corruption(Corruption(path: path, offset: 0, problem: .missing(.segmentHeader)))
      }
    }
    guard !files.headers.isEmpty || manifest.durableEnd == 0 else {
      throw .corruption(
        Corruption(path: state.paths.log, offset: 0, problem: .missing(.segment))
      )
    }
    guard files.headers.allSatisfy({ $0.store == state.store }) else {
      throw .corruption(
        Corruption(path: state.paths.log, offset: 0, problem: .missing(.manifest))
      )
    }
  }

  /// Records that a segment may end inside its close mark; whether it does shows once the frames before it have been read.
  private mutating func passesCutCloseMark(in segment: Manifest.SegmentEnd, size: Int) -> Bool {
    guard let mark = CutCloseMark(manifest, in: segment, size: size) else { return false }
    cutCloseMark = mark
    checkpointedEnd = min(checkpointedEnd, mark.logPosition)
    return true
  }

  /// The durable end of the log according to the manifest.
  private var manifestEnd: UInt64 { cutCloseMark?.logPosition ?? manifest.durableEnd }

  private func open(_ headers: [SegmentHeader]) throws(StorageError) -> [Segment] {
    var segments: [Segment] = []
    for header in headers {
      let isLast = header.segment == headers.last?.segment
      let canWrite = isLast && state.options.mode == .readWrite
      let file = try state.fileSystem.open(
        state.paths.segment(header.segment),
        canWrite ? .write : .read
      )
      let size = try file.size()
      // A writer in another process may cut the last file off at the end of its frames.
      let mayShrink = isLast && !canWrite
      let segment = try Segment(
        header: header,
        file: file,
        capacity: size,
        readableEnd: mayShrink ? min(size, SegmentHeader.byteCount) : size,
        reads: state.options.reads
      )
      state.files.segments.store(segment, at: Int(header.segment.rawValue))
      segments.append(segment)
    }
    return segments
  }
}

// MARK: Reading frames

extension Recovery {
  private mutating func read(
    _ segments: [Segment],
    from start: LogPlace?,
    _ end: inout End
  ) throws {
    for (index, segment) in segments.enumerated() {
      if let logLimit, segment.header.logPosition >= logLimit { return }
      let successor = index + 1 < segments.count ? segments[index + 1].header : nil
      var damage: StorageError?
      do {
        if let start, let successor, segment.id < start.segment {
          try passOver(segment, until: successor, &end)
          continue
        }
        segment.expect(.sequential)
        defer { segment.expect(.unknown) }
        var scan = try makeScan(of: segment, until: successor, from: start, after: end)
        do {
          try read(&scan, successor, &end)
        } catch let error as StorageError {
          damage = error
        }
        end.move(to: scan)
      } catch let error as StorageError {
        damage = error
      }
      if let damage { return try recordDamage(damage) }
    }
  }

  /// Begins to read a segment, which must be linked to the one before.
  private func makeScan(
    of segment: Segment,
    until successor: SegmentHeader?,
    from start: LogPlace?,
    after end: End
  ) throws(StorageError) -> FrameScan {
    try end.checkLink(to: segment)
    var limit = try limit(of: segment, successor)
    if let logLimit { limit = min(limit, segment.offset(of: logLimit)) }
    guard let start, start.segment == segment.id, start.frame > 0 else {
      return FrameScan(
        segment,
        from: SegmentHeader.byteCount,
        to: limit,
        chain: end.chain,
        sequence: end.sequence
      )
    }
    segment.readableEnd.max(start.offset, ordering: .releasing)
    let kind = try segment.frameHeader(at: start.frame)?.kind
    return FrameScan(segment, after: start, kind, to: limit)
  }

  /// Skips a segment whose records are all in the checkpoint; its successor describes it.
  private func passOver(
    _ segment: Segment,
    until successor: SegmentHeader,
    _ end: inout End
  ) throws(StorageError) {
    try end.checkLink(to: segment)
    _ = try limit(of: segment, successor)
    end.segment = segment
    end.offset = successor.previousEnd
    end.chain = successor.previousChain
    end.sequence = successor.previousSequence.rawValue
    end.logPosition = segment.logPosition(of: successor.previousEnd)
    end.durableEnd = end.logPosition
    segment.readableEnd.store(end.offset, ordering: .releasing)
  }

  /// Returns the end of a segment, or the end that its successor declares.
  private func limit(
    of segment: Segment,
    _ successor: SegmentHeader?
  ) throws(StorageError) -> Int {
    let limit = successor?.previousEnd ?? segment.capacity
    guard SegmentHeader.byteCount...max(segment.capacity, SegmentHeader.byteCount) ~= limit else {
      throw segment.corruption(
        at: segment.capacity,
        .truncated(.segment, needed: limit, available: segment.capacity)
      )
    }
    return limit
  }

  /// Reads a segment to its end.
  private mutating func read(
    _ scan: inout FrameScan,
    _ successor: SegmentHeader?,
    _ end: inout End
  ) throws {
    try read(&scan)
    let isLimited = scan.segment.logPosition(of: scan.limit) == logLimit
    guard successor != nil || isLimited else { return try settleTail(&scan, &end) }
    let durableEnd = scan.segment.logPosition(of: scan.limit)
    guard scan.lastComplete.offset == scan.limit else {
      throw scan.lost(durableUpTo: durableEnd, .successor)
    }
    end.durableEnd = durableEnd
  }

  /// Applies the commits up to the first invalid frame.
  private mutating func read(_ scan: inout FrameScan) throws {
    let start = scan.offset
    let commitCount = scan.commitCount
    let segment = scan.segment
    defer {
      report.scannedByteCount += scan.offset - start
      report.scannedCommitCount += scan.commitCount - commitCount
    }
    while true {
      // Half a commit must not be counted if damage, and not the end of the log, follows it.
      let before = state.options.mode == .readOnlyUpToDamage ? replay : nil
      do {
        let isValid = try scan.next { payload, offset, sequence in
          try replay.apply(payload, at: offset, in: segment, sequence: sequence)
        }
        guard isValid else { return }
      } catch {
        if let before { replay = before }
        throw error
      }
    }
  }

  /// Interprets the bytes after the last valid frame.
  ///
  /// Beside a writer, frames may have been appended between the reading and the search for proof. So proof of damage is first a
  /// reason to read on; it is damage only if no further frame is found.
  private mutating func settleTail(_ scan: inout FrameScan, _ end: inout End) throws {
    let segment = scan.segment
    let tail = try TornTail(in: segment, from: scan.offset, to: segment.capacity)
    let proven = max(tail.durableEnd, manifestEnd, checkpointedEnd)
    while proven > segment.logPosition(of: scan.offset) {
      let before = scan.offset
      try read(&scan)
      guard scan.offset > before else {
        let position = segment.logPosition(of: before)
        let witness: Corruption.Witness =
          tail.durableEnd > position
          ? .laterFrame : manifestEnd > position ? .manifest : .checkpoint
        throw scan.lost(durableUpTo: proven, witness)
      }
    }
    end.durableEnd = max(
      end.durableEnd,
      scan.durableEnd,
      manifestEnd,
      checkpointedEnd
    )
    if let cutCloseMark { try cutCloseMark.check(against: scan) }
    end.tornEnd = max(tail.end, scan.offset)
    report.tornByteCount = end.tornEnd - scan.lastComplete.offset
    end.isClean =
      manifest.isClean && manifest.durableEnd == segment.logPosition(of: scan.lastComplete.offset)
      && end.tornEnd == scan.lastComplete.offset && scan.lastKind == .close
  }
}

extension Recovery.End {
  /// Checks that a segment begins at the end of its predecessor.
  func checkLink(to segment: Segment) throws(StorageError) {
    let header = segment.header
    let pairs: [(String, UInt64, UInt64)] = [
      ("logPosition", logPosition, header.logPosition),
      ("previousSequence", sequence, header.previousSequence.rawValue),
      ("previousChain", UInt64(chain), UInt64(header.previousChain)),
      (
        "previousEnd", UInt64(self.segment == nil && !hasBase ? 0 : offset),
        UInt64(clamping: header.previousEnd)
      ),
    ]
    for (name, expected, found) in pairs where expected != found {
      throw segment.corruption(
        at: 0,
        .invalidField(of: .segmentHeader, name: name, expected: expected, found: found)
      )
    }
  }

  /// Moves the end to the end of the last complete commit of a segment.
  mutating func move(to scan: FrameScan) {
    let segment = scan.segment
    segment.readableEnd.store(scan.lastComplete.offset, ordering: .releasing)
    self.segment = segment
    offset = scan.lastComplete.offset
    frame = scan.lastComplete.frame
    chain = scan.lastComplete.chain
    sequence = scan.lastComplete.sequence
    logPosition = segment.logPosition(of: offset)
  }
}

extension FrameScan {
  /// Returns the error for a log that ends here and was once longer.
  func lost(durableUpTo: UInt64, _ witness: Corruption.Witness) -> StorageError {
    segment.corruption(
      at: offset,
      .lostDurableBytes(
        logPosition: segment.logPosition(of: offset),
        durableUpTo: durableUpTo,
        witness: witness
      )
    )
  }
}
