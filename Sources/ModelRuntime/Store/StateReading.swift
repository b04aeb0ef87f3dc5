package import RowFormat

/// A store of rows that announces commits, and reads rows as of states whose commits it can name.
package protocol StateReading: RowStore {
  /// Reads rows of one state.
  ///
  /// - Parameter choose: Called once, with the number of the newest commit that the state has; names the rows. It must not save.
  /// - Returns: The rows, as ``RowStore/rows(at:)`` does.
  /// - Throws: An error of reading, or of `choose`.
  func rows(
    ofOneState choose: (UInt64) throws -> [RowReference]
  ) throws -> [FetchedRow?]

  /// Shows the calling thread one state of the store for several reads, whatever others save meanwhile.
  ///
  /// - Parameter body: Reads the store, and must not save. Within it, ``RowStore/changeCount`` is that of the state; numbers of
  ///   single tables may be those of later changes.
  /// - Returns: The result of `body`.
  /// - Throws: An error of `body`, or of finding the newest state.
  func readingOneState<R>(_ body: () throws -> R) throws -> R
}
