import Locking
import LogFormat
import RowFormat
package import Synchronization

/// What the parts of an open store share, and any thread may read.
package final class StoreState: Sendable {
  package let paths: StorePaths
  package let fileSystem: any FileSystem
  package let options: EngineOptions
  /// Delivers the store's events to its handler.
  let events: EventRelay
  package let store: StoreIdentifier
  /// The files of the log, by number.
  package let segments = PublishedArray<Segment>()
  /// The packs, by number.
  let packs = PublishedArray<PackReader>()
  /// The packs, by ascending number.
  let packList = Lock<[PackReader]>([], .packList)
  /// Where the log begins, if something was packed.
  let base = Lock<LogBase?>(nil, .logBase)
  /// The oldest commit that can still be read.
  let foldFloor = Atomic<UInt64>(0)
  /// The last segment that was packed; 0 for none.
  package let baseSegment = Atomic<UInt32>(0)
  /// How often a compaction has changed what the two above say.
  let compactionCount = Atomic<UInt64>(0)
  /// The readers that may still use files that compaction takes away.
  let epochs = ReaderEpochs()
  /// Decoded blocks of packs.
  package let blockCache: BlockCache
  /// Whether the files are too large to be kept in memory by the system: see ``adviseByMemory()``.
  let isLargerThanMemory = Atomic<Bool>(false)
  /// The tables, by number.
  package let tables = PublishedArray<Table>()
  /// The newest commit that readers see.
  let visible = Atomic<UInt64>(0)
  /// Odd while ``visible``, the catalogue and the tables' row counts are being changed together.
  let publication = Atomic<UInt64>(0)
  /// Where the log is known to be on disk up to, counted over all segments.
  let durableEnd = Atomic<UInt64>(0)
  /// Where the log was handed to the system up to.
  let writtenEnd = Atomic<UInt64>(0)
  /// The end of the log, where commits are appended.
  let tail = Lock<LogTail>(LogTail(), .tail)
  /// The commits that are being read.
  let pins = PinBoard()
  /// Where readers of history can begin.
  let commitMarks = CommitMarks()
  /// What was written since the store was opened.
  let counters = WriteCounters()
  /// The side files of large values.
  let blobs: Blobs
  /// The catalogue as of the newest visible commit.
  let catalogue = Lock<Catalogue>(Catalogue(), .catalogue)

  package init(
    paths: StorePaths,
    fileSystem: any FileSystem,
    options: EngineOptions,
    store: StoreIdentifier,
    events: EventRelay = EventRelay(nil)
  ) {
    self.paths = paths
    self.events = events
    self.fileSystem = fileSystem
    self.options = options
    self.store = store
    blobs = Blobs(
      paths: paths,
      fileSystem: fileSystem,
      store: store,
      synchronizes: options.durability != .memory
    )
    blockCache = BlockCache(byteLimit: options.blockCacheByteCount)
  }

  /// The segment a record is in.
  @inline(__always)
  func withSegment<R>(_ id: SegmentID, _ body: (Segment) throws -> R) throws -> R {
    guard let result = try segments.with(Int(id.rawValue), body) else { throw missing(id) }
    return result
  }

  func missing(_ id: SegmentID) -> StorageError {
    .corruption(Corruption(path: paths.segment(id), offset: 0, problem: .missing(.segment)))
  }

  @inline(__always)
  func withTable<R>(_ number: UInt16, _ body: (Table) throws -> R) rethrows -> R? {
    try tables.with(Int(number), body)
  }

  /// How long ago something began.
  ///
  /// - Parameter start: The time then, in microseconds.
  /// - Returns: Nothing, should the clock have jumped back.
  func duration(since start: Int64) -> Duration {
    .microseconds(max(0, fileSystem.microseconds() - start))
  }

  /// Makes tables and layouts of a catalogue known to readers; one writer at a time.
  package func adopt(_ catalogue: Catalogue) {
    for definition in catalogue.tables {
      let table: Table
      if let known = tables[Int(definition.number)] {
        table = known
      } else {
        table = Table(number: definition.number)
        tables.store(table, at: Int(definition.number))
      }
      for layout in definition.layouts where table.layouts[Int(layout.number.rawValue)] == nil {
        table.layouts.store(layout.layout, at: Int(layout.number.rawValue))
        if !layout.layout.blobColumns.isEmpty { table.mayOwnBlobs.store(true, ordering: .relaxed) }
      }
    }
  }
}
