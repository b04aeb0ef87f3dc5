import Locking
import LogFormat
import RowFormat
import SchedulePoints
import Synchronization

/// Appends commits to the log and synchronizes many at once.
///
/// There are two locks. Under the tail's, held for no longer than copying takes, a commit is appended and numbered. Under the
/// lead's, held through the system calls, everything appended so far is written. If that includes a synchronization, threads
/// that arrive meanwhile wait for it to end, and mostly find that the next one covers their commits along with all others: so
/// commits group themselves, without timers.
///
/// The first call that fails ends writing for good. After a failed write or synchronization the contents of the disk are
/// unknown, and the system may well report success when asked again.
final class LogWriter: Sendable {
  let state: StoreState
  let preparation: SegmentPreparation
  /// Does the work that no commit waits for.
  let housekeeper: Housekeeper
  let lead: Lock<Lead>
  let epoch: UInt32
  /// The turns of this process, if several write the store.
  let turns: Turns?
  /// Reads the commits of other processes.
  let follower: Follower?
  /// Held through a synchronization of the log; the error of a failed background synchronization.
  ///
  /// The system reports a failed write-back once: to the background, which synchronizes without the lead's lock. The next
  /// thread to synchronize would otherwise succeed before the background could report the failure.
  let synchronization = Lock<StorageError?>(nil, .synchronization)
  /// Groups commits that wait for the disk.
  let rounds = WriteRounds()
  /// Groups threads that wait for the disk after their turns.
  let synchronizations = WriteRounds()
  private let gathering = CommitGathering()
  /// Lets a commit go first that others keep overtaking.
  let precedence = CommitPrecedence()
  /// Held while a checkpoint is written.
  let checkpointing = Lock<Void>((), .checkpoint)
  /// Whether writing has ended: because the store was closed, or a call failed.
  let endFlag = Atomic<Bool>(false)
  struct Lead {
    var failure: StorageError?
    /// The current manifest.
    var manifest: Manifest
    /// The end of the log at the last witness that all of it was on disk.
    var witnessedEnd: UInt64
    /// The end of the log at the background's last look.
    var idleEnd: UInt64 = .max
    /// The end of the log when the background was last woken early to synchronize it.
    var hurriedEnd: UInt64 = 0
    /// The last segment whose successor or growth woke the background early, and the size of its file.
    var hurriedSegment = (SegmentID.none, 0)
    var isClosed = false
    /// The checkpoints there are.
    var checkpoint: CheckpointState
    /// Packs of a manifest whose publication failed: the manifest may be in place nevertheless.
    var doubtfulPacks: [String] = []

    /// Returns and forgets the packs that can be removed once another manifest is in place.
    mutating func takeDoubtfulPacks() -> [String] {
      defer { doubtfulPacks = [] }
      return doubtfulPacks
    }
  }

  init(
    state: StoreState,
    preparation: SegmentPreparation,
    manifest: Manifest,
    checkpoint: CheckpointState,
    epoch: UInt32,
    turns: Turns? = nil,
    follower: Follower? = nil
  ) {
    self.turns = turns
    self.follower = follower
    self.state = state
    self.preparation = preparation
    self.epoch = epoch
    housekeeper = Housekeeper(state)
    lead = Lock(
      Lead(manifest: manifest, witnessedEnd: manifest.durableEnd, checkpoint: checkpoint),
      .lead
    )
  }

  /// Commits a batch.
  func commit(_ batch: inout CommitBatch) throws(StorageError) -> CommitSequence {
    guard let sequence = try commit(&batch, with: nil) else {
      preconditionFailure("a commit was given up, and there is no one to give it up")
    }
    return sequence
  }

