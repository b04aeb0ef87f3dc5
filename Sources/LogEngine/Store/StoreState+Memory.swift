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
    guard let limit = fileSystem.memoryLimit else { return }
    let segments = files.segmentList
    let packs = files.packList.withLock { $0 }
    let byteCount =
      segments.reduce(0) { $0 + $1.capacity } + packs.reduce(0) { $0 + $1.summary.byteCount }
    guard byteCount > limit / 2 else { return }
    files.isLargerThanMemory.store(true, ordering: .relaxed)
    for segment in segments { segment.expect(.random) }
    for pack in packs { pack.expect(.random) }
  }

  /// How many bytes the index takes in memory, and about as many in a checkpoint.
  var indexByteCount: Int {
    visibility.catalogue.withLock { $0 }.tables.reduce(0) { sum, table in
      sum + (tables[Int(table.number)]?.pages.byteCount.load(ordering: .relaxed) ?? 0)
    }
  }
}
