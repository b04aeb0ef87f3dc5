import LogEngine
import LogFormat
import RowFormat
import Synchronization

extension Verification {
  /// Reads every value that is in a file of its own, and looks for files that are no row's.
  mutating func checkBlobs(of state: StoreState) throws {
    var (damaged, owned) = try readBlobs(of: state)
    if !damaged.isEmpty, hasGoneOn(since: report.lastCommit), let newer = try rebuild() {
      // A writer in another process may have taken them from their rows meanwhile.
      (damaged, owned) = try readBlobs(of: newer)
    }
    for (blob, error) in damaged {
      add(paths.blob(blob.reference.id), .unreadableBlob(blob, error))
    }
    try checkBlobNames(owned)
  }

  private typealias Found = (damaged: [(OwnedBlob, StorageError)], owned: BlobSet)

  private mutating func readBlobs(of state: StoreState) throws -> Found {
    var found = Found([], BlobSet())
    var count = 0
    var byteCount = 0
    let catalogue = state.currentCatalogue
    let sequence = state.newestSequence
    do {
      try state.forEachBlob(asOf: sequence, in: catalogue) { blob in
        found.owned.insert(blob.reference.id)
        do {
          try state.openBlob(blob.reference, of: state.store, reads: .copied).check()
          count += 1
          byteCount += blob.reference.byteCount
        } catch let error as StorageError {
          try Self.rethrowSystemFailure(error)
          found.damaged.append((blob, error))
        }
        return .proceed
      }
    } catch let error as StorageError {
      // A row that cannot be read was reported.
      try Self.rethrowSystemFailure(error)
    }
    report.blobCount = count
    report.fileCount += count
    report.byteCount += byteCount
    return found
  }

  private mutating func checkBlobNames(_ owned: BlobSet) throws(StorageError) {
    for name in (try fileSystem.list(paths.blobs) ?? []).sorted() {
      let directory = paths.blobs + "/" + name
      guard name.utf8.count == 2, let number = UInt8(name, radix: 16) else {
        add(directory, .orphan)
        continue
      }
      for name in (try fileSystem.list(directory) ?? []).sorted() {
        let id = StorePaths.number(in: name, suffix: StorePaths.blobSuffix).map(
          BlobID.init(rawValue:)
        )
        if let id, StorePaths.directory(of: id) == number, owned.contains(id) { continue }
        add(directory + "/" + name, .orphan)
      }
    }
  }
}