  /// Commits a batch together with a participant.
  ///
  /// - Returns: `nil` if the participant gave it up.
  func commit(
    _ batch: inout CommitBatch,
    with participant: (any CommitParticipant)?
  ) throws(StorageError) -> CommitSequence? {
    // Checked before the batch: rows of a failed commit are in the index and nowhere else, so the same commit tried again would
    // find them there.
    if endFlag.load(ordering: .acquiring) {
      try lead.withLock { (lead) throws(StorageError) in try check(lead) }
    }
    if participant != nil, turns != nil {
      assert(!isOutOfTurn, "what takes part is prepared in the turn of the commit")
      return try commitInTurn(&batch, with: participant)
    }
    // Other commits may wait for claims that a participant holds: so a save gives way before it takes them.
    if participant == nil { precedence.giveWay() }
    return try inTurn { () throws(StorageError) in
      try commitInTurn(&batch, with: participant)
    }
  }

  private func commitInTurn(
    _ batch: inout CommitBatch,
    with participant: (any CommitParticipant)?
  ) throws(StorageError) -> CommitSequence? {
    try batch.finish(microseconds: state.fileSystem.microseconds())
    let touchesBlobs = batch.touchesBlobs
    if touchesBlobs { state.files.blobs.unsettledCount.add(1, ordering: .acquiring) }
    defer { if touchesBlobs { state.files.blobs.unsettledCount.subtract(1, ordering: .releasing) } }
    try publishBlobs(of: &batch)
    // Without background work, waiting would gain nothing; with several processes, one compacts for all.
    if state.options.background == .ownThread, turns == nil {
      housekeeper.stallCommit(of: batch.buffer.count)
    }
    var isPrepared = participant == nil
    var attempt = 1
    defer { if attempt >= CommitPrecedence.attemptLimit { precedence.end() } }
    func beginAttempt() {
      attempt += 1
      if attempt == CommitPrecedence.attemptLimit { precedence.take() }
    }
    while true {
      if let participant, !isPrepared {
        switch participant.prepare(batch) {
        case .ready: isPrepared = true
        case .givenUp: return nil
        case .outdated:
          beginAttempt()
          try batch.rebase(microseconds: state.fileSystem.microseconds())
          try publishBlobs(of: &batch)
          continue
        }
      }
      switch try append(&batch, participant) {
      case .appended(let sequence):
        participant?.appended()
        batch.newBlobs?.handOver()
        try write(through: sequence)
        if synchronizes, writesThrough, let turns, turns.synchronizesLater {
          turns.owe(state.log.writtenEnd.load(ordering: .acquiring))
        }
        state.retireBlobs(batch.releasedBlobs, by: sequence)
        housekeeper.signalWork()
        return CommitSequence(sequence)
      case .needsSegment: try makeRoom(for: batch.buffer.count, batch.frugality)
      case .needsWriting: try write(through: .max)
      case .needsPreparation: isPrepared = false
      case .conflict:
        isPrepared = participant == nil
        beginAttempt()
        try batch.rebase(microseconds: state.fileSystem.microseconds())
        try publishBlobs(of: &batch)
      }
    }
  }

  /// Whether the store is on a disk, and written bytes must be synchronized to survive.
  var synchronizes: Bool { state.options.durability != .memory }

  /// Whether a commit waits until it is on disk.
  var writesThrough: Bool {
    switch state.options.durability {
    case .full, .memory: true
    case .relaxed: false
    }
  }

  /// Whether a commit is synchronized before it is visible; with several processes, each waits after its turn.
  private var synchronizesRounds: Bool { writesThrough && turns?.synchronizesLater != true }

  private func append(
    _ batch: inout CommitBatch,
    _ participant: (any CommitParticipant)?
  ) throws(StorageError) -> LogTail.Outcome {
    try state.log.tail.withLock { (tail) throws(StorageError) in
      try tail.append(&batch, state, participant)
    }
  }
}

// MARK: Writing

extension LogWriter {
  /// Writes a commit, and returns once it is as safe as the options ask for.
  func write(through sequence: UInt64) throws(StorageError) {
    while state.visibility.visible.load(ordering: .acquiring) < sequence {
      guard synchronizes, synchronizesRounds else { return try writeRound(through: sequence) }
      let isWritten = try rounds.run(
        unless: { state.visibility.visible.load(ordering: .acquiring) >= sequence },
        { () throws(StorageError) in try writeGroup(through: sequence) }
      )
      if isWritten { return }
    }
  }

