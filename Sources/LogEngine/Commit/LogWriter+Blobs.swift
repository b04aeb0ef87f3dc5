import Locking
import LogFormat
import Synchronization

extension LogWriter {
  /// Whether files without an owner are being looked for.
  var isSweepingBlobs: Bool { blobSweep.withLock { $0 != nil } }

  /// Begins a sweep; before the first commit.
  func beginBlobSweep() {
    state.files.blobs.isUnswept.store(true, ordering: .relaxed)
    let sweep = BlobSweep(state)
    blobSweep.withLock { $0 = sweep }
  }

  /// Does a slice of the sweep that is under way.
  ///
  /// - Returns: Whether there is more to do.
  func sweepBlobs() -> Bool {
    blobSweep.withLock { slot in
      guard var sweep = slot.take() else { return false }
      switch sweep.step(state) {
      case .goesOn:
        slot = sweep
        return true
      case .finished: state.files.blobs.isUnswept.store(false, ordering: .relaxed)
      case .abandoned: break
      }
      sweep.end(state)
      return false
    }
  }

  /// Writes down, in a store in which nothing else happened, that no files are left without an owner.
  func publishEndOfSweep(_ lead: inout Lead) throws(StorageError) {
    guard lead.manifest.isClean, lead.manifest.mayHaveOrphanedBlobs, !state.files.blobs.mayHaveOrphans
    else { return }
    do throws(StorageError) {
      try state.files.blobs.synchronizeRemovals()
      try publishManifest(isClean: true, &lead)
    } catch {
      throw poison(error, &lead)
    }
  }
}
