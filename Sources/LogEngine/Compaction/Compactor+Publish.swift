import RowFormat
import Synchronization

// Making the pack part of the store.
extension Compactor {
  /// What was taken out of the store.
  struct Retired {
    var objects: [any AnyObject & Sendable] = []
    /// The last commit that was appended when it was.
    var sequence: UInt64 = 0
  }

  /// Publishes the manifest, and shows readers the pack in place of what was taken.
  func publish(
    _ plan: Plan,
    _ folded: Folded,
    _ pack: PackReader?
  ) throws(StorageError) -> Retired {
    try writer.lead.withLock { (lead) throws(StorageError) in
      try writer.check(lead)
      // Rows were left out because later commits took their place: those must not be lost.
      let work = state.tail.withLock { $0.take() }
      try writer.write(work, synchronizing: true, &lead)
      writer.publish(work)
      try claimFloor(plan)
      let before = lead.manifest.base
      lead.manifest.base = plan.base
      do throws(StorageError) {
        try writer.publishManifest(isClean: false, &lead)
      } catch .noSpace(let path, let needed) {
        // Nothing has changed. The pack's file stays for now: if the manifest is there after all, it is
        // needed.
        lead.manifest.base = before
        state.foldFloor.store(before?.floor ?? 0, ordering: .sequentiallyConsistent)
        throw .noSpace(path: path, needed: needed)
      } catch {
        throw writer.poison(error, &lead)
      }
      return state.tail.withLock { tail in retire(plan, folded, pack, &tail) }
    }
  }

  /// Makes sure that nobody has begun to read an earlier commit meanwhile, nor will.
  ///
  /// Who pins an earlier commit does so before it looks at the floor; so one of the two sees the other.
  private func claimFloor(_ plan: Plan) throws(StorageError) {
    let before = state.foldFloor.exchange(plan.floor, ordering: .sequentiallyConsistent)
    guard state.pins.floor(upTo: plan.floor) < plan.floor else { return }
    state.foldFloor.store(before, ordering: .sequentiallyConsistent)
    throw .commitGone(CommitSequence(plan.floor), oldest: CommitSequence(plan.floor))
  }

  private func retire(
    _ plan: Plan,
    _ folded: Folded,
    _ pack: PackReader?,
    _ tail: inout LogTail
  ) -> Retired {
    if let pack { state.add(pack) }
    state.base.withLock { $0 = plan.base }
    state.baseSegment.store(plan.base.segment.rawValue, ordering: .sequentiallyConsistent)
    var retired = Retired(sequence: tail.sequence)
    for segment in plan.segments {
      let id = segment.id
      retired.objects += state.segments.remove(at: Int(id.rawValue)) { $0.id == id }
    }
    for old in plan.packs {
      retired.objects += state.packs.remove(at: Int(old.id.rawValue)) { $0 === old }
    }
    state.packList.withLock { list in
      list.removeAll { pack in plan.packs.contains { $0 === pack } }
    }
    tail.usages.remove { plan.takes($0) }
    for table in folded.tables {
      let file = SegmentID(rawValue: plan.id.rawValue)
      tail.usages.add(table.recordByteCount, of: table.standing.number, to: file)
      if (state.tables[Int(table.standing.number)]?.removedAt.load(ordering: .relaxed) ?? 0) != .max
      {
        tail.usages.release(table: table.standing.number)
      }
    }
    return retired
  }

  /// Lets the index name the new pack where it names what was taken.
  func moveSlots(
    to pack: PackReader,
    _ plan: Plan,
    _ folded: Folded,
    after sequence: UInt64
  ) throws {
    var batch: [(reference: RowReference, address: PackAddress)] = []
    var changed: [(reference: RowReference, address: PackAddress)] = []
    func flush() {
      state.tail.withLock { _ in
        for row in batch {
          let location = RecordLocation(pack: pack.id, row.address)
          if !moveSlot(of: row.reference, location, plan) { changed.append(row) }
        }
      }
      batch.removeAll(keepingCapacity: true)
    }
    try pack.forEachAddress { reference, address in
      batch.append((reference, address))
      if batch.count == 256 { flush() }
    }
    flush()
    for table in folded.tables {
      for key in table.deletedKeys.joined() {
        let reference = RowReference(table: table.standing.number, key: key)
        state.tail.withLock { _ in
          _ = moveSlot(of: reference, RecordLocation(endNotedIn: pack.id), plan)
        }
      }
    }
    try settle(changed, pack, folded, after: sequence)
  }

