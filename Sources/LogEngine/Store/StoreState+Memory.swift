import Locking
import LogFormat
import Synchronization

extension StoreState {
  /// Says of files that cannot all stay in memory that single rows will be read from them here and there.
  ///
  /// The system reads 128 KiB around each byte that is asked for, which is right as long as there is room for
  /// what was not asked for; where there is none it drives out what is needed, and a read of one row costs as
  /// much as one of a hundred. So a store that takes more than half of the memory there is is read page by page,
  /// but for what reads it from one end to the other: that says so, or says beforehand what it will need.
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

  /// Makes a segment known to readers, in place of a shorter one of its number; one at a time.
  ///
  /// Until the files are too large, all of them are looked at, which are few: their bytes fit into half of the memory.
  func add(_ segment: Segment) {
    files.segments.store(segment, at: Int(segment.id.rawValue))
    if files.isLargerThanMemory.load(ordering: .relaxed) { segment.expect(.random) }
    adviseByMemory()
  }

  /// How many bytes the index takes in memory, and about as many in a checkpoint.
  var indexByteCount: Int {
    visibility.catalogue.withLock { $0 }.tables.reduce(0) { sum, table in
      sum + (tables[Int(table.number)]?.pages.byteCount.load(ordering: .relaxed) ?? 0)
    }
  }
}
