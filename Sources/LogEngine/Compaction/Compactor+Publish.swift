import Locking
import LogFormat
import RowFormat
import Synchronization

// Making the packs part of the store.
extension Compactor {
  /// The objects and files taken out of the store.
  struct Retired {
    var objects: [any AnyObject & Sendable] = []
    /// Files left over from a previous attempt.
    var paths: [String] = []
    /// The last commit appended before they were taken out.
    var sequence: UInt64 = 0
  }

  /// Publishes the manifest, and shows readers the packs in place of the taken files; called under the lock of checkpoints.
  ///
  /// Commits wait for the synchronization of the log, as they do for each other, and for the changes in memory; they continue
  /// while the manifest is written.
  func publish() throws(StorageError) -> Retired {
    if !packs.isEmpty { try state.fileSystem.synchronizeDirectory(state.paths.packs) }
    describePacks()
    let markBefore = state.visibility.lowWaterMark.load(ordering: .sequentiallyConsistent)
    let manifest = try log.prepareManifest(base: plan.base) { () throws(StorageError) in
      try claimFloor()
    }
    do throws(StorageError) {
      try log.manifestFiles.write(manifest)
      isPublished = true
      try log.manifestFiles.putInPlace(manifest)
    } catch {
      // Until the manifest is in place nothing has changed, whatever failed. Afterwards it may be the current one, and the
      // store continues beside it unless a synchronization was lost.
      if isPublished, !error.isRefusal { throw log.poison(error) }
      state.visibility.lowWaterMark.store(markBefore, ordering: .sequentiallyConsistent)
      if isPublished { log.keepUntilNextManifest(packs.map(\.reader.path)) }
      throw error
    }
    var retired = Retired()
    retired.paths = log.adopt(manifest) { tail in
      state.files.exchange { retire(&tail, &retired) }
    }
    return retired
  }

  /// Completes the plan with the contents of the manifest.
  private func describePacks() {
    plan.base.tables = tables.map(\.entry)
    let taken = Set(plan.packs.map(\.id))
    plan.base.packs.removeAll { taken.contains($0.id) }
    for pack in packs {
      plan.base.packs.append(
        .init(id: pack.reader.id, byteCount: pack.reader.summary.byteCount)
      )
    }
  }

  /// Raises the low-water mark, or fails if an older commit was pinned in the meantime.
  ///
  /// A reader pins its commit before it reads the mark; so one of the two sees the other.
  private func claimFloor() throws(StorageError) {
    let before = state.visibility.lowWaterMark.exchange(
      plan.lowWaterMark,
      ordering: .sequentiallyConsistent
    )
    let pinned = min(
      state.visibility.pins.oldest(upTo: plan.lowWaterMark),
      state.visibility.othersBound.load(ordering: .relaxed)
    )
    guard pinned < plan.lowWaterMark else { return }
    state.visibility.lowWaterMark.store(before, ordering: .sequentiallyConsistent)
    throw .commitGone(CommitSequence(pinned), oldest: CommitSequence(plan.lowWaterMark))
  }

  private func retire(_ tail: inout LogTail, _ retired: inout Retired) {
    for pack in packs { state.files.add(pack.reader) }
    state.files.base.withLock { $0 = plan.base }
    state.files.baseSegment.store(plan.base.segment.rawValue, ordering: .sequentiallyConsistent)
    retired.sequence = tail.sequence
    for segment in plan.segments {
      let id = segment.id
      retired.objects += state.files.segments.remove(at: Int(id.rawValue)) { $0.id == id }
    }
    for old in plan.packs {
      retired.objects += state.files.packs.remove(at: Int(old.id.rawValue)) { $0 === old }
    }
    state.files.packList.withLock { list in
      list.removeAll { pack in plan.packs.contains { $0 === pack } }
    }
    tail.usages.remove { plan.takes($0) }
    for pack in packs {
      let file = SegmentID(rawValue: pack.reader.id.rawValue)
      for part in pack.tables { tail.usages.add(part.recordByteCount, of: part.table, to: file) }
    }
    releaseRemovedTables(&tail.usages)
  }

