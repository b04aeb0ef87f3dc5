import RowFormat
import Synchronization

/// The end of the log, where commits are appended.
///
/// Two locks: one to append, held for a copy and one write; one to synchronize, in which followers
/// queue and mostly find themselves done. While one thread waits for the disk, others append, and
/// the next synchronization takes all of them along.
final class Log: Sendable {
  private struct Tail {
    var segment: Segment
    /// Where the next frame goes.
    var offset: Int
    var chain: UInt32
    var sequence: UInt64
    var failure: StorageError?
  }

  private let state: StoreState
  private let tail: Mutex<Tail>
  private let synchronization = Mutex<Void>(())
  /// The log position up to which everything is on disk.
  private let durableEnd: Atomic<UInt64>
  /// When the log was last synchronized, in microseconds since 1970.
  private let lastSynchronization: Atomic<Int64>
  private let epoch: UInt32

  init(
    _ state: StoreState,
    segment: Segment,
    offset: Int = SegmentHeader.byteCount,
    chain: UInt32,
    sequence: UInt64,
    epoch: UInt32
  ) {
    self.state = state
    self.epoch = epoch
    lastSynchronization = Atomic(state.fileSystem.microseconds())
    durableEnd = Atomic(segment.logPosition(of: offset))
    tail = Mutex(
      Tail(segment: segment, offset: offset, chain: chain, sequence: sequence)
    )
  }

  /// The size of the active segment that was written so far, and what has been appended in all.
  var end: UInt64 { tail.withLock { $0.segment.logPosition(of: $0.offset) } }

  /// Appends a batch, and synchronizes as the store's durability says.
  ///
  /// Relaxed, the first commit after the interval synchronizes for all before it; the last ones are
  /// synchronized when the store is closed.
  func commit(_ batch: inout CommitBatch) throws(StorageError) -> CommitSequence {
    if let failure = batch.failure { throw failure }
    let (sequence, end) = try append(&batch)
    switch state.options.durability {
    case .full: try synchronize(to: end)
    case .relaxed(let interval):
      let elapsed = state.fileSystem.microseconds() - lastSynchronization.load(ordering: .relaxed)
      if .microseconds(elapsed) >= interval { try synchronize(to: end) }
    case .memory: break
    }
    return CommitSequence(sequence)
  }

  private func append(
    _ batch: inout CommitBatch
  ) throws(StorageError) -> (sequence: UInt64, end: UInt64) {
    let microseconds = state.fileSystem.microseconds()
    return try tail.withLock { (tail) throws(StorageError) in
      if let failure = tail.failure {
        throw .poisoned(path: state.paths.root, cause: failure)
      }
      try makeRoom(for: batch.buffer.count, in: &tail)
      let sequence = tail.sequence + 1
      let chain = seal(&batch, microseconds, sequence, tail)
      do throws(StorageError) {
        try tail.segment.file.writeAll(batch.buffer.bytes, at: tail.offset)
      } catch {
        tail.failure = error
        throw error
      }
      let start = tail.offset
      tail.offset += batch.buffer.count
      tail.chain = chain
      tail.sequence = sequence
      tail.segment.readableEnd.store(tail.offset, ordering: .releasing)
      try publish(batch, at: start, in: tail.segment, sequence)
      return (sequence, tail.segment.logPosition(of: tail.offset))
    }
  }

  /// Fills in what was not known while the batch was encoded: numbers, checksums, the chain.
  private func seal(
    _ batch: inout CommitBatch,
    _ microseconds: Int64,
    _ sequence: UInt64,
    _ tail: borrowing Tail
  ) -> UInt32 {
    var chain = tail.chain
    let durable = durableEnd.load(ordering: .relaxed)
    for (index, start) in batch.frameStarts.enumerated() {
      let end =
        index + 1 < batch.frameStarts.count ? batch.frameStarts[index + 1] : batch.buffer.count
      let payload = (start + FrameHeader.byteCount)..<end
      CommitPayload.store(
        microseconds: microseconds,
        at: payload.lowerBound,
        in: &batch.buffer
      )
      let kind: FrameKind =
        batch.frameStarts.count == 1
        ? .commit
        : index == 0 ? .first : index == batch.frameStarts.count - 1 ? .last : .middle
      let header = FrameHeader(
        payloadLength: payload.count,
        kind: kind,
        sequence: CommitSequence(sequence),
        durableEnd: durable,
        payloadChecksum: CRC32C.extend(0, over: batch.buffer.bytes.extracting(payload)),
        chain: chain
      )
      chain = header.store(
        in: &batch.buffer,
        at: start,
        seed: tail.segment.seed.at(tail.offset + start)
      )
    }
    return chain
  }

  private func publish(
    _ batch: borrowing CommitBatch,
    at start: Int,
    in segment: Segment,
    _ sequence: UInt64
  ) throws(StorageError) {
    for (index, frame) in batch.frameStarts.enumerated() {
      let end =
        index + 1 < batch.frameStarts.count ? batch.frameStarts[index + 1] : batch.buffer.count
      let payload = (frame + FrameHeader.byteCount)..<end
      try state.enter(
        batch.buffer.bytes.extracting(payload),
        in: segment,
        at: start + payload.lowerBound,
        sequence: sequence
      )
    }
    state.visible.store(sequence, ordering: .releasing)
  }

