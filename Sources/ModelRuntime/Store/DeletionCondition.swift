package import RowFormat

/// The condition that rows must still meet when a commit deletes them.
///
/// Rows that are to be deleted for their values were found earlier: another save may have changed them since. A store
/// that respects the condition tests each row as the commit replaces it, in the order of the commits, and makes the save
/// fail with ``RenewedRows`` if a row no longer meets it.
package struct DeletionCondition: Sendable {
  /// The tested rows.
  ///
  /// Other rows that the save deletes, because of a delete rule, are not tested.
  package let rows: Set<RowReference>
  /// The test, about attributes of the row.
  package let test: QueryExpression

  package init(_ test: QueryExpression, of rows: some Sequence<RowReference>) {
    self.test = test
    self.rows = Set(rows)
  }
}

/// Rows that a save was to delete, and that no longer meet its condition; nothing of the save is written.
///
/// See ``DeletionCondition``.
package struct RenewedRows: Error, Hashable {
  /// All such rows of the save, in no order.
  package let rows: [RowReference]

  package init(_ rows: [RowReference]) { self.rows = rows }
}

extension RenewedRows: CustomStringConvertible {
  package var description: String {
    "\(rows.count) rows were changed before they could be deleted, and do not meet the condition for that any more"
  }
}