  /// Releases all records of removed tables, whatever else refers to their rows.
  private func releaseRemovedTables(_ usages: inout SegmentUsages) {
    for table in tables {
      let removedAt = state.tables[Int(table.entry.number)]?.removedAt.load(ordering: .relaxed)
      if let removedAt, removedAt != .max { usages.release(table: table.entry.number) }
    }
  }

  /// Removes the taken files: from the disk at once, from memory when their last reader ends.
  func remove(_ retired: Retired) {
    state.files.recordCompaction()
    // Earlier checkpoints name files that are gone, and only the newest may be continued.
    CheckpointFiles(state).removeAll(but: [log.continuedCheckpoint].compactMap(\.self))
    // Files that cannot be removed now are removed at the next opening.
    for segment in plan.segments { try? state.fileSystem.unlink(segment.path) }
    for old in plan.packs { try? state.fileSystem.unlink(old.path) }
    for path in retired.paths { try? state.fileSystem.unlink(path) }
    state.files.epochs.retire(retired.objects)
  }
}

// MARK: Slots

extension Compactor {
  /// Points index slots that name taken files to the new packs.
  ///
  /// - Parameter sequence: The last commit that was counted before the packs were.
  /// - Throws: ``StorageError`` if a record cannot be read.
  func moveSlots(after sequence: UInt64) throws {
    let mover = SlotMover(state) { [plan, state] in
      plan.takes($0) || !$0.isNone && state.files.isGone($0.segment)
    }
    var changed: [SlotMover.Leftover] = []
    for pack in packs.map(\.reader) {
      try mover.moveSlots(ofRowsIn: pack.footer.blocks.indices, of: pack, &changed)
      mover.moveEnds(notedIn: pack)
    }
    try settle(changed, after: sequence)
  }
}

// MARK: Counting

extension Compactor {
  /// Counts rows of packs as dead that were replaced while the packs were written.
  ///
  /// - Parameters:
  ///   - changed: Rows of the new packs that the index does not name: later commits build on them, or replaced them.
  ///   - sequence: The last commit that was counted before the packs were.
  /// - Throws: ``StorageError`` if a record cannot be read.
  private func settle(
    _ changed: [SlotMover.Leftover],
    after sequence: UInt64
  ) throws {
    // After this write a record that cannot be read yet belongs to a later commit.
    try log.write(through: sequence)
    var dead = SupersededBytes()
    var deadRows: Set<RowReference> = []
    for (reference, place) in changed {
      guard try isSuperseded(reference, by: sequence) else { continue }
      deadRows.insert(reference)
      let header = try state.header(at: place, of: reference)
      dead.add(header.totalByteCount, of: reference.table, in: place.segment)
    }
    for (reference, file, byteCount) in replaced where !deadRows.contains(reference) {
      dead.add(byteCount, of: reference.table, in: file)
    }
    state.log.tail.withLock { tail in
      tail.usages.release(dead)
      releaseRemovedTables(&tail.usages)
    }
  }

  /// Whether a commit up to `sequence` replaced a row that is in a new pack.
  private func isSuperseded(_ reference: RowReference, by sequence: UInt64) throws -> Bool {
    guard let table = state.tables[Int(reference.table)] else { return true }
    var place = table.pages.location(of: reference.key).place
    var superseder: (header: RecordHeader, place: RecordPlace)?
    while !place.isPacked, !state.files.isRetired(place.segment) {
      let header = try state.header(at: place, of: reference)
      if header.kind != .delta { superseder = (header, place) }
      guard header.leadsBack(from: place) else { throw state.inconsistency(at: place, reference) }
      place = header.previous
    }
    guard let superseder else { return false }
    return try state.isCommitted(superseder.header, at: superseder.place, by: sequence)
  }
}
