import Locking
import LogFormat
import RowFormat
import Synchronization

/// A segment's file under its final name, reading as zeros: its space is allocated, and only the header is missing.
struct PreparedSegment: Sendable {
  let id: SegmentID
  let file: any OpenFile
  /// The size of the file, in bytes.
  let capacity: Int
  /// The size that the file must reach before another segment follows, in bytes.
  let intendedCapacity: Int
}

/// The share of a nearly full device that a segment's file takes.
enum SegmentFrugality {
  /// The full size, or nothing: the rest of the device is for commits that make room.
  case asEver
  /// A fraction of that, or only the room that one commit needs.
  case fraction
  /// Only the room that is needed.
  case least
}

/// Creates the files of segments before they are needed.
///
/// A commit into a file that grows, or whose blocks were reserved and never written, makes the file system commit its own
/// journal, which costs as much again as the commit. So the next segment is filled with zeros first, beside the commits, and a
/// full device is detected here, before any byte of a commit is written.
///
/// If commits do not wait for the disk, the space is reserved and not written: one synchronization for many commits pays for
/// the journal, and zeros would be half of the bytes written. Only the block of the header is written, because the header is
/// synchronized by itself, while commits wait.
final class SegmentPreparation: Sendable {
  private let paths: StorePaths
  private let fileSystem: any FileSystem
  private let options: EngineOptions
  private let next: Lock<Next>
  /// Whether a commit waits for the segment: then filling it with zeros is not worth the time.
  private let isAwaited = Atomic<Bool>(false)
  /// The size of the segment that is ready, in bytes; 0 if there is none.
  ///
  /// Read without waiting for a segment that is being created.
  private let readyCapacity = Atomic<Int>(0)

  private struct Next {
    var id: SegmentID
    fileprivate(set) var ready: PreparedSegment?
    /// The reason that no further segment can be created.
    var failure: StorageError?
  }

  init(
    paths: StorePaths,
    fileSystem: any FileSystem,
    options: EngineOptions,
    firstID: SegmentID
  ) {
    self.paths = paths
    self.fileSystem = fileSystem
    self.options = options
    next = Lock(Next(id: firstID), .segmentPreparation)
  }

  /// Returns the size of the next segment: small for a small store, then half of its basis.
  ///
  /// - Parameter basis: As of ``StoreState/sizeBasis(_:)``.
  /// - Returns: Its size, in bytes.
  func capacity(at basis: UInt64) -> Int {
    var capacity = options.smallestSegment
    while capacity < options.largestSegment && UInt64(capacity) * 2 < basis { capacity *= 2 }
    return min(capacity, options.largestSegment)
  }

  /// Returns the size of a segment's file while the log is small: it doubles as the log grows, up to the segment's size.
  ///
  /// So a store of a few rows takes only the space they need. The segments themselves are as large as ever: their number
  /// determines when a compaction is due.
  ///
  /// - Parameters:
  ///   - needed: The number of bytes that must fit.
  ///   - logEnd: The end of the log, counted over all segments.
  ///   - full: The segment's size.
  /// - Returns: The current size of its file, in bytes.
  func fileSize(for needed: Int, at logEnd: UInt64, of full: Int) -> Int {
    guard logEnd < UInt64(options.smallestSegment) else { return full }
    var size = options.smallestSegmentFile
    while size < full && (size < needed || UInt64(size) * 2 <= logEnd) { size *= 2 }
    return min(size, full)
  }

  /// Takes a number for a file that is not a segment.
  ///
  /// - Throws: ``StorageError/numbersSpent(path:limit:)``.
  func takeNumber() throws(StorageError) -> UInt32 {
    try next.withLock { (next) throws(StorageError) in
      try check(next.id)
      defer { next.id = next.id.next }
      return next.id.rawValue
    }
  }

  private func check(_ id: SegmentID) throws(StorageError) {
    guard id < SegmentID.maximum else {
      throw .numbersSpent(path: paths.root, limit: UInt64(SegmentID.maximum.rawValue))
    }
  }

  /// Prepares the next segment, if it is not ready.
  func prepare(at basis: UInt64) throws(StorageError) {
    let capacity = capacity(at: basis)
    try next.withLock { (next) throws(StorageError) in
      if next.ready == nil {
        setReady(try make(&next, capacity: capacity, of: capacity), &next)
      }
    }
  }

  /// Whether a segment is ready with room for that many bytes.
  func isReady(for byteCount: Int) -> Bool {
    readyCapacity.load(ordering: .relaxed) >= SegmentPreparation.byteCount(for: byteCount)
  }

  /// Returns the size of a segment with room for a commit, in bytes.
  static func byteCount(for commit: Int) -> Int {
    SegmentHeader.byteCount + commit + LogTail.reserve
  }

  private func setReady(_ segment: PreparedSegment?, _ next: inout Next) {
    next.ready = segment
    readyCapacity.store(segment?.capacity ?? 0, ordering: .relaxed)
  }

