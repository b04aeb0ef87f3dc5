/// A store of rows that counts the commits which change a table.
package protocol TableChangeCounting: RowStore {
  /// The number that ``RowStore/changeCount`` had after the newest commit that changed rows of a table; zero if none did since
  /// the store was opened.
  ///
  /// It may be greater than the store's number of commits: a commit counts here before its rows are shown, and never later.
  ///
  /// - Complexity: O(1).
  func changeCount(ofTable table: UInt16) -> UInt64

  /// The same as of the newest commit that changed references in a column, or the places of rows in lists at their other ends,
  /// or that added or deleted rows with such references.
  ///
  /// - Returns: `nil` if the store counts only the commits that change the table.
  /// - Complexity: O(1).
  func changeCount(ofReferencesIn table: UInt16, column: Int) -> UInt64?
}

extension TableChangeCounting {
  package func changeCount(ofReferencesIn table: UInt16, column: Int) -> UInt64? { nil }
}