  /// Writes the commits appended so far, as safely as the options ask for, so that reads see them.
  func publishAppended() throws(StorageError) {
    // Only in turns may anything be written, and commits are visible before the turns that they are made in end.
    if turns != nil { return }
    try write(through: state.log.tail.withLock { $0.sequence })
  }

  /// Writes the commits appended so far, and those that other threads are about to append.
  private func writeGroup(through sequence: UInt64) throws(StorageError) {
    try gathering.run(
      newest: { state.log.tail.withLock { $0.sequence } },
      visible: { state.visibility.visible.load(ordering: .relaxed) },
      pause: { Thread.yield() }
    ) { () throws(StorageError) in
      try writeRound(through: sequence)
    }
  }

  /// Writes the commits appended so far, unless another thread has done so.
  private func writeRound(through sequence: UInt64) throws(StorageError) {
    try lead.withLock { (lead) throws(StorageError) in
      if state.visibility.visible.load(ordering: .acquiring) >= sequence { return }
      try check(lead)
      let work = state.log.tail.withLock { $0.take() }
      try write(work, synchronizing: synchronizesRounds, &lead)
      SchedulePoint.beforePublication.reach()
      publish(work)
      if !writesThrough { hurryIfBehind(&lead) }
      hurryIfFilled(work, &lead)
    }
  }

  /// Writes and synchronizes the commits appended so far, whatever the options ask for.
  func synchronize() throws(StorageError) {
    try inTurn { () throws(StorageError) in
      try lead.withLock { (lead) throws(StorageError) in
        try check(lead)
        let work = state.log.tail.withLock { $0.take() }
        try write(work, synchronizing: true, &lead)
        publish(work)
      }
    }
  }

  func write(
    _ work: LogTail.Work,
    synchronizing: Bool,
    _ lead: inout Lead
  ) throws(StorageError) {
    guard let segment = work.segment else { return }
    do throws(StorageError) {
      let count = work.buffer.bytes.count
      if count > 0 {
        try work.buffer.bytes.write(to: segment.file, at: work.buffer.start)
        segment.readableEnd.store(work.buffer.start + count, ordering: .releasing)
        state.log.writtenEnd.store(work.logEnd, ordering: .relaxed)
        state.counters.recordWrite(ofBytes: count)
      }
      if synchronizing, state.log.durableEnd.load(ordering: .relaxed) < work.logEnd {
        guard synchronizes else {
          state.counters.recordSynchronization()
          state.log.durableEnd.max(work.logEnd, ordering: .relaxed)
          return
        }
        _ = try synchronize(segment, through: work.logEnd, isInTurn: true)
      }
    } catch {
      throw poison(error, &lead)
    }
  }

  /// Synchronizes the log, at least up to a position in a segment.
  ///
  /// - Parameters:
  ///   - segment: The segment.
  ///   - end: The position, which is written.
  ///   - isInTurn: Whether no other process writes meanwhile.
  /// - Returns: `false` if a turn is needed. A caller that waits for no other process may get `true` while one synchronizes.
  /// - Throws: ``StorageError``, which all later synchronizations throw as well.
  func synchronize(
    _ segment: Segment,
    through end: UInt64,
    isInTurn: Bool
  ) throws(StorageError) -> Bool {
    try synchronization.withLock { (failure) throws(StorageError) in
      if let failure { throw failure }
      do throws(StorageError) {
        guard let turns, let shared = turns.shared else {
          try segment.file.synchronize()
          state.counters.recordSynchronization()
          state.log.durableEnd.max(end, ordering: .releasing)
          return true
        }
        let newest = { [state] in state.log.tail.withLock { $0.sequence } }
        switch try shared.run(
          segment,
          through: end,
          isInTurn: isInTurn,
          waits: isInTurn || turns.synchronizesLater,
          newest: turns.isAlone ? newest : nil
        ) {
        case .needsTurn: return false
        case .busy: break
        case .known(let durableEnd): state.log.durableEnd.max(durableEnd, ordering: .releasing)
        case .synchronized(let durableEnd):
          state.counters.recordSynchronization()
          state.log.durableEnd.max(durableEnd, ordering: .releasing)
        }
        return true
      } catch {
        failure = error
        throw error
      }
    }
  }

