import Locking
import LogFormat
import RowFormat
import Synchronization

// Bringing the newest checkpoint up to date without rewriting it.
extension LogWriter {
  /// Appends the changes since the newest checkpoint to it, if it can be continued.
  ///
  /// Commits continue meanwhile.
  ///
  /// - Throws: ``StorageError`` if it cannot be written; only a failure of the log itself ends writing.
  func appendIncrement() throws(StorageError) {
    try checkpointing.withLock { (_) throws(StorageError) in
      let begun = try lead.withLock { (lead) throws(StorageError) in try beginIncrement(&lead) }
      guard var step = begun else { return }
      var slots = CheckpointIncrement.SlotEncoder()
      for index in step.increment.tables.indices {
        collectSlots(of: &step.increment.tables[index], since: step.basis, into: &slots)
      }
      synchronizeMost()
      step.increment.durableEnd = try synchronizeAll()
      try write(step, slots)
    }
  }

  private struct Step {
    var increment: CheckpointIncrement
    let basis: IncrementBasis
  }

  /// Captures the state at the end of the log.
  ///
  /// - Returns: `nil` if the newest checkpoint cannot be continued, or is at the end of the log.
  private func beginIncrement(_ lead: inout Lead) throws(StorageError) -> Step? {
    try check(lead)
    guard turns == nil, let basis = lead.checkpoint.basis,
      basis.checkpoint == lead.checkpoint.newest,
      !state.isCheckpointDamaged.load(ordering: .relaxed)
    else { return nil }
    let (work, end) = state.log.tail.withLock { tail in (tail.take(), tail.position) }
    try write(work, synchronizing: false, &lead)
    publish(work)
    let catalogue = state.visibility.catalogue.withLock { $0 }
    // Tables are added and removed only by a full checkpoint.
    guard let end, end.place.logPosition > basis.place.logPosition, catalogue == basis.catalogue
    else { return nil }
    var increment = CheckpointIncrement(
      previous: basis.place.logPosition,
      place: end.place,
      durableEnd: end.place.logPosition,
      usages: end.usages,
      nextBlob: state.files.blobs.nextID
    )
    increment.tables = catalogue.tables.compactMap { definition in
      state.tables[Int(definition.number)].map { table in
        CheckpointIncrement.Table(
          number: table.number,
          nextKey: table.nextKey.load(ordering: .relaxed),
          rowCount: table.liveRowCount.load(ordering: .relaxed)
        )
      }
    }
    return Step(increment: increment, basis: basis)
  }

  private func collectSlots(
    of image: inout CheckpointIncrement.Table,
    since basis: IncrementBasis,
    into slots: inout CheckpointIncrement.SlotEncoder
  ) {
    guard let table = state.tables[Int(image.number)] else { return }
    slots.beginTable()
    var count = 0
    let first = RecordPlace(segment: basis.place.segment, offset: basis.place.offset)
    table.pages.forEachSlot(from: first, after: basis.place.sequence) { key, location in
      slots.append(key, location)
      count += 1
    }
    image.slotCount = count
  }

  /// Writes an increment behind the existing contents of the checkpoint's file.
  private func write(
    _ step: Step,
    _ slots: borrowing CheckpointIncrement.SlotEncoder
  ) throws(StorageError) {
    let basis = step.basis
    guard
      let bytes = step.increment.encode(slots, at: basis.fileEnd, salt: basis.salt)
    else {
      // Too large to be read: so will be the next one, and by then a checkpoint is due.
      return lead.withLock { $0.checkpoint.basis = nil }
    }
    let file = try state.fileSystem.open(state.paths.checkpoint(basis.checkpoint), .write)
    // The file may contain a longer, torn increment of another process.
    if try file.size() > basis.fileEnd { try file.setSize(basis.fileEnd) }
    try bytes.write(to: file, at: basis.fileEnd)
    state.counters.recordCheckpoint(ofBytes: bytes.count)
    lead.withLock { lead in
      guard lead.checkpoint.newest == basis.checkpoint else { return }
      lead.checkpoint.basis?.fileEnd += bytes.count
      lead.checkpoint.basis?.place = step.increment.place
    }
  }
}
