import Locking
import LogFormat
import Synchronization

extension LogWriter: LogPublisher {
  func currentManifest() throws(StorageError) -> Manifest {
    try lead.withLock { (lead) throws(StorageError) in
      try check(lead)
      return lead.manifest
    }
  }

  func takeFileNumber() throws(StorageError) -> UInt32 {
    try inTurn { () throws(StorageError) in try preparation.takeNumber() }
  }

  func lockCompaction() throws(StorageError) -> CompactionPermit? {
    if turns == nil { return CompactionPermit(lock: nil) }
    let lock = try state.fileSystem.openLockable(state.paths.compaction)
    return try lock.take(.exclusive, waits: false) ? CompactionPermit(lock: lock) : nil
  }

  func removeRemains() {
    if turns == nil { return }
    do throws(StorageError) {
      let manifest = try currentManifest()
      // After a failure there may be a manifest that is ignored now but counts after a crash, with its packs.
      if try manifestFiles.readNewest()?.number == manifest.number {
        try state.removeRetiredFiles(behind: manifest.base)
      }
    } catch {
      // The files take space, and the next compaction looks for them again.
    }
  }

  func readOthersBound() throws(StorageError) -> UInt64? {
    guard let turns else { return nil }
    return try turns.membership.members.lowestBound(but: turns.membership.number) ?? .max
  }

  func findOthersBound() throws(StorageError) {
    guard let bound = try readOthersBound() else { return }
    state.visibility.othersBound.store(bound, ordering: .relaxed)
  }

  var continuedCheckpoint: UInt64? {
    turns == nil ? lead.withLock { $0.checkpoint.newest } : nil
  }

  func withCheckpointsPaused<R>(_ body: () throws -> R) throws -> R {
    var result: R?
    try checkpointing.withLock { _ in result = try inTurn(any: body) }
    guard let result else { preconditionFailure("a turn ended without what was done in it") }
    return result
  }

  func prepareManifest(
    base: LogBase,
    claiming claim: () throws(StorageError) -> Void
  ) throws(StorageError) -> Manifest {
    // Not under the lead's lock: the preparation of a segment holds it while a file is filled.
    let nextSegment = preparation.nextID
    synchronizeMost()
    return try lead.withLock { (lead) throws(StorageError) in
      try check(lead)
      try state.checkIndex()
      try findOthersBound()
      // Rows were left out because later commits replaced them: those commits must not be lost.
      let work = state.log.tail.withLock { $0.take() }
      try write(work, synchronizing: true, &lead)
      publish(work)
      try claim()
      var next = lead
      next.manifest.base = base
      next.checkpoint.newest = nil
      return makeManifest(isClean: false, nextSegment: nextSegment, next)
    }
  }

  func adopt(_ manifest: Manifest, _ change: (inout LogTail) -> Void) -> [String] {
    lead.withLock { lead in
      lead.manifest = manifest
      lead.checkpoint.recordCompaction(upTo: manifest.base, canContinue: turns == nil)
      state.log.tail.withLock { change(&$0) }
      return lead.takeDoubtfulPacks()
    }
  }

  func keepUntilNextManifest(_ paths: [String]) {
    lead.withLock { $0.doubtfulPacks += paths }
  }

  func poison(_ error: StorageError) -> StorageError {
    lead.withLock { poison(error, &$0) }
  }
}
