package import RowFormat

extension CommitBatch {
  /// Visits the rows that the batch replaces, and those that it leaves.
  ///
  /// - Parameters:
  ///   - columns: The columns of interest, of a table's current layout; an update of none of them is left out,
  ///     and so are all changes of a table of which none is.
  ///   - body: Called with the row of an insertion or a deletion, and twice for an update: with the row before it,
  ///     then with the row after it. A deleted row is the one that was there. The set has the columns that an update
  ///     may change, of which the row before has the same values elsewhere; it has all of them for any other change.
  /// - Returns: `false` if a row is no longer what the batch was encoded against: the commit would not be
  ///   appended as it is.
  /// - Throws: ``StorageError`` if a row cannot be read, or what `body` throws.
  package func forEachChange(
    of columns: (UInt16) -> ColumnSet,
    _ body: (RowReference, RowSide, ColumnSet, RawSpan, LayoutNumber) throws -> Void
  ) throws -> Bool {
    var number: UInt16 = 0
    var interest = ColumnSet()
    var scratch = FoldScratch()
    for index in frameStarts.indices {
      let end = index + 1 < frameStarts.count ? frameStarts[index + 1] : recordsEnd
      var offset = frameStarts[index] + FrameHeader.byteCount + CommitPayload.byteCount
      while offset < end {
        let bytes = buffer.bytes.extracting(offset..<end)
        guard let header = RecordHeader(decodingUnbounded: bytes) else { return true }
        if header.kind != .catalogue {
          if header.table != number {
            number = header.table
            interest = columns(number)
          }
          let record = bytes.extracting(header.bodyRange)
          if !interest.isEmpty,
            try !visit(header, record, at: offset, interest, &scratch, body)
          {
            return false
          }
        }
        offset += header.totalByteCount
      }
    }
    return true
  }

  /// Visits what one record changes.
  private func visit(
    _ header: RecordHeader,
    _ record: RawSpan,
    at offset: Int,
    _ interest: ColumnSet,
    _ scratch: inout FoldScratch,
    _ body: (RowReference, RowSide, ColumnSet, RawSpan, LayoutNumber) throws -> Void
  ) throws -> Bool {
    let reference = header.reference
    if header.kind == .insert {
      try body(reference, .inserted, .all, record, header.layout)
      return true
    }
    guard let table = state.tables[Int(header.table)] else { return true }
    var layout: RowLayout?
    var columns = ColumnSet.all
    if header.kind == .delta {
      layout = table.layouts[Int(header.layout.rawValue)]
      guard let layout, let changed = RowDelta.changedColumns(of: record, layout: layout) else {
        return true
      }
      columns = changed
    } else if header.kind == .fullImage, let changed = partialImages[offset] {
      columns = changed
    }
    if columns.isDisjoint(with: interest) { return true }
    let replaced = try state.files.reading { () -> LayoutNumber? in
      guard table.pages.location(of: header.key).place == header.previous else { return nil }
      return try state.fold(header.previous, reference, into: &scratch)
    }
    guard let replaced else { return false }
    if header.kind == .delete {
      try body(reference, .deleted, .all, scratch.row, replaced)
      return true
    }
    try body(reference, .before, columns, scratch.row, replaced)
    guard let layout else {
      try body(reference, .after, columns, record, header.layout)
      return true
    }
    guard scratch.apply(record, layout: layout) else {
      throw state.inconsistency(at: header.previous, reference)
    }
    try body(reference, .after, columns, scratch.row, header.layout)
    return true
  }
}
