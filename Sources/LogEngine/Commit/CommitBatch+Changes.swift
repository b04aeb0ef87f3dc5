package import RowFormat

extension CommitBatch {
  /// Visits the rows that the batch replaces, and the rows that take their place.
  ///
  /// - Parameters:
  ///   - columns: The columns of interest, of a table's current layout; an update that touches none of them is skipped, and so
  ///     are all changes of a table without any.
  ///   - body: Called with the row of an insertion or a deletion, and twice for an update: with the row before it, then with
  ///     the row after it. A deleted row is passed as it was. The set contains the columns that an update may change, outside
  ///     of which the row before has the same values; for any other change it contains all columns.
  /// - Returns: `false` if a row has changed since the batch was encoded against it: the commit would not be appended as it is.
  /// - Throws: ``StorageError`` if a row cannot be read, or any error that `body` throws.
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

  /// Visits the change that one record makes.
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