  /// - Returns: `false` if a later commit has changed the row.
  private func moveSlot(
    of reference: RowReference,
    _ location: RecordLocation,
    _ plan: Plan
  ) -> Bool {
    guard let table = state.tables[Int(reference.table)] else { return true }
    guard plan.takes(table.pages.location(of: reference.key)) else { return false }
    table.pages.store(location, for: reference.key, sequence: 0)
    return true
  }

  func finish(
    _ plan: Plan,
    _ folded: Folded,
    _ pack: PackReader?,
    _ retired: Retired
  ) -> CompactionReport {
    state.compactionCount.add(1, ordering: .relaxed)
    // A checkpoint of before names what is gone, so it would be passed over. A failure costs the next
    // opening some time.
    try? writer.checkpointAfterCompaction()
    // What cannot be removed is removed at the next opening.
    for segment in plan.segments { try? state.fileSystem.unlink(segment.path) }
    for old in plan.packs { try? state.fileSystem.unlink(old.path) }
    state.epochs.retire(retired.objects)
    return CompactionReport(
      segmentCount: plan.segments.count,
      packCount: plan.packs.count,
      rowCount: folded.rowCount,
      readByteCount: plan.segments.reduce(0) { $0 + $1.capacity }
        + plan.packs.reduce(0) { $0 + $1.summary.byteCount },
      writtenByteCount: pack?.summary.byteCount ?? 0
    )
  }
}

// MARK: Counting

extension Compactor {
  /// Counts rows of packs as dead that became so while the pack was written.
  ///
  /// - Parameters:
  ///   - changed: Rows of the new pack that the index does not name: later commits stand on them, or took
  ///     their place.
  ///   - pack: The new pack.
  ///   - folded: What folding came to.
  ///   - sequence: The last commit that was counted before the pack was.
  /// - Throws: ``StorageError`` if a record cannot be read.
  private func settle(
    _ changed: [(reference: RowReference, address: PackAddress)],
    _ pack: PackReader,
    _ folded: Folded,
    after sequence: UInt64
  ) throws {
    // Then a record that cannot be read yet belongs to a later commit.
    try writer.write(through: sequence)
    var dead = SupersededBytes()
    var deadRows: Set<RowReference> = []
    for (reference, address) in changed {
      guard try isSuperseded(reference, by: sequence) else { continue }
      deadRows.insert(reference)
      let place = RecordPlace(pack: pack.id, address)
      let header = try state.header(at: place, of: reference)
      dead.add(header.totalByteCount, of: reference.table, in: place.segment)
    }
    for (reference, file, byteCount) in folded.replaced where !deadRows.contains(reference) {
      dead.add(byteCount, of: reference.table, in: file)
    }
    state.tail.withLock { tail in
      tail.usages.release(dead)
    }
  }

  /// Whether a commit up to one of them took a row's place that stands in the new pack.
  private func isSuperseded(_ reference: RowReference, by sequence: UInt64) throws -> Bool {
    guard let table = state.tables[Int(reference.table)] else { return true }
    var place = table.pages.location(of: reference.key).place
    var superseder: (header: RecordHeader, place: RecordPlace)?
    while !place.isPacked, !state.isRetired(place.segment) {
      let header = try state.header(at: place, of: reference)
      if header.kind != .delta { superseder = (header, place) }
      place = header.previous
    }
    guard let superseder else { return false }
    return try state.isCommitted(superseder.header, at: superseder.place, by: sequence)
  }
}
