import Locking
import LogFormat
import RowFormat
import Synchronization

/// The shared state of an open store, readable by any thread: its files, its visible commits, and its log.
package final class StoreState: Sendable {
  package let paths: StorePaths
  package let fileSystem: any FileSystem
  package let options: EngineOptions
  /// Delivers the store's events to its handler.
  let events: EventRelay
  package let store: StoreIdentifier
  package let files: StoreFiles
  let visibility = Visibility()
  let log = OpenLog()
  /// The tables, by number.
  package let tables = PublishedArray<Table>()
  /// The places at which readers of history can begin.
  let commitMarks = CommitMarks()
  /// Whether the background must remove files that the opening left behind.
  let hasRemains = Atomic<Bool>(false)
  /// Whether the checkpoint that the store was opened from is damaged, so that another must take its place.
  let isCheckpointDamaged = Atomic<Bool>(false)
  /// The reason why the log could not be read in place of a damaged page: nothing is known of that page's rows.
  private let indexFailure = Lock<StorageError?>(nil, .indexFailure)
  private let isIndexIncomplete = Atomic<Bool>(false)
  /// The writes since the store was opened.
  let counters = WriteCounters()

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
    let blobs = Blobs(
      paths: paths,
      fileSystem: fileSystem,
      store: store,
      synchronizes: options.durability != .memory
    )
    files = StoreFiles(blobs, blockCacheByteCount: options.blockCacheByteCount)
  }

  /// Lends the segment of a record.
  @inline(__always)
  func withSegment<R>(_ id: SegmentID, _ body: (Segment) throws -> R) throws -> R {
    guard let result = try files.segments.with(Int(id.rawValue), body) else { throw missing(id) }
    return result
  }

  func missing(_ id: SegmentID) -> StorageError {
    .corruption(Corruption(path: paths.segment(id), offset: 0, problem: .missing(.segment)))
  }

  @inline(__always)
  func withTable<R>(_ number: UInt16, _ body: (Table) throws -> R) rethrows -> R? {
    try tables.with(Int(number), body)
  }

  /// Returns the time since a start.
  ///
  /// - Parameter start: The time of the start, in microseconds.
  /// - Returns: The duration; zero if the clock has jumped back.
  func duration(since start: Int64) -> Duration {
    .microseconds(max(0, fileSystem.microseconds() - start))
  }

  /// Records that nothing is known of some rows.
  func recordIndexFailure(_ error: StorageError) {
    indexFailure.withLock { $0 = $0 ?? error }
    isIndexIncomplete.store(true, ordering: .releasing)
  }

  /// Checks that the index knows all rows, as far as it was looked at.
  ///
  /// Whoever writes by what the index says asks this in between: a compaction would take rows for others' that it lacks, and a
  /// checkpoint would make the loss last.
  ///
  /// - Throws: ``StorageError/poisoned(path:cause:)`` if it does not.
  @inline(__always)
  func checkIndex() throws(StorageError) {
    if isIndexIncomplete.load(ordering: .acquiring) { try throwIndexFailure() }
  }

  @inline(never)
  private func throwIndexFailure() throws(StorageError) {
    if let cause = indexFailure.withLock({ $0 }) {
      throw .poisoned(path: paths.root, cause: cause)
    }
  }

  /// Publishes the tables and layouts of a catalogue to readers; called by one writer at a time.
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
