package import RowFormat

/// A reference that another save has set meanwhile: one that a delete rule made nil, or that of a row that only gets
/// another place in the list at the other end.
///
/// Thrown by a store of rows for an expectation that fails at the commit of a save; nothing of the
/// save is written. See ``ReferenceExpecting``.
package struct MovedReference: Error, Hashable {
  /// The referring row.
  package let row: RowReference
  /// The column of the reference.
  package let column: Int

  package init(_ row: RowReference, column: Int) {
    self.row = row
    self.column = column
  }
}

extension MovedReference: CustomStringConvertible {
  package var description: String {
    "column \(column) of row \(row.key) in table \(row.table) was set by another save after this one had read it"
  }
}

/// A sink of changes whose store compares references with their expected values, in the order of the commits.
package protocol ReferenceExpecting: AnyObject {
  /// Makes the save fail with ``MovedReference`` if a reference has another target by then.
  ///
  /// - Parameters:
  ///   - row: A row that the save updates.
  ///   - column: The column of a to-one relationship that the update makes nil, or whose place in a list it sets.
  ///   - target: The permitted target of the reference when the save is committed. It may be nil, too.
  func expectReference(of row: RowReference, _ column: Int, to target: RowReference)
}
