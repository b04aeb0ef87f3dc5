import Locking
import LogFormat
import Synchronization

extension LogWriter {
  /// Writes down, in a store in which nothing else happened, that no files are left without an owner.
  func publishEndOfSweep(_ lead: inout Lead) throws(StorageError) {
    guard lead.manifest.isClean, lead.manifest.mayHaveOrphanedBlobs,
      !state.files.blobs.mayHaveOrphans
    else { return }
    do throws(StorageError) {
      try state.files.blobs.synchronizeRemovals()
      try publishManifest(isClean: true, &lead)
    } catch {
      // The next session looks for them once more.
      if !error.isRefusal { throw poison(error, &lead) }
    }
  }
}
