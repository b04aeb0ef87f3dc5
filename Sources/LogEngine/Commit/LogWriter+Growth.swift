import Locking
import LogFormat
import Synchronization

// Growing a segment beyond its original size.
extension LogWriter {
  /// Limit, in bytes, of the unsynchronized log when a commit moves to the next segment: the commit waits for its
  /// synchronization.
  static let promptLimit: UInt64 = 256 << 10
  /// Limit of a segment's growth instead of having commits wait, as a multiple of its size.
  private static let growthFactor = 4
  /// Limit of that growth, in bytes.
  private static let growthLimit = 64 << 20

  /// Returns the log size, in bytes, from which the size of the next segment is derived.
  func sizeBasis(_ logEnd: UInt64) -> UInt64 {
    max(state.sizeBasis(logEnd), state.log.tail.withLock { $0.demand.sizeBasis })
  }

  /// Lets the log continue in a full segment while a commit would have to wait for the next: because that is not ready, or
  /// because much of this segment is not on disk yet.
  ///
  /// Done only if commits do not wait for the disk: a file that grows costs a journal commit at each synchronization, of which
  /// there are few. The background moves to the next segment as soon as it is ready, and little is left to be synchronized.
  /// Nothing relies on the original size of a segment: everything behind its last frame reads as zeros, or is missing.
  ///
  /// - Returns: Whether the bytes now fit.
  func growSegment(for byteCount: Int) throws(StorageError) -> Bool {
    let (segment, end, logEnd, isEnded, outgrown) = state.log.tail.withLock {
      ($0.segment, $0.end, $0.logEnd, $0.isEnded, $0.outgrownCapacity)
    }
    // Other processes take the size of a file for its capacity.
    guard !writesThrough, turns == nil, let segment, !isEnded else { return false }
    let unsynchronized = logEnd - min(state.log.durableEnd.load(ordering: .relaxed), logEnd)
    if unsynchronized <= Self.promptLimit, preparation.isReady(for: byteCount) { return false }
    let size = outgrown ?? segment.capacity
    let needed = max(end + byteCount + LogTail.reserve, segment.capacity + size / 4)
    let capacity = (needed + 0xFFFF) & ~0xFFFF
    guard capacity <= min(Self.growthFactor * size, size + Self.growthLimit) else { return false }
    do throws(StorageError) {
      try extend(segment, to: capacity)
    } catch {
      // The device is full: there may be room in the prepared segment.
      guard case .noSpace = error else { throw error }
      return false
    }
    state.log.tail.withLock { $0.outgrownCapacity = size }
    housekeeper.wake()
    return true
  }

  /// Moves to the next segment if the current one has grown beyond its size; called by the background.
  func leaveOutgrownSegment() {
    let isOutgrown = state.log.tail.withLock { $0.outgrownCapacity != nil }
    guard isOutgrown, preparation.isReady(for: 0) else { return }
    synchronizeMost()
    lead.withLock { lead in
      let (isOutgrown, logEnd) = state.log.tail.withLock { ($0.outgrownCapacity != nil, $0.logEnd) }
      guard isOutgrown, lead.failure == nil, !lead.isClosed, preparation.isReady(for: 0) else {
        return
      }
      // If it fails, writing has ended, and the next commit says so.
      try? beginNextSegment(for: 0, at: logEnd, .asEver, &lead)
    }
  }

  /// Makes room for one frame without records in the current segment; called under the lead's lock.
  ///
  /// Commits leave ``LogTail/reserve`` bytes for such frames. A segment that was cut off when the store was closed keeps only
  /// the rest of its last page, which may be less than a frame takes.
  func makeRoomForMark() throws(StorageError) {
    let (segment, end, isEnded) = state.log.tail.withLock { ($0.segment, $0.end, $0.isEnded) }
    guard let segment, !isEnded, end + FrameHeader.byteCount > segment.capacity else { return }
    try extend(segment, to: (end + LogTail.reserve + 4095) & ~4095)
  }

  /// Makes the current segment's file longer; called under the lead's lock.
  func extend(_ segment: Segment, to capacity: Int) throws(StorageError) {
    try segment.file.allocate(capacity)
    try preparation.fillWithZeros(segment.file, segment.capacity..<capacity)
    let extended = try Segment(
      header: segment.header,
      file: segment.file,
      capacity: capacity,
      readableEnd: segment.readableEnd.load(ordering: .relaxed),
      reads: state.options.reads
    )
    state.add(extended)
    state.log.tail.withLock { $0.segment = extended }
  }
}
