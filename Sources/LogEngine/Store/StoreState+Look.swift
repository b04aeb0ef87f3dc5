import Locking
package import LogFormat
import RowFormat
import Synchronization

/// The state of a store at this moment, for code outside the engine.
extension StoreState {
  /// The beginning of the log, if a part of it was packed.
  package var currentBase: LogBase? { files.base.withLock { $0 } }

  /// The catalogue as of the newest visible commit.
  package var currentCatalogue: Catalogue { visibility.catalogue.withLock { $0 } }

  /// The packs, by ascending number.
  package var currentPacks: [PackReader] { files.packList.withLock { $0 } }

  /// The number of the newest visible commit.
  package var newestSequence: UInt64 { visibility.visible.load(ordering: .acquiring) }

  /// The oldest commit that can still be read.
  package var oldestSequence: UInt64 { visibility.lowWaterMark.load(ordering: .relaxed) }

  /// The last commit appended, and the usage of the files as of it.
  package var currentUsages: (sequence: UInt64, usages: SegmentUsages) {
    log.tail.withLock { ($0.sequence, $0.usages) }
  }

  /// Forgets all packs, because they cannot be read.
  package func removeAllPacks() { files.packList.withLock { $0.removeAll() } }
}
