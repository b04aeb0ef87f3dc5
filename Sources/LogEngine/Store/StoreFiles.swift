import Locking
import LogFormat
import RowFormat
package import Synchronization

/// The files of an open store: segments, packs and blobs, and where the log begins.
///
/// A part of ``StoreState``, in place: what is read here for each row is one step away.
package struct StoreFiles: ~Copyable, Sendable {
  /// The files of the log, by number.
  package let segments = PublishedArray<Segment>()
  /// The packs, by number.
  let packs = PublishedArray<PackReader>()
  /// The packs, by ascending number.
  let packList = Lock<[PackReader]>([], .packList)
  /// Where the log begins, if something was packed.
  let base = Lock<LogBase?>(nil, .logBase)
  /// The last segment that was packed; 0 for none.
  package let baseSegment = Atomic<UInt32>(0)
  /// How often a compaction has changed where the log begins, and with it the low-water mark.
  let compactionCount = Atomic<UInt64>(0)
  /// Called after each compaction: commits that marks name may be gone from the log.
  private let compactionListener = Lock<(@Sendable () -> Void)?>(nil, .compactionListener)
  /// The readers that may still use files that compaction takes away.
  let epochs = ReaderEpochs()
  /// Decoded blocks of packs.
  package let blockCache: BlockCache
  /// Whether the files are too large to be kept in memory by the system: see ``StoreState/adviseByMemory()``.
  let isLargerThanMemory = Atomic<Bool>(false)
  /// The side files of large values.
  let blobs: Blobs

  init(_ blobs: Blobs, blockCacheByteCount: Int) {
    self.blobs = blobs
    blockCache = BlockCache(byteLimit: blockCacheByteCount)
  }

  /// Has somebody told of each compaction, on the thread that compacts, under no lock but the compaction's.
  package func onCompaction(_ listener: (@Sendable () -> Void)?) {
    compactionListener.withLock { $0 = listener }
  }

  /// Counts a compaction that has changed where the log begins, and tells of it.
  func recordCompaction() {
    compactionCount.add(1, ordering: .relaxed)
    let listener = compactionListener.withLock { $0 }
    listener?()
  }

  /// Whether a segment was packed.
  @inline(__always)
  package func isRetired(_ segment: SegmentID) -> Bool {
    segment.rawValue <= baseSegment.load(ordering: .acquiring)
  }

  /// The segments there are, ascending.
  var segmentList: [Segment] {
    let ticket = epochs.enter()
    defer { epochs.leave(ticket) }
    let first = Int(baseSegment.load(ordering: .acquiring)) + 1
    var list: [Segment] = []
    for number in segments.indices(from: first) {
      if let segment = segments[number] { list.append(segment) }
    }
    return list
  }

  /// Whether a file, segment or pack, is no part of the store any more.
  func isGone(_ file: SegmentID) -> Bool {
    segments[Int(file.rawValue)] == nil && packs[Int(file.rawValue)] == nil
  }

  /// Whether the file that a place is in is still part of the store.
  func holds(_ place: RecordPlace) -> Bool {
    place.isPacked ? packs[Int(place.segment.rawValue)] != nil : !isRetired(place.segment)
  }

  /// Does something that looks into files of the store, or follows the index without a pin.
  ///
  /// A compaction begins by waiting for the threads in here, so that what the index said stays readable, and
  /// lets go of files only when there are none.
  @inline(__always)
  package func reading<R>(_ body: () throws -> R) rethrows -> R {
    let ticket = epochs.enter()
    defer { epochs.leave(ticket) }
    return try body()
  }

  /// Makes a pack known to readers; one at a time, by ascending number.
  package func add(_ pack: PackReader) {
    packs.store(pack, at: Int(pack.id.rawValue))
    packList.withLock { $0.append(pack) }
  }
}