  /// Takes the next segment, creating it if it is not ready or too small for a commit.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the commit.
  ///   - basis: As of ``StoreState/sizeBasis(_:)``.
  ///   - smallLogEnd: The end of the log, if the file may be smaller than the segment for now; `nil` if it may not.
  ///   - frugality: The room that it takes on a device without room for its full size.
  /// - Returns: The segment, which no other caller gets.
  /// - Throws: ``StorageError/noSpace(path:needed:)`` if there is no room for it.
  func take(
    for byteCount: Int,
    at basis: UInt64,
    smallLogEnd: UInt64?,
    _ frugality: SegmentFrugality
  ) throws(StorageError) -> PreparedSegment {
    let needed = SegmentPreparation.byteCount(for: byteCount)
    isAwaited.store(true, ordering: .relaxed)
    defer { isAwaited.store(false, ordering: .relaxed) }
    return try next.withLock { (next) throws(StorageError) in
      if let ready = next.ready {
        setReady(nil, &next)
        if ready.capacity >= needed { return ready }
        try remove(ready, &next)
      }
      let rounded = (needed + 0xFFFF) & ~0xFFFF
      let full = max(capacity(at: basis), rounded)
      let size = smallLogEnd.map { fileSize(for: needed, at: $0, of: full) } ?? full
      do throws(StorageError) {
        return try make(&next, capacity: size, of: full)
      } catch {
        guard case .noSpace = error, frugality != .asEver else { throw error }
        let smallest = Self.smallestSize(for: needed)
        if frugality == .least, smallest < size {
          return try make(&next, capacity: smallest, of: smallLogEnd == nil ? smallest : full)
        }
        return try makeFraction(
          &next,
          below: size,
          smallest,
          of: smallLogEnd == nil ? nil : full,
          error
        )
      }
    }
  }

  /// Creates a segment of a fourth of a size that there is no room for, then of a fourth of that, and so on.
  private func makeFraction(
    _ next: inout Next,
    below size: Int,
    _ smallest: Int,
    of full: Int?,
    _ error: StorageError
  ) throws(StorageError) -> PreparedSegment {
    var (size, error) = (size, error)
    while case .noSpace = error, next.failure == nil, size > smallest {
      size = max(size / 4 & ~(Self.blockByteCount - 1), smallest)
      do throws(StorageError) {
        return try make(&next, capacity: size, of: full ?? size)
      } catch let failure {
        error = failure
      }
    }
    throw error
  }

  /// Returns the size of the smallest file with room for that many bytes.
  static func smallestSize(for needed: Int) -> Int {
    (needed + blockByteCount - 1) & ~(blockByteCount - 1)
  }

  /// Skips numbers that other processes have used.
  func skip(to id: SegmentID) {
    next.withLock { $0.id = max($0.id, id) }
  }

  /// The number of the next segment to be created.
  var nextID: SegmentID { next.withLock { $0.id } }

  /// Whether no further segment can be created.
  var hasFailed: Bool { next.withLock { $0.failure != nil } }

  /// Removes a segment that is ready and will not be used.
  func discard() throws(StorageError) {
    try next.withLock { (next) throws(StorageError) in
      guard let ready = next.ready else { return }
      setReady(nil, &next)
      try fileSystem.unlink(ready.file.path)
    }
  }

  private static let blockByteCount = 4096

  private func remove(_ segment: PreparedSegment, _ next: inout Next) throws(StorageError) {
    do throws(StorageError) {
      try fileSystem.unlink(segment.file.path)
    } catch {
      next.failure = error
      throw error
    }
  }

  private func make(
    _ next: inout Next,
    capacity: Int,
    of full: Int
  ) throws(StorageError) -> PreparedSegment {
    if let failure = next.failure { throw failure }
    try check(next.id)
    guard capacity <= RecordLocation.offsetLimit else {
      throw .tooLarge(byteCount: capacity, limit: RecordLocation.offsetLimit)
    }
    let temporary = paths.temporary("segment")
    do throws(StorageError) {
      let file = try fileSystem.open(temporary, .create)
      try file.allocate(capacity)
      try fillWithZeros(file, 0..<capacity)
      if options.durability != .memory { try file.synchronize() }
    } catch {
      // The reserved space is given back: a full device needs it, and nothing refers to it.
      try? fileSystem.unlink(temporary)
      throw error
    }
    do throws(StorageError) {
      return try publish(temporary, &next, capacity: capacity, of: full)
    } catch {
      // There may be a file without a header in the log, now or only after a power cut. If another segment were begun after it,
      // the log would look damaged.
      if !error.isRefusedOpening { next.failure = error }
      throw error
    }
  }

  /// Gives a file its name in the log.
  ///
  /// - Throws: ``StorageError``; if the file could not be opened, the name is removed again.
  private func publish(
    _ temporary: String,
    _ next: inout Next,
    capacity: Int,
    of full: Int
  ) throws(StorageError) -> PreparedSegment {
    let id = next.id
    let path = paths.segment(id)
    try fileSystem.rename(temporary, to: path)
    // From here on the number is used up, whatever happens: a name that may be on disk is not given to another file.
    next.id = id.next
    do throws(StorageError) {
      try fileSystem.synchronizeDirectory(paths.log)
      return PreparedSegment(
        id: id,
        file: try fileSystem.open(path, .write),
        capacity: capacity,
        intendedCapacity: full
      )
    } catch {
      // The next segment synchronizes the directory before it gets a header, and this removal with it.
      if error.isRefusedOpening { try fileSystem.unlink(path) }
      throw error
    }
  }

  /// Writes every block if commits wait for the disk, and only the header's if they do not.
  ///
  /// Writes in small steps: a file cached in large pieces makes the small writes that follow many times slower.
  func fillWithZeros(_ file: any OpenFile, _ range: Range<Int>) throws(StorageError) {
    let end: Int
    switch options.durability {
    case .full: end = range.upperBound
    case .relaxed: end = min(range.upperBound, Self.blockByteCount)
    case .memory: return
    }
    var zeros = ByteBuffer(capacity: Self.blockByteCount)
    zeros.appendZeros(Self.blockByteCount)
    var offset = range.lowerBound
    while offset < end {
      // Blocks that are only reserved are slower to write, but otherwise equivalent.
      if offset >= 1 << 20 && isAwaited.load(ordering: .relaxed) { return }
      let count = min(Self.blockByteCount, end - offset)
      try file.writeAll(zeros.bytes.extracting(0..<count), at: offset)
      offset += count
    }
  }
}
