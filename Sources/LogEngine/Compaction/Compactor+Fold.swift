import RowFormat
import Synchronization

// Writing the pack.
extension Compactor {
  /// What folding came to.
  struct Folded {
    var tables: [FoldedTable] = []
    var rowCount = 0
    var deletedCount = 0
    /// Rows of packs that stay, which rows of the new pack take the place of.
    var replaced: [(reference: RowReference, pack: SegmentID, byteCount: Int)] = []
  }

  struct FoldedTable {
    var standing: LogBase.TableStanding
    var recordByteCount = 0
    var deletedKeys: [Range<UInt64>] = []

    mutating func addDeleted(_ key: UInt64) {
      if let last = deletedKeys.indices.last, deletedKeys[last].upperBound == key {
        deletedKeys[last] = deletedKeys[last].lowerBound..<(key + 1)
      } else {
        deletedKeys.append(key..<(key + 1))
      }
    }
  }

  /// What the new pack says of a key.
  private enum Verdict {
    /// The row as of this place.
    case row(RecordPlace)
    /// The row is there at the end of what is taken, and stands elsewhere, or nobody can need it.
    case elsewhere
    /// The row has ended.
    case ended
    /// There was no row yet, or its end is noted elsewhere.
    case absent
  }

  /// Writes what the rows were at the end of what is taken.
  func fold(_ plan: Plan) throws -> Folded {
    var writer = try PackWriter(
      path: state.paths.temporary("pack"),
      on: state.fileSystem,
      pack: plan.id,
      of: state.store
    )
    var folded = Folded()
    for definition in plan.base.catalogue.tables {
      guard let table = state.tables[Int(definition.number)] else { continue }
      try fold(table, definition, plan, into: &writer, &folded)
    }
    for table in folded.tables {
      writer.setTable(
        table.standing.number,
        nextKey: table.standing.nextKey,
        recordByteCount: table.recordByteCount,
        deletedKeys: table.deletedKeys
      )
    }
    writer.setSequences(first: CommitSequence(1), last: CommitSequence(plan.base.sequence))
    _ = try writer.finish()
    if self.writer.synchronizes { try writer.synchronize() }
    return folded
  }

  private func fold(
    _ table: Table,
    _ definition: TableDefinition,
    _ plan: Plan,
    into writer: inout PackWriter,
    _ folded: inout Folded
  ) throws {
    let nextKey = table.nextKey.load(ordering: .relaxed)
    var result = FoldedTable(
      standing: .init(number: table.number, nextKey: nextKey, rowCount: 0)
    )
    // Of a table that nobody sees any more only the keys count.
    let isDropped = table.removedAt.load(ordering: .acquiring) <= plan.floor
    var scratch = FoldScratch()
    var key: UInt64 = 0
    while let entry = table.pages.next(from: key, to: table.pages.keyLimit) {
      key = entry.key + 1
      let reference = RowReference(table: table.number, key: entry.key)
      if entry.key & (pauseInterval - 1) == 0 { try pause(folded) }
      switch try verdict(on: entry.location, reference, plan) {
      case .absent: continue
      case .ended:
        result.addDeleted(entry.key)
        folded.deletedCount += 1
      case .elsewhere: result.standing.rowCount += 1
      case .row(let place):
        result.standing.rowCount += 1
        if isDropped { continue }
        let layout = try state.fold(place, reference, into: &scratch)
        guard let layout = definition.layout(layout) else {
          throw state.inconsistency(at: place, reference)
        }
        try writer.append(scratch.row, key: entry.key, table: table.number, layout: layout)
        let header = RecordHeader(
          packed: reference,
          layout.number,
          byteCount: scratch.row.byteCount
        )
        result.recordByteCount += header.totalByteCount
        folded.rowCount += 1
        try noteReplaced(place, reference, plan, &folded)
      }
    }
    result.standing.nextKey = max(nextKey, result.deletedKeys.last?.upperBound ?? 1)
    folded.tables.append(result)
  }

  /// Decides what the pack says of a key, from the key's records, newest first.
  private func verdict(
    on location: RecordLocation,
    _ reference: RowReference,
    _ plan: Plan
  ) throws -> Verdict {
    if location.isPacked || location.segment <= plan.base.segment {
      guard plan.takes(location) else { return location.isRow ? .elsewhere : .absent }
      return location.isRow ? .row(location.place) : .ended
    }
    var place = location.place
    var isNeeded = true
    while true {
      let header = try state.header(at: place, of: reference)
      if header.kind == .insert { return .absent }
      // Whoever reads sees this record or a later one, and neither stands on those before it.
      if header.kind != .delta, try state.isCommitted(header, at: place, by: plan.floor) {
        isNeeded = false
      }
      place = header.previous
      if place.isPacked || state.isRetired(place.segment) {
        guard isNeeded, let found = try state.resolve(place, of: reference),
          plan.takes(found.segment)
        else { return .elsewhere }
        return .row(found)
      }
      if place.segment <= plan.base.segment { return isNeeded ? .row(place) : .elsewhere }
    }
  }

  /// Notes that a row's deltas stand on a row of a pack that stays.
  private func noteReplaced(
    _ place: RecordPlace,
    _ reference: RowReference,
    _ plan: Plan,
    _ folded: inout Folded
  ) throws {
    if place.isPacked { return }
    try state.forEachInChain(place, of: reference) { place, header in
      guard place.isPacked, !plan.takes(place.segment) else { return }
      folded.replaced.append((reference, place.segment, header.totalByteCount))
    }
  }

  /// Lets others work for a moment, and asks whether to go on.
  private func pause(_ folded: Folded) throws {
    writer.prepareIfNeeded()
    writer.synchronizeBehind()
    let progress = CompactionProgress(foldedRowCount: folded.rowCount)
    if observer(progress) == .stop { throw CompactionStopped() }
  }

  /// Reads the pack back and gives it its name.
  ///
  /// - Returns: The pack; `nil` if it would have nothing in it.
  func verify(_ folded: Folded, _ plan: Plan) throws -> PackReader? {
    let temporary = state.paths.temporary("pack")
    guard folded.rowCount + folded.deletedCount > 0 else {
      try state.fileSystem.unlink(temporary)
      return nil
    }
    let rowCount = try state.openPack(temporary, plan.id).verify()
    guard rowCount == folded.rowCount else {
      let problem = Corruption.Problem.invalidField(
        of: .packFooter,
        name: "rowCount",
        expected: UInt64(folded.rowCount),
        found: UInt64(rowCount)
      )
      throw StorageError.corruption(Corruption(path: temporary, offset: 0, problem: problem))
    }
    let path = state.paths.pack(plan.id)
    try state.fileSystem.rename(temporary, to: path)
    try state.fileSystem.synchronizeDirectory(state.paths.packs)
    return try state.openPack(path, plan.id)
  }
}

extension StoreState {
  /// Whether a record belongs to a commit that is no newer than another.
  func isCommitted(
    _ header: RecordHeader,
    at place: RecordPlace,
    by sequence: UInt64
  ) throws -> Bool {
    try withSegment(place.segment) { segment in
      // What was not written yet was not seen by anybody.
      guard place.offset < segment.readableEnd.load(ordering: .acquiring) else { return false }
      return try segment.sequence(ofRecordAt: place.offset, distance: header.distance) <= sequence
    }
  }
}
