import LogFormat
import RowFormat

// Encoding an update as the changed columns, or as the whole row if that is about as small.
extension CommitBatch {
  mutating func appendUpdate(
    _ reference: RowReference,
    _ table: Table,
    _ layout: LayoutNumber,
    _ changed: ColumnSet,
    _ row: RawSpan
  ) throws {
    let location = table.pages.location(of: reference.key)
    guard location.isRow else { return fail(.rowNotFound(reference)) }
    guard let rowLayout = table.layouts[Int(layout.rawValue)] else { return }
    // A long list of references is worth a splice, however many of the other columns changed.
    let splices = rowLayout.listColumns.contains { column in
      changed.contains(column) && rowLayout.range(column, in: row).count > 64
    }
    // A row that is replaced whole anyway needs no look, which costs more in a pack than in the log.
    if splices || RowDelta.pays(changed, in: rowLayout),
      let header = try base(ofDelta: layout, at: location.place, of: reference)
    {
      let newest = (location.place, header)
      if splices {
        // A splice is relative to the row it will be applied to, so that row is read here: the row that the caller considers
        // the newest may be outdated.
        let isAppended = try withChain { batch, chain in
          try chain.read(reference, at: location.place, in: batch.state)
          return batch.appendDelta(changed, of: row, reference, rowLayout, to: newest, chain.row)
        }
        if isAppended { return splicedRows.append(row, at: lastRecord) }
      } else if appendDelta(changed, of: row, reference, rowLayout, to: newest, nil) {
        return
      }
    }
    if changed.isAll(of: rowLayout) {
      try supersedeChain(of: reference, endingAt: location.place)
      return appendWhole(.fullImage, reference, layout, row, previous: location.place)
    }
    try withChain { batch, chain in
      try chain.read(reference, at: location.place, in: batch.state)
      try batch.supersede(chain.records, of: reference)
      try batch.merge(changed, of: row, layout, into: &chain, of: table)
      batch.appendPartialImage(
        changed,
        reference,
        layout,
        chain.row,
        previous: location.place
      )
    }
  }

  /// Lends memory for reading a row, kept from one to the next.
  mutating func withChain<R>(
    _ body: (inout CommitBatch, inout RowChain) throws -> R
  ) rethrows -> R {
    var chain = spareChain.take() ?? RowChain()
    do {
      let result = try body(&self, &chain)
      spareChain = consume chain
      return result
    } catch {
      spareChain = consume chain
      throw error
    }
  }

  /// Appends the changes of some columns as a record that builds on the row's newest one.
  ///
  /// - Parameters:
  ///   - changed: The columns.
  ///   - row: The row with these changes.
  ///   - reference: The row's name.
  ///   - layout: The layout of the row, and of the newest record.
  ///   - newest: The newest record.
  ///   - previous: The row without the changes, to write a list of references as a splice.
  /// - Returns: `false`, with nothing appended, if the row should be written whole.
  mutating func appendDelta(
    _ changed: ColumnSet,
    of row: RawSpan,
    _ reference: RowReference,
    _ layout: RowLayout,
    to newest: RowChain.Record,
    _ previous: RawSpan?
  ) -> Bool {
    appendDelta(of: reference, to: newest, row.byteCount) { batch in
      RowDelta.encode(
        changed: changed,
        row: row,
        previous: previous,
        layout: layout,
        into: &batch.buffer
      )
    }
  }

  /// Appends a record that builds on a row's newest one.
  ///
  /// - Parameters:
  ///   - reference: The row's name.
  ///   - newest: The newest record.
  ///   - rowByteCount: The size of the whole row.
  ///   - encode: Appends the delta to the buffer.
  /// - Returns: `false`, with nothing appended, if the row should be written whole.
  @inline(__always)
  mutating func appendDelta(
    of reference: RowReference,
    to newest: RowChain.Record,
    _ rowByteCount: Int,
    _ encode: (inout CommitBatch) -> Void
  ) -> Bool {
    let depth = depth(above: newest, of: reference)
    guard depth <= state.options.longestChain else { return false }
    let before = (lastReference, isAscending)
    let start = beginRecord(
      .delta,
      reference,
      newest.header.layout,
      previous: newest.place,
      depth: UInt8(depth)
    )
    encode(&self)
    let length = buffer.count - start - RecordHeader.longByteCount
    let load = Int(newest.header.load) + (length * 255 + rowByteCount - 1) / rowByteCount
    // Beyond half of the row's weight, reading the chain costs more than writing it saved.
    if load <= 127 {
      RecordHeader.setLoad(UInt8(load), ofRecordAt: start, in: &buffer)
      endRecord(start, headerByteCount: RecordHeader.longByteCount)
      return true
    }
    buffer.truncate(to: start)
    count -= 1
    (lastReference, isAscending) = before
    return false
  }

  /// The depth of a record that builds on a row's newest one.
  ///
  /// A place in a segment that this process has packed leads to a whole row here. In a process that has not adopted the packs
  /// yet it still leads to a record, whose depth the index slot has.
  private func depth(above newest: RowChain.Record, of reference: RowReference) -> Int {
    if !newest.place.isPacked, state.files.isRetired(newest.place.segment),
      let location = state.tables[Int(reference.table)]?.pages.location(of: reference.key)
    {
      // A slot that names another place by now is a conflict, and the record is not appended.
      return location.depth + 1
    }
    return Int(newest.header.depth) + 1
  }

  /// Appends a whole row of which only some columns are this batch's.
  mutating func appendPartialImage(
    _ changed: ColumnSet,
    _ reference: RowReference,
    _ layout: LayoutNumber,
    _ row: RawSpan,
    previous: RecordPlace
  ) {
    appendWhole(.fullImage, reference, layout, row, previous: previous)
    if !hasFailed { partialImages.append(changed, at: lastRecord) }
  }

  /// Returns the header of the record that a delta would build on; `nil` if it cannot build on it.
  func base(
    ofDelta layout: LayoutNumber,
    at place: RecordPlace,
    of reference: RowReference
  ) throws -> RecordHeader? {
    let header = try state.header(at: place, of: reference)
    return canBuild(on: header, layout) ? header : nil
  }

  func canBuild(on header: RecordHeader, _ layout: LayoutNumber) -> Bool {
    header.layout == layout && Int(header.depth) < state.options.longestChain
  }

  /// Counts the records that a row was read from as dead.
  mutating func supersede(_ records: [RowChain.Record], of reference: RowReference) throws {
    for (place, header) in records {
      guard let current = try state.resolve(place, of: reference) else { return }
      // Compaction has put a whole row in the place of a record and all that it builds on.
      guard current == place else { return try supersedeChain(of: reference, endingAt: current) }
      superseded.add(header.totalByteCount, of: header.table, in: place.segment)
    }
  }

  /// Counts the records from the last whole row to the newest as dead.
  mutating func supersedeChain(
    of reference: RowReference,
    endingAt place: RecordPlace
  ) throws {
    try state.forEachInChain(place, of: reference) { place, header in
      superseded.add(header.totalByteCount, of: header.table, in: place.segment)
    }
  }
}
