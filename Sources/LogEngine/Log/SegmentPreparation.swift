import Locking
import LogFormat
import RowFormat
import Synchronization

/// A segment's file, in its place and reading as zeros: the space is there, and only the header is
/// missing.
struct PreparedSegment: Sendable {
  let id: SegmentID
  let file: any OpenFile
  /// How large the file is.
  let capacity: Int
  /// How large it is to become before another segment follows.
  let intendedCapacity: Int
}

/// How much of a nearly full device a segment's file takes.
enum SegmentFrugality {
  /// As much as on any other, or nothing: what is left is for those who make room.
  case asEver
  /// A part of that, or only what one commit needs.
  case fraction
  /// What is needed.
  case least
}

/// Makes the files of segments before they are needed.
///
/// A commit into a file that grows, or whose blocks were reserved and never written, makes the file
/// system commit its own journal, which costs as much again as the commit. So the next segment is
/// written with zeros first, beside the commits, and a full device is met here, before any byte of a
/// commit is written.
///
/// Where commits do not wait for the disk, the space is reserved and not written: their one
/// synchronization among many pays for the journal, and zeros would be half of what the disk gets. Only the block of the
/// header is written, since that is synchronized by itself, while commits wait.
final class SegmentPreparation: Sendable {
  private let paths: StorePaths
  private let fileSystem: any FileSystem
  private let options: EngineOptions
  private let next: Lock<Next>
  /// Whether someone waits for the segment: then filling it with zeros is not worth the time.
  private let isAwaited = Atomic<Bool>(false)
  /// The size of the segment that is ready; 0 if none is.
  ///
  /// Read without waiting for one that is being made.
  private let readyCapacity = Atomic<Int>(0)

  private struct Next {
    var id: SegmentID
    fileprivate(set) var ready: PreparedSegment?
    /// Why no further segment can be made.
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

  /// The size of the next segment: small for a small store, then half of its basis.
  ///
  /// - Parameter basis: As of ``StoreState/sizeBasis(_:)``.
  /// - Returns: Its size, in bytes.
  func capacity(at basis: UInt64) -> Int {
    var capacity = options.smallestSegment
    while capacity < options.largestSegment && UInt64(capacity) * 2 < basis { capacity *= 2 }
    return min(capacity, options.largestSegment)
  }

  /// The size of a segment's file while the log is small: it doubles as the log grows, up to the segment's size.
  ///
  /// So a store of a few rows takes no more than they need. The segments themselves are as large as they would be
  /// otherwise: their number says when a compaction is due.
  ///
  /// - Parameters:
  ///   - needed: How many bytes must fit.
  ///   - logEnd: Where the log ends, counted over all segments.
  ///   - full: The segment's size.
  /// - Returns: The size of its file for now.
  func fileSize(for needed: Int, at logEnd: UInt64, of full: Int) -> Int {
    guard logEnd < UInt64(options.smallestSegment) else { return full }
    var size = options.smallestSegmentFile
    while size < full && (size < needed || UInt64(size) * 2 <= logEnd) { size *= 2 }
    return min(size, full)
  }

  /// Takes a number for a file that is no segment.
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

  /// Makes the next segment ready, if it is not.
  func prepare(at basis: UInt64) throws(StorageError) {
    let capacity = capacity(at: basis)
    try next.withLock { (next) throws(StorageError) in
      if next.ready == nil {
        setReady(try make(&next, capacity: capacity, of: capacity), &next)
      }
    }
  }

  /// Whether a segment is ready that so many bytes fit into.
  func isReady(for byteCount: Int) -> Bool {
    readyCapacity.load(ordering: .relaxed) >= SegmentPreparation.byteCount(for: byteCount)
  }

  /// How large a segment must be for a commit.
  static func byteCount(for commit: Int) -> Int {
    SegmentHeader.byteCount + commit + LogTail.reserve
  }

  private func setReady(_ segment: PreparedSegment?, _ next: inout Next) {
    next.ready = segment
    readyCapacity.store(segment?.capacity ?? 0, ordering: .relaxed)
  }

  /// Takes the next segment, making it if it is not ready or too small for a commit.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the commit.
  ///   - basis: As of ``StoreState/sizeBasis(_:)``.
  ///   - smallLogEnd: Where the log ends, if the file may be smaller than the segment for now; `nil` if it may not.
  ///   - frugality: How much it takes on a device without room for its size.
  /// - Returns: The segment, which is nobody else's.
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

  /// Makes a segment of a fourth of a size for which there is no room, of a fourth of that, and so on.
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

  /// The size of the smallest file that so many bytes fit into.
  static func smallestSize(for needed: Int) -> Int {
    (needed + blockByteCount - 1) & ~(blockByteCount - 1)
  }

  /// Leaves out numbers that other processes gave out.
  func skip(to id: SegmentID) {
    next.withLock { $0.id = max($0.id, id) }
  }

  /// The number the next segment to be made gets.
  var nextID: SegmentID { next.withLock { $0.id } }

  /// Whether no further segment can be made.
  var hasFailed: Bool { next.withLock { $0.failure != nil } }

  /// Removes a segment that was made ready and will not be used.
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
      // Whatever was reserved is given back: a full device needs it, and nothing refers to it.
      try? fileSystem.unlink(temporary)
      throw error
    }
    do throws(StorageError) {
      return try publish(temporary, &next, capacity: capacity, of: full)
    } catch {
      // A file without a header may be in the log now, or only after a power cut. Were
      // another segment begun after it, the log would look damaged.
      if !error.isRefusedOpening { next.failure = error }
      throw error
    }
  }

  /// Gives a file its name in the log.
  ///
  /// - Throws: ``StorageError``; if something could not be opened, the name is gone again.
  private func publish(
    _ temporary: String,
    _ next: inout Next,
    capacity: Int,
    of full: Int
  ) throws(StorageError) -> PreparedSegment {
    let id = next.id
    let path = paths.segment(id)
    try fileSystem.rename(temporary, to: path)
    // From here on the number is spent, whatever happens: a name that may be on disk is not given
    // to another file.
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
      // The next one synchronizes the directory before it gets a header, and with it that this one is gone.
      if error.isRefusedOpening { try fileSystem.unlink(path) }
      throw error
    }
  }

  /// Writes every block where commits wait for the disk, and the header's where they do not.
  ///
  /// In small steps: a file cached in large pieces makes the small writes that follow many times slower.
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
      // Blocks that were reserved only are slower to write to, and that is all.
      if offset >= 1 << 20 && isAwaited.load(ordering: .relaxed) { return }
      let count = min(Self.blockByteCount, end - offset)
      try file.writeAll(zeros.bytes.extracting(0..<count), at: offset)
      offset += count
    }
  }
}
