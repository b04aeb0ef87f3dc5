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
}
