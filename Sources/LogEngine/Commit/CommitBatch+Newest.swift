package import RowFormat

extension CommitBatch {
  /// Lends the row that a change of this batch would replace: the newest that was appended, visible already or not.
  ///
  /// What the batch itself does to the row does not show.
  ///
  /// - Parameters:
  ///   - reference: The row.
  ///   - body: Receives its bytes, and the layout they are in.
  /// - Returns: What `body` returned; `nil` if there is no such row.
  /// - Throws: ``/LogFormat/StorageError`` if the row cannot be read, or what `body` throws.
  package func withNewestRow<R>(
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> R
  ) throws -> R? {
    guard let table = state.tables[Int(reference.table)] else { return nil }
    var scratch = FoldScratch()
    let layout = try state.files.reading { () -> LayoutNumber? in
      let location = table.pages.location(of: reference.key)
      guard location.isRow else { return nil }
      return try state.fold(location.place, reference, into: &scratch)
    }
    return try layout.map { try body(scratch.row, $0) }
  }
}
