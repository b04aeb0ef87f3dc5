package import RowFormat

extension CommitBatch {
  /// Lends the row that a change of this batch would replace: the newest appended, whether visible or not.
  ///
  /// The batch's own changes to the row are not included.
  ///
  /// - Parameters:
  ///   - reference: The row.
  ///   - body: Receives the row's bytes and their layout.
  /// - Returns: The result of `body`; `nil` if there is no such row.
  /// - Throws: ``/LogFormat/StorageError`` if the row cannot be read, or any error that `body` throws.
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