  /// Makes the written commits visible.
  ///
  /// Their number is stored in one order with the load in ``Housekeeper/signalWork()``: a worker that falls asleep meanwhile
  /// sees the commit, or is woken.
  func publish(_ work: LogTail.Work) {
    let before = state.visibility.visible.load(ordering: .relaxed)
    state.counters.recordGroup(ofCommits: Int(work.lastSequence - before))
    let rowCounts = work.buffer.rowCounts
    let catalogue = work.buffer.catalogue
    if rowCounts.isEmpty && catalogue == nil {
      state.visibility.visible.store(work.lastSequence, ordering: .sequentiallyConsistent)
      return
    }
    state.visibility.publication.add(1, ordering: .acquiringAndReleasing)
    // No count is seen to change before the publication is.
    atomicMemoryFence(ordering: .releasing)
    if let catalogue {
      state.adopt(catalogue)
      state.visibility.catalogue.withLock { $0 = catalogue }
    }
    for (table, change) in rowCounts {
      state.tables[Int(table)]?.liveRowCount.add(change, ordering: .relaxed)
    }
    state.visibility.visible.store(work.lastSequence, ordering: .sequentiallyConsistent)
    state.visibility.publication.add(1, ordering: .acquiringAndReleasing)
  }

  func check(_ lead: Lead) throws(StorageError) {
    if lead.isClosed { throw .closed(path: state.paths.root) }
    if let cause = lead.failure { throw .poisoned(path: state.paths.root, cause: cause) }
  }

  func poison(_ error: StorageError, _ lead: inout Lead) -> StorageError {
    if lead.failure == nil { state.events.report(.poisoned(error)) }
    lead.failure = error
    endFlag.store(true, ordering: .releasing)
    state.log.tail.withLock { $0.gate = .poisoned(error) }
    return .poisoned(path: state.paths.root, cause: error)
  }
}

// MARK: Closing

extension LogWriter {
  /// Ends the log, so that the next opening finds nothing to recover; nothing can be committed then.
  ///
  /// After a failed write the log cannot be ended: it stays as it is.
  func close() throws(StorageError) {
    housekeeper.giveUpCompaction()
    housekeeper.finishMovingSlots()
    try checkpointing.withLock { (_) throws(StorageError) in
      try lead.withLock { (lead) throws(StorageError) in
        try close(&lead)
      }
    }
  }

  /// Ends the log; the caller holds the locks for ending it.
  func close(_ lead: inout Lead) throws(StorageError) {
    if lead.isClosed { return }
    lead.isClosed = true
    endFlag.store(true, ordering: .releasing)
    if lead.failure == nil { try end(&lead) }
  }

  private func end(_ lead: inout Lead) throws(StorageError) {
    let durableEnd = state.log.durableEnd.load(ordering: .relaxed)
    let isChanged = state.log.tail.withLock { tail in
      tail.gate = .closed
      return tail.segment != nil && !tail.isEnded && tail.logEnd != lead.manifest.cleanEnd
    }
    let isMarked = isChanged ? try hasRoomForMark() : false
    let work = state.log.tail.withLock { tail in
      if isMarked { tail.appendMark(.close, durableEnd: durableEnd) }
      return tail.take()
    }
    try preparation.discard()
    try write(work, synchronizing: true, &lead)
    publish(work)
    checkpointAtEnd(&lead)
    state.collectBlobs()
    guard isMarked, let segment = work.segment else { return try publishEndOfSweep(&lead) }
    do throws(StorageError) {
      try state.files.blobs.synchronizeRemovals()
      try publishEnd(of: segment, &lead)
    } catch {
      // All of the log is on disk. The next opening recovers it, as after a crash.
      if !error.isRefusal { throw poison(error, &lead) }
    }
    cut(segment)
  }

