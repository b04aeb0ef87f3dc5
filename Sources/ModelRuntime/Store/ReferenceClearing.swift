/// A store of rows that sets references to nil in rows which a save has not read.
package protocol ReferenceClearing: RowStore {
  /// Sets references to nil in a save; it fails with ``MovedReference`` if one of them has another target by then.
  ///
  /// A row that does not exist is left out.
  ///
  /// - Parameters:
  ///   - references: The references, of relationships that may be nil.
  ///   - sink: The changes of the save.
  /// - Throws: An error of reading a row.
  func clear(
    _ references: [DanglingReferences.Reference],
    in sink: any RowChangeSink
  ) throws
}
