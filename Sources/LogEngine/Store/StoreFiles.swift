import LibC
import Locking
import LogFormat
import RowFormat
package import Synchronization

/// The files of an open store: segments, packs and blobs, and the beginning of the log.
///
/// A part of ``StoreState``, in place: state read for each row is one step away.
package struct StoreFiles: ~Copyable, Sendable {
  /// The files of the log, by number.
  package let segments = PublishedArray<Segment>()
  /// The packs, by number.
  let packs = PublishedArray<PackReader>()
  /// The packs, by ascending number.
  let packList = Lock<[PackReader]>([], .packList)
  /// The beginning of the log, if a part of it was packed.
  let base = Lock<LogBase?>(nil, .logBase)
  /// The last segment that was packed; 0 if there is none.
  package let baseSegment = Atomic<UInt32>(0)
  /// The number of times that an exchange of files for packs has begun or ended: odd during one.
  private let exchangeCount = Atomic<UInt64>(0)
  /// The number of compactions that have moved the beginning of the log, and with it the low-water mark.
  let compactionCount = Atomic<UInt64>(0)
  /// Called after each compaction: commits named by marks may be gone from the log.
  private let compactionListener = Lock<(@Sendable () -> Void)?>(nil, .compactionListener)
  /// The readers that may still use files that compaction removes.
  let epochs = ReaderEpochs()
  /// Decoded blocks of packs.
  package let blockCache: BlockCache
  /// Whether the files are too large for the system to keep in memory; see ``StoreState/adviseByMemory()``.
  let isLargerThanMemory = Atomic<Bool>(false)
  /// The side files of large values.
  let blobs: Blobs

  init(_ blobs: Blobs, blockCacheByteCount: Int) {
    self.blobs = blobs
    blockCache = BlockCache(byteLimit: blockCacheByteCount)
  }

  /// Sets the listener for compactions, called on the compacting thread under no lock but the compaction's.
  package func onCompaction(_ listener: (@Sendable () -> Void)?) {
    compactionListener.withLock { $0 = listener }
  }

  /// Counts a compaction that has moved the beginning of the log, and calls the listener.
  func recordCompaction() {
    compactionCount.add(1, ordering: .relaxed)
    let listener = compactionListener.withLock { $0 }
    listener?()
  }

  /// Puts packs in the place of the files that they were made from; called by one thread at a time.
  func exchange<R>(_ body: () throws -> R) rethrows -> R {
    exchangeCount.add(1, ordering: .sequentiallyConsistent)
    defer { exchangeCount.add(1, ordering: .sequentiallyConsistent) }
    return try body()
  }

  /// Runs `body`, which reads several records of a row, again if files were exchanged for packs meanwhile.
  ///
  /// A record and the row that it builds on must be of one state of the files: after an exchange, the row in a pack may have the
  /// record's change already.
  ///
  /// - Parameter body: Begins anew at each call.
  /// - Returns: The result of `body`.
  /// - Throws: Any error that `body` throws; only an error without an exchange counts.
  @inline(__always)
  func consistently<R>(_ body: () throws -> R) throws -> R {
    while true {
      let before = exchangeCount.load(ordering: .sequentiallyConsistent)
      let result = Result { try body() }
      let isConsistent =
        before & 1 == 0 && exchangeCount.load(ordering: .sequentiallyConsistent) == before
      if isConsistent { return try result.get() }
      // An exchange takes some microseconds.
      sched_yield()
    }
  }

  /// Whether a segment was packed.
  @inline(__always)
  package func isRetired(_ segment: SegmentID) -> Bool {
    segment.rawValue <= baseSegment.load(ordering: .acquiring)
  }

  /// The existing segments, ascending.
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

  /// Whether a file, segment or pack, no longer belongs to the store.
  func isGone(_ file: SegmentID) -> Bool {
    segments[Int(file.rawValue)] == nil && packs[Int(file.rawValue)] == nil
  }

  /// Whether the file of a place still belongs to the store.
  func holds(_ place: RecordPlace) -> Bool {
    place.isPacked ? packs[Int(place.segment.rawValue)] != nil : !isRetired(place.segment)
  }

  /// Gives back the files of segments and packs that can be read without them, once nothing is written any more.
  ///
  /// Files that are not mapped stay open as long as this object: rows can be read from a store that was closed.
  func close() {
    reading {
      for segment in segmentList { segment.closeFile() }
      for pack in packList.withLock({ $0 }) { pack.closeFile() }
    }
  }

  /// Runs `body`, which reads files of the store, or follows the index without a pin.
  ///
  /// A compaction first waits for the threads in here, so that places from the index stay readable, and releases files only
  /// when there are no such threads.
  @inline(__always)
  package func reading<R>(_ body: () throws -> R) rethrows -> R {
    let ticket = epochs.enter()
    defer { epochs.leave(ticket) }
    return try body()
  }

  /// Publishes a pack to readers; called for one pack at a time, by ascending number.
  package func add(_ pack: PackReader) {
    packs.store(pack, at: Int(pack.id.rawValue))
    packList.withLock { $0.append(pack) }
  }
}
