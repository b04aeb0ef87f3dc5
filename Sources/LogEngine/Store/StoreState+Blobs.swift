import Locking
import LogFormat
import RowFormat
import Synchronization

extension StoreState {
  /// Opens a blob of this store.
  package func openBlob(_ reference: BlobReference) throws(StorageError) -> Blob {
    try openBlob(reference, of: store)
  }

  /// Opens a blob of a store whose identifier may not be known, or only to check or copy it.
  ///
  /// - Parameters:
  ///   - reference: The reference to the blob in its row.
  ///   - store: The store the file must belong to, if that is known.
  ///   - reads: How its bytes are read: copied, every failure of the disk can be caught.
  /// - Returns: The blob.
  /// - Throws: ``StorageError``, if the file cannot be opened or is not the one that the row refers to.
  package func openBlob(
    _ reference: BlobReference,
    of store: StoreIdentifier?,
    reads: ReadMethod? = nil
  ) throws(StorageError) -> Blob {
    try Blob(reference, of: store, in: files.blobs, reads: reads ?? options.reads, events: events)
  }

  /// Records blobs that a written commit took from their rows.
  func retireBlobs(_ ids: [BlobID], by sequence: UInt64) {
    guard !ids.isEmpty else { return }
    let logEnd = log.writtenEnd.load(ordering: .acquiring)
    files.blobs.retired.withLock { $0.add(ids, sequence: sequence, logEnd: logEnd) }
  }

  /// Whether there are files of retired blobs that no view can see any more.
  ///
  /// - Parameter bound: The oldest commit that other processes may read.
  /// - Returns: Whether ``collectBlobs(neededFrom:)`` would remove some.
  func hasCollectableBlobs(neededFrom bound: UInt64) -> Bool {
    let durableEnd = log.durableEnd.load(ordering: .acquiring)
    let oldestPin = min(visibility.pins.oldest ?? .max, bound)
    return files.blobs.retired.withLock {
      $0.hasReleasable(durableEnd: durableEnd, oldestPin: oldestPin)
    }
  }

  /// Removes the files of retired blobs that no view can see any more.
  ///
  /// - Parameter bound: The oldest commit that other processes may read.
  func collectBlobs(neededFrom bound: UInt64 = .max) {
    guard files.blobs.retired.withLock({ $0.count > 0 }) else { return }
    let durableEnd = log.durableEnd.load(ordering: .acquiring)
    let oldestPin = min(visibility.pins.oldest ?? .max, bound)
    let released = files.blobs.retired.withLock {
      $0.takeReleasable(durableEnd: durableEnd, oldestPin: oldestPin)
    }
    for id in released { files.blobs.removeOrLeave(id) }
  }
}