  /// Makes room for the mark at the log's end.
  ///
  /// - Returns: `false` if the device is full. Each commit leaves room for a mark; so there was no commit since the segment was
  ///   last cut, and the next opening recovers the log as after a crash.
  private func hasRoomForMark() throws(StorageError) -> Bool {
    do throws(StorageError) {
      try makeRoomForMark()
      return true
    } catch {
      guard case .noSpace = error else { throw error }
      return false
    }
  }

  /// Publishes the manifest of a log that has ended; on a nearly full device it uses the rest of the last segment.
  private func publishEnd(of segment: Segment, _ lead: inout Lead) throws(StorageError) {
    do throws(StorageError) {
      try publishManifest(isClean: true, &lead)
    } catch {
      guard case .noSpace = error else { throw error }
      cut(segment)
      try publishManifest(isClean: true, &lead)
    }
  }

  /// Gives back the unused rest of the last segment; the segment grows again if the log continues in it.
  private func cut(_ segment: Segment) {
    let end = segment.readableEnd.load(ordering: .relaxed)
    // A failure costs nothing but space.
    try? segment.file.setSize(max(end, min(segment.capacity, (end + 4095) & ~4095)))
  }

  /// Records the end of the recovered log, which is on disk by now.
  ///
  /// Otherwise damage to its end would look like an unfinished commit until a later commit proves otherwise, and for good if
  /// there is none.
  func witnessRecovery() throws(StorageError) {
    try lead.withLock { (lead) throws(StorageError) in
      guard synchronizes, state.log.durableEnd.load(ordering: .relaxed) > lead.manifest.durableEnd
      else { return }
      do throws(StorageError) {
        try publishManifest(isClean: false, &lead)
      } catch .noSpace {
        // A full device does not prevent the store from being opened, perhaps to make room in it.
      }
    }
  }

  /// Publishes a manifest with the store's files and their durable end.
  func publishManifest(isClean: Bool, _ lead: inout Lead) throws(StorageError) {
    let manifest = makeManifest(isClean: isClean, nextSegment: preparation.nextID, lead)
    try manifestFiles.publish(manifest)
    lead.manifest = manifest
    for path in lead.takeDoubtfulPacks() { try? state.fileSystem.unlink(path) }
  }

  var manifestFiles: ManifestFiles {
    ManifestFiles(
      paths: state.paths,
      fileSystem: state.fileSystem,
      synchronizes: synchronizes
    )
  }

  /// Returns a manifest of the store's current files.
  ///
  /// - Parameters:
  ///   - isClean: Whether the log ends here.
  ///   - nextSegment: A number that no segment has had.
  ///   - lead: The lead, with the base for the manifest.
  /// - Returns: The unpublished manifest.
  func makeManifest(isClean: Bool, nextSegment: SegmentID, _ lead: Lead) -> Manifest {
    var manifest = lead.manifest
    manifest.number += 1
    manifest.isClean = isClean
    manifest.epoch = epoch
    manifest.durableEnd = state.log.durableEnd.load(ordering: .relaxed)
    manifest.checkpoint = lead.checkpoint.newest ?? 0
    manifest.sequence = CommitSequence(state.visibility.visible.load(ordering: .relaxed))
    manifest.catalogue = state.visibility.catalogue.withLock { $0 }
    manifest.nextSegment = nextSegment
    manifest.nextBlob = state.files.blobs.nextID
    manifest.mayHaveOrphanedBlobs = state.files.blobs.mayHaveOrphans
    let first = manifest.base?.segment ?? .none
    manifest.segments = state.files.segments.indices(from: Int(first.rawValue) + 1).compactMap {
      index in
      state.files.segments[index].map { segment in
        Manifest.SegmentEnd(
          id: segment.id,
          end: segment.readableEnd.load(ordering: .acquiring)
        )
      }
    }
    return manifest
  }
}
