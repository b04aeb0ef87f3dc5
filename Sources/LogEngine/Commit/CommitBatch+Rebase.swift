import LogFormat
import RowFormat
import Synchronization

extension CommitBatch {
  /// Encodes the batch anew after another commit has changed one of its rows.
  ///
  /// Each record's changes are decoded from the record itself, applied to the row it was encoded against, and encoded against
  /// the row's newest state: columns that this batch does not change keep the values from the other commit. Of a row with a
  /// spliced list the batch has kept the whole.
  ///
  /// - Throws: ``StorageError/rowNotFound(_:)`` if the other commit deleted the row.
  mutating func rebase(microseconds: Int64) throws(StorageError) {
    var fresh = CommitBatch(state: state)
    fresh.author = author
    fresh.newBlobs = newBlobs.take()
    fresh.newBlobs?.disown()
    do {
      try reencode(into: &fresh)
    } catch {
      newBlobs = fresh.newBlobs.take()
      throw error as? StorageError ?? .invalidRow(.none, layout: .none)
    }
    self = fresh
    try finish(microseconds: microseconds)
  }

  private func reencode(into fresh: inout CommitBatch) throws {
    var offset = 0
    for index in frameStarts.indices {
      let end = index + 1 < frameStarts.count ? frameStarts[index + 1] : recordsEnd
      offset = frameStarts[index] + FrameHeader.byteCount + CommitPayload.byteCount
      while offset < end {
        let bytes = buffer.bytes.extracting(offset..<end)
        guard let header = RecordHeader(decodingUnbounded: bytes) else { return }
        try reencode(header, bytes.extracting(header.bodyRange), at: offset, into: &fresh)
        offset += header.totalByteCount
      }
    }
  }

  private func reencode(
    _ header: RecordHeader,
    _ body: RawSpan,
    at offset: Int,
    into fresh: inout CommitBatch
  ) throws {
    let reference = header.reference
    switch header.kind {
    case .insert: fresh.insert(reference, layout: header.layout, row: body)
    case .fullImage:
      let changed = partialImages[offset] ?? .all
      fresh.update(reference, layout: header.layout, changed: changed, row: body)
    case .catalogue: fresh.changeCatalogue(body, to: catalogue)
    case .delete:
      if header.layout == .none {
        fresh.delete(reference)
      } else {
        fresh.delete(reference, layout: header.layout, preserving: body)
      }
    case .delta:
      try reencodeDelta(header, body, at: offset, into: &fresh)
    }
  }

  private func reencodeDelta(
    _ header: RecordHeader,
    _ body: RawSpan,
    at offset: Int,
    into fresh: inout CommitBatch
  ) throws {
    let reference = header.reference
    guard let table = state.tables[Int(reference.table)],
      let layout = table.layouts[Int(header.layout.rawValue)],
      let changed = RowDelta.changedColumns(of: body, layout: layout)
    else { throw StorageError.unknownTable(reference.table) }
    let isSpliced = splicedRows.withRow(of: offset) {
      fresh.update(reference, layout: header.layout, changed: changed, row: $0)
    }
    if isSpliced { return }
    let newest = table.pages.location(of: reference.key)
    if try fresh.appendAgain(header, body, changed, layout, to: newest) { return }
    var mine = FoldScratch()
    _ = try state.files.reading {
      try state.fold(try startingPlace(of: header, newest), reference, into: &mine)
    }
    guard mine.apply(body, layout: layout), newest.isRow else {
      throw StorageError.rowNotFound(reference)
    }
    var theirs = FoldScratch()
    let base = try state.files.reading { try state.fold(newest.place, reference, into: &theirs) }
    guard base == header.layout else {
      // The other commit moved the row to another layout, in which a delta of this one means nothing.
      return fresh.update(reference, layout: header.layout, changed: changed, row: mine.row)
    }
    var merged = RowWriter(capacity: 512)
    merged.begin(layout)
    for column in 0..<layout.count {
      if changed.contains(column) {
        merged.copy(column, from: mine.row, column: column, layout: layout)
      } else {
        merged.copy(column, from: theirs.row, column: column, layout: layout)
      }
    }
    _ = merged.finish()
    fresh.update(reference, layout: header.layout, changed: changed, row: merged.bytes)
  }

  /// Appends a delta as it is to a row that is whole in a pack, where compaction has moved it.
  ///
  /// What the delta says of a column holds for any row of its layout, since it has no splice. Nothing of the row is read.
  ///
  /// - Returns: `false`, with nothing appended, if that is not so.
  private mutating func appendAgain(
    _ header: RecordHeader,
    _ delta: RawSpan,
    _ changed: ColumnSet,
    _ layout: RowLayout,
    to newest: RecordLocation
  ) throws -> Bool {
    guard newest.isPacked, newest.isRow,
      let table = state.tables[Int(header.table)],
      !table.mayOwnBlobs.load(ordering: .relaxed),
      RowDelta.pays(changed, in: layout)
    else { return false }
    let ticket = state.files.epochs.enter()
    defer { state.files.epochs.leave(ticket) }
    guard let base = try base(ofDelta: header.layout, at: newest.place, of: header.reference)
    else { return false }
    return appendDelta(of: header.reference, to: (newest.place, base), base.bodyLength) {
      $0.buffer.append(delta)
    }
  }

  /// Returns the place of the row that a delta was encoded against.
  ///
  /// If compaction has moved the row, it is in a pack, even before the index says so. If another commit changed the row first,
  /// it may no longer exist: its successor will do, since the changed columns are replaced.
  private func startingPlace(
    of header: RecordHeader,
    _ newest: RecordLocation
  ) throws -> RecordPlace {
    guard !header.previous.isPacked, state.files.isRetired(header.previous.segment) else {
      return header.previous
    }
    return try state.resolve(header.previous, of: header.reference) ?? newest.place
  }
}
