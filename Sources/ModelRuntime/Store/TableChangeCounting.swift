/// A store of rows that counts the commits which change a table.
package protocol TableChangeCounting: RowStore {
  /// The number that ``RowStore/changeCount`` had after the newest commit that changed rows of a table; zero if none did since
  /// the store was opened.
  ///
  /// It may be greater than the store's number of commits: a commit counts here before its rows are shown, and never later.
  ///
  /// - Complexity: O(1).
  func changeCount(ofTable table: UInt16) -> UInt64
}