  /// Goes on in a new segment if the commit does not fit into this one.
  private func makeRoom(for byteCount: Int, in tail: inout Tail) throws(StorageError) {
    guard tail.offset + byteCount > tail.segment.capacity else { return }
    let size = min(tail.segment.capacity * 2, state.options.largestSegment)
    let header = SegmentHeader(
      store: state.store,
      segment: tail.segment.id.next,
      salt: state.fileSystem.randomBits(),
      firstSequence: CommitSequence(tail.sequence + 1),
      logPosition: tail.segment.logPosition(of: tail.offset),
      previousSegment: tail.segment.id,
      previousEnd: tail.offset,
      previousSequence: CommitSequence(tail.sequence),
      previousChain: tail.chain,
      epoch: epoch,
      created: state.fileSystem.microseconds()
    )
    // The predecessor must be on disk before a successor says where it ends.
    try synchronizeSegment(tail.segment)
    let segment = try state.makeSegment(
      header,
      capacity: max(size, byteCount + SegmentHeader.byteCount)
    )
    tail.segment = segment
    tail.offset = SegmentHeader.byteCount
  }

  private func synchronizeSegment(_ segment: Segment) throws(StorageError) {
    if state.options.durability != .memory { try segment.file.synchronize() }
  }

  /// Waits until the log is on disk up to a position.
  func synchronize(to end: UInt64) throws(StorageError) {
    if durableEnd.load(ordering: .acquiring) >= end { return }
    try synchronization.withLock { (_) throws(StorageError) in
      if durableEnd.load(ordering: .acquiring) >= end { return }
      let (segment, target, failure) = tail.withLock {
        ($0.segment, $0.segment.logPosition(of: $0.offset), $0.failure)
      }
      if let failure { throw .poisoned(path: state.paths.root, cause: failure) }
      do throws(StorageError) {
        try synchronizeSegment(segment)
      } catch {
        tail.withLock { $0.failure = error }
        throw error
      }
      durableEnd.store(target, ordering: .releasing)
      lastSynchronization.store(state.fileSystem.microseconds(), ordering: .relaxed)
    }
  }
}

// MARK: Closing

extension Log {
  /// Ends the log with a frame that says so, on disk, and cuts its file to its length.
  ///
  /// Only a log that ends this way is continued in place at the next opening.
  func close() throws(StorageError) {
    let end = try tail.withLock { (tail) throws(StorageError) -> UInt64? in
      if tail.failure != nil { return nil }
      guard tail.offset + FrameHeader.byteCount <= tail.segment.capacity else { return nil }
      var buffer = ByteBuffer()
      buffer.appendZeros(FrameHeader.byteCount)
      let header = FrameHeader(
        payloadLength: 0,
        kind: .close,
        sequence: CommitSequence(tail.sequence),
        durableEnd: durableEnd.load(ordering: .relaxed),
        payloadChecksum: 0,
        chain: tail.chain
      )
      tail.chain = header.store(in: &buffer, at: 0, seed: tail.segment.seed.at(tail.offset))
      try tail.segment.file.writeAll(buffer.bytes, at: tail.offset)
      tail.offset += FrameHeader.byteCount
      try tail.segment.file.setSize(tail.offset)
      return tail.segment.logPosition(of: tail.offset)
    }
    if let end { try synchronize(to: end) }
  }
}

extension StoreState {
  /// Opens the segment that a closed log ends in, to continue it.
  func continueSegment(_ last: Segment, offset: Int) throws(StorageError) -> Segment {
    let file = try fileSystem.open(last.path, .write)
    let capacity = max(options.smallestSegment, last.capacity)
    try file.allocate(capacity)
    let segment = try Segment(
      header: last.header,
      file: file,
      capacity: capacity,
      readableEnd: offset,
      reads: options.reads
    )
    segments.store(segment, at: Int(last.id.rawValue))
    return segment
  }

  /// Makes a segment: its space reserved, its header on disk, its name as well.
  func makeSegment(_ header: SegmentHeader, capacity: Int) throws(StorageError) -> Segment {
    let path = paths.segment(header.segment)
    let file = try fileSystem.open(path, .create)
    do throws(StorageError) {
      try file.allocate(capacity)
    } catch {
      try? fileSystem.unlink(path)
      throw error
    }
    var buffer = ByteBuffer(capacity: SegmentHeader.byteCount)
    header.encode(into: &buffer)
    try file.writeAll(buffer.bytes, at: 0)
    if options.durability != .memory {
      try file.synchronize()
      try fileSystem.synchronizeDirectory(paths.log)
    }
    let segment = try Segment(
      header: header,
      file: file,
      capacity: capacity,
      readableEnd: SegmentHeader.byteCount,
      reads: options.reads
    )
    segments.store(segment, at: Int(header.segment.rawValue))
    return segment
  }
}
