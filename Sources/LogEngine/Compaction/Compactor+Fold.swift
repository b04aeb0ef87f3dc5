import LogFormat
import RowFormat
import Synchronization

// Writing the rows as of the end of the taken part.
extension Compactor {
  /// The result of folding a table so far.
  struct FoldedTable {
    var entry: LogBase.TableEntry
    /// Whether no view sees the table any more: then only the keys count.
    var isDropped: Bool
  }

  /// The state of a key in the new packs.
  private enum Verdict {
    /// The row as of this place.
    case row(RecordPlace)
    /// The row exists at the end of the taken part, but is stored elsewhere, or no view can see it.
    case elsewhere
    /// The row has ended.
    case ended
    /// There was no row yet, or its end is recorded elsewhere.
    case absent
  }

  /// Limit of the keys examined in one step: keys without a row to fold cost little, but not nothing.
  private static let keysPerStep = 8192

  /// Folds some rows.
  ///
  /// - Returns: The size of the rows, in bytes.
  func fold(upTo byteCount: Int) throws -> Int {
    let definition = plan.base.catalogue.tables[tableIndex]
    guard let table = state.tables[Int(definition.number)] else {
      tableIndex += 1
      return 0
    }
    var scratch = FoldScratch()
    var key = nextKey ?? begin(table)
    var done = 0
    var keyCount = 0
    while done < byteCount, keyCount < Self.keysPerStep {
      guard let entry = table.pages.next(from: key, to: keyEnd) else {
        tableIndex += 1
        nextKey = nil
        return done
      }
      progress.examinedKeyCount += 1
      keyCount += 1
      key = entry.key + 1
      nextKey = key
      done += try fold(entry.key, at: entry.location, of: table, definition, &scratch)
      if isPackFull {
        try endPack()
        return done
      }
    }
    if output?.isBehind == true { try output?.writer.synchronize() }
    return done
  }

  private func begin(_ table: Table) -> UInt64 {
    let entry = LogBase.TableEntry(
      number: table.number,
      nextKey: max(1, table.nextKey.load(ordering: .relaxed)),
      rowCount: 0
    )
    let isDropped = table.removedAt.load(ordering: .acquiring) <= plan.lowWaterMark
    tables.append(FoldedTable(entry: entry, isDropped: isDropped))
    // Rows inserted from now on do not belong to the taken part.
    keyEnd = table.pages.keyLimit
    return 0
  }

  /// Folds one row.
  ///
  /// - Returns: The number of bytes written.
  private func fold(
    _ key: UInt64,
    at location: RecordLocation,
    of table: Table,
    _ definition: TableDefinition,
    _ scratch: inout FoldScratch
  ) throws -> Int {
    let reference = RowReference(table: table.number, key: key)
    let last = tables.count - 1
    switch try verdict(on: location, reference) {
    case .absent: return 0
    case .ended:
      try beginPackIfNeeded()
      output?.recordEnd(of: reference, nextKey: tables[last].entry.nextKey)
      tables[last].entry.nextKey = max(tables[last].entry.nextKey, key + 1)
      return 0
    case .elsewhere:
      tables[last].entry.rowCount += 1
      return 0
    case .row(let place):
      tables[last].entry.rowCount += 1
      if tables[last].isDropped { return 0 }
      if !place.isPacked { try fetchAhead(of: place) }
      let number = try state.fold(place, reference, into: &scratch)
      guard let layout = definition.layout(number) else {
        throw state.inconsistency(at: place, reference)
      }
      try beginPackIfNeeded()
      let nextKey = tables[last].entry.nextKey
      try output?.append(scratch.row, reference, layout, nextKey: nextKey)
      progress.foldedRowCount += 1
      try recordReplaced(place, reference)
      return scratch.row.byteCount
    }
  }

  /// Prefetches the rest of a segment behind a row, if the system was advised of random reads.
  ///
  /// The advice stays: single rows of the taken files are read meanwhile, and each read would prefetch much around it.
  private func fetchAhead(of place: RecordPlace) throws {
    guard state.files.isLargerThanMemory.load(ordering: .relaxed) else { return }
    if place.segment != readSegment {
      readSegment = place.segment
      readAhead = ReadAhead()
    }
    let page = place.offset / 4096
    guard let range = readAhead.next(page, at: place.offset, limit: .max) else { return }
    try state.withSegment(place.segment) { segment in
      segment.file.willRead(range.clamped(to: 0..<segment.capacity))
    }
  }

  /// Decides the state of a key in the packs from its records, newest first.
  private func verdict(
    on location: RecordLocation,
    _ reference: RowReference
  ) throws -> Verdict {
    if location.isPacked || location.segment <= plan.base.segment {
      let isGone = state.files.isGone(location.segment)
      guard plan.takes(location), !isGone else {
        guard isGone else { return location.isRow ? .elsewhere : .absent }
        // The index of an older checkpoint names files that were packed or merged since, and so does an index whose slots a
        // compaction could not move: the file that has the row, or records its end, may be taken now, or stay.
        guard location.isRow else { return .ended }
        guard let found = try state.resolve(location.place, of: reference),
          plan.takes(found.segment)
        else { return .elsewhere }
        return .row(found)
      }
      return location.isRow ? .row(location.place) : .ended
    }
    var place = location.place
    var isNeeded = true
    while true {
      let header = try state.header(at: place, of: reference)
      if header.kind == .insert { return .absent }
      // A reader sees this record or a later one, and neither builds on the earlier ones.
      if header.kind != .delta, try state.isCommitted(header, at: place, by: plan.lowWaterMark) {
        isNeeded = false
      }
      guard header.leadsBack(from: place) else { throw state.inconsistency(at: place, reference) }
      place = header.previous
      if place.isPacked || state.files.isRetired(place.segment) {
        guard isNeeded, let found = try state.resolve(place, of: reference),
          plan.takes(found.segment)
        else { return .elsewhere }
        return .row(found)
      }
      if place.segment <= plan.base.segment { return isNeeded ? .row(place) : .elsewhere }
    }
  }

  /// Records that a row's deltas build on a row of a pack that stays.
  private func recordReplaced(_ place: RecordPlace, _ reference: RowReference) throws {
    if place.isPacked { return }
    try state.forEachInChain(place, of: reference) { place, header in
      guard place.isPacked, !plan.takes(place.segment) else { return }
      replaced.append((reference, place.segment, header.totalByteCount))
    }
  }
}

extension StoreState {
  /// Whether a record belongs to a commit that is no newer than `sequence`.
  func isCommitted(
    _ header: RecordHeader,
    at place: RecordPlace,
    by sequence: UInt64
  ) throws -> Bool {
    try withSegment(place.segment) { segment in
      // No reader has seen a record that is not written yet.
      guard place.offset < segment.readableEnd.load(ordering: .acquiring) else { return false }
      return try segment.sequence(ofRecordAt: place.offset, distance: header.distance) <= sequence
    }
  }
}
