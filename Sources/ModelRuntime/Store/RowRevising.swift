package import RowFormat

/// A sink of changes whose store can change many rows where it reads them.
package protocol RowRevising: AnyObject {
  /// Changes columns of rows in their newest versions, as ``RowChangeSink/update(_:changed:row:)`` of each does after the row
  /// was read.
  ///
  /// - Parameters:
  ///   - rows: Rows of one table, in ascending order.
  ///   - changed: The columns that `body` changes: attributes of fixed width.
  ///   - body: Changes a row, which is the only one in the writer, in the layout of its table; `false` if it has not.
  /// - Returns: The rows that are left as they were, and have to be read and sent; those that are gone among them.
  /// - Throws: The store's error, if a row cannot be read.
  func revise(
    _ rows: [RowReference],
    changed: ColumnSet,
    _ body: (RowReference, inout RowWriter) -> Bool
  ) throws -> [RowReference]
}
