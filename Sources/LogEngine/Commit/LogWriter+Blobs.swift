import Locking
import LogFormat
import Synchronization

extension LogWriter {
  /// Publishes a manifest without orphaned blobs after a sweep, if nothing else was written.
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
