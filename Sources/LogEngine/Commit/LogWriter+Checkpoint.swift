import Locking
import LogFormat
import RowFormat
import Synchronization

extension LogWriter {
  /// Writes a checkpoint, unless the newest is at the end of the log.
  ///
  /// Commits continue meanwhile. The log is synchronized before the first page is copied, so that the log position that the
  /// checkpoint names is durable, and after the last, so that every record that the pages name is.
  ///
  /// - Throws: ``StorageError`` if it cannot be written; only a failure of the log itself ends writing.
  func checkpoint() throws(StorageError) {
    try checkpoint(pieceByteCount: CheckpointWriter.pieceByteCount)
  }

  /// Writes a checkpoint, at most the given number of bytes in one call.
  func checkpoint(pieceByteCount: Int) throws(StorageError) {
    try checkpointing.withLock { (_) throws(StorageError) in
      try inTurn { () throws(StorageError) in
        try writeCheckpoint(pieceByteCount: pieceByteCount)
      }
    }
  }

  private func writeCheckpoint(pieceByteCount: Int) throws(StorageError) {
    synchronizeMost()
    let basis = try lead.withLock { (lead) throws(StorageError) in
      try check(lead)
      return try synchronizeForCheckpoint(&lead)
    }
    guard let basis else { return }
    let checkpoint = try write(
      basis,
      pieceByteCount: pieceByteCount,
      pause: {
        prepareIfNeeded()
        synchronizeBehind()
      },
      durableEnd: { () throws(StorageError) in
        synchronizeMost()
        return try synchronizeAll()
      }
    )
    lead.withLock { $0.checkpoint = checkpoint }
    CheckpointFiles(state).removeAll(but: [basis.previous, checkpoint.highest].compactMap(\.self))
  }

  /// Writes a checkpoint of a log that has ended; the caller holds the locks for ending it.
  func checkpointAtEnd(_ lead: inout Lead) {
    let basis = try? synchronizeForCheckpoint(&lead)
    guard let basis, lead.failure == nil else { return }
    let end = state.log.durableEnd.load(ordering: .relaxed)
    let checkpoint = try? write(
      basis,
      pieceByteCount: CheckpointWriter.pieceByteCount,
      pause: {},
      durableEnd: { () throws(StorageError) in end }
    )
    guard let checkpoint else { return }
    lead.checkpoint = checkpoint
    CheckpointFiles(state).removeAll(but: [basis.previous, checkpoint.highest].compactMap(\.self))
  }
}

// MARK: Steps

extension LogWriter {
  /// The contents of a checkpoint beside the pages, and the checkpoint that it replaces.
  private struct Basis {
    let checkpoint: Checkpoint
    let previous: UInt64?
  }

  /// Synchronizes the log and returns its durable end.
  func synchronizeAll() throws(StorageError) -> UInt64 {
    try lead.withLock { (lead) throws(StorageError) in
      try check(lead)
      let work = state.log.tail.withLock { $0.take() }
      try write(work, synchronizing: true, &lead)
      publish(work)
      return work.logEnd
    }
  }

  /// Synchronizes the log and captures the state at its end.
  ///
  /// - Returns: `nil` if there is a checkpoint of that state already, or no log.
  private func synchronizeForCheckpoint(_ lead: inout Lead) throws(StorageError) -> Basis? {
    let (work, end) = state.log.tail.withLock { tail in (tail.take(), tail.position) }
    try write(work, synchronizing: true, &lead)
    publish(work)
    let isCurrent =
      lead.checkpoint.newest != nil && !lead.checkpoint.namesGoneFiles
      && !state.isCheckpointDamaged.load(ordering: .relaxed)
    let last = isCurrent ? lead.checkpoint.logPosition : nil
    guard let end, end.place.logPosition != last else { return nil }
    lead.checkpoint.attemptEnd = end.place.logPosition
    lead.checkpoint.highest += 1
    let catalogue = state.visibility.catalogue.withLock { $0 }
    var checkpoint = Checkpoint(
      number: lead.checkpoint.highest,
      store: state.store,
      lineage: lead.manifest.lineage,
      place: end.place,
      nextBlob: state.files.blobs.nextID,
      durableEnd: end.place.logPosition,
      usages: end.usages,
      catalogue: catalogue
    )
    checkpoint.tables = catalogue.tables.compactMap { definition in
      state.tables[Int(definition.number)].map { table in
        Checkpoint.TableImage(
          number: table.number,
          nextKey: table.nextKey.load(ordering: .relaxed),
          rowCount: table.liveRowCount.load(ordering: .relaxed)
        )
      }
    }
    return Basis(checkpoint: checkpoint, previous: lead.checkpoint.newest)
  }

  /// Writes a checkpoint's file and gives it its name.
  ///
  /// - Parameters:
  ///   - basis: The contents beside the pages.
  ///   - pieceByteCount: The limit of one write call, in bytes.
  ///   - pause: Called every few milliseconds.
  ///   - durableEnd: Called once all pages are copied: synchronizes the log and returns its durable end.
  /// - Returns: The checkpoints there are afterwards.
  /// - Throws: ``StorageError`` if a call fails, or any error that `durableEnd` throws.
  private func write(
    _ basis: Basis,
    pieceByteCount: Int,
    pause: () -> Void,
    durableEnd: () throws(StorageError) -> UInt64
  ) throws(StorageError) -> CheckpointState {
    let files = CheckpointFiles(state)
    let start = state.events.isObserved ? state.fileSystem.microseconds() : 0
    do throws(StorageError) {
      let file = try files.makeFile()
      var writer = CheckpointWriter(
        basis.checkpoint,
        of: state,
        to: file,
        pieceByteCount: pieceByteCount
      )
      try writer.writePages(pause)
      try state.checkIndex()
      let byteCount = try writer.finish(durableEnd: try durableEnd())
      try files.publish(file, number: basis.checkpoint.number)
      state.counters.recordCheckpoint(ofBytes: byteCount)
      // It has every page, and each was checked for it.
      state.isCheckpointDamaged.store(false, ordering: .relaxed)
      reportCheckpoint(basis.checkpoint, byteCount, since: start)
      return CheckpointState(
        highest: basis.checkpoint.number,
        newest: basis.checkpoint.number,
        logPosition: basis.checkpoint.place.logPosition,
        byteCount: byteCount,
        attemptEnd: basis.checkpoint.place.logPosition,
        basis: IncrementBasis(
          checkpoint: basis.checkpoint.number,
          salt: writer.salt,
          fileEnd: byteCount,
          place: basis.checkpoint.place,
          catalogue: basis.checkpoint.catalogue
        )
      )
    } catch {
      files.discardFile()
      // The end of writing is an event of its own.
      if !error.isPoisoning { state.events.report(.checkpointFailed(error)) }
      throw error
    }
  }

  private func reportCheckpoint(_ checkpoint: Checkpoint, _ byteCount: Int, since start: Int64) {
    guard state.events.isObserved else { return }
    let report = CheckpointReport(
      number: checkpoint.number,
      byteCount: byteCount,
      lastCommit: CommitSequence(checkpoint.place.sequence),
      duration: state.duration(since: start)
    )
    state.events.report(.checkpointWritten(report))
  }
}

extension CheckpointFiles {
  init(_ state: StoreState) {
    self.init(
      paths: state.paths,
      fileSystem: state.fileSystem,
      synchronizes: state.options.durability != .memory
    )
  }
}
