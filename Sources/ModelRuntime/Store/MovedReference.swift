package import RowFormat

/// A reference that another save has set meanwhile: one that a delete rule made nil, or the one of a row that only gets
/// another place in the list at the other end.
///
/// Thrown by a store of rows for an expectation that does not hold when the save is to be committed; nothing of the
/// save is written. See ``ReferenceExpecting``.
package struct MovedReference: Error, Hashable {
  /// The row that refers.
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

/// A sink of changes whose store compares references with what they are expected to be, in the order of the commits.
package protocol ReferenceExpecting: AnyObject {
  /// Makes the save fail with ``MovedReference`` if a reference names another row by then.
  ///
  /// - Parameters:
  ///   - row: A row that the save updates.
  ///   - column: The column of a to-one relationship, which the update makes nil, or of which it sets the place in a list.
  ///   - target: The row that the reference may name when the save is committed. It may be nil, too.
  func expectReference(of row: RowReference, _ column: Int, to target: RowReference)
}
