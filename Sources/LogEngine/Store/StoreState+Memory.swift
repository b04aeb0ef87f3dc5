import Locking
import LogFormat
import Synchronization

extension StoreState {
  /// Advises the system of random reads in files that do not all fit into memory.
  ///
  /// The system reads 128 KiB around each requested byte, which is right as long as there is room for the rest; without room,
  /// it evicts needed pages, and a read of one row costs as much as one of a hundred. So a store that takes more than half of
  /// the memory is read page by page, except by sequential readers: those announce it, or announce in advance the part they
  /// will need.
  func adviseByMemory() {
    if files.isLargerThanMemory.load(ordering: .relaxed) { return }
    guard let limit = fileSystem.memoryLimit else { return }
    let byteCount =
      files.segmentList.reduce(0) { $0 + $1.capacity }
      + files.packList.withLock { $0.reduce(0) { $0 + $1.summary.byteCount } }
    guard byteCount > limit / 2 else { return }
    files.isLargerThanMemory.store(true, ordering: .sequentiallyConsistent)
    // The list is read again: `add(_:)` advises the segments that come from now on.
    for segment in files.segmentList { segment.expect(.random) }
    for pack in files.packList.withLock({ $0 }) { pack.expect(.random) }
  }

  /// Publishes a segment to readers, in place of a shorter one of its number; called for one segment at a time.
  ///
  /// Until the files are too large, each call examines all of them, which are few: they fit into half of the memory.
  func add(_ segment: Segment) {
    files.segments.store(segment, at: Int(segment.id.rawValue))
    if files.isLargerThanMemory.load(ordering: .relaxed) { segment.expect(.random) }
    adviseByMemory()
  }

  /// The memory that the index takes, in bytes; a checkpoint takes about as many.
  var indexByteCount: Int {
    visibility.catalogue.withLock { $0 }.tables.reduce(0) { sum, table in
      sum + (tables[Int(table.number)]?.pages.byteCount.load(ordering: .relaxed) ?? 0)
    }
  }
}
