package import RowFormat

/// Thrown by a store of rows that was asked to change or delete a row that another save has deleted.
package struct VanishedRow: Error, Hashable {
  package let reference: RowReference

  package init(_ reference: RowReference) { self.reference = reference }
}

extension VanishedRow: CustomStringConvertible {
  package var description: String {
    "row \(reference.key) of table \(reference.table) was deleted before it could be changed"
  }
}
