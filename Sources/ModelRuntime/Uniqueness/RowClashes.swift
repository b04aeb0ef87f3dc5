package import RowFormat

/// Two rows that would have the same key if a save went through.
package struct RowClash: Sendable {
  /// The row that the save gives the key.
  package let row: RowReference
  /// The row that has it already, or gets it in the same save, earlier.
  package let holder: RowReference
  package let constraint: UniquenessConstraint

  package init(row: RowReference, holder: RowReference, constraint: UniquenessConstraint) {
    self.row = row
    self.holder = holder
    self.constraint = constraint
  }
}

/// All clashes of one save; nothing of it was written.
///
/// A store only finds them. What becomes of them is decided where there are objects: see `Upsert`.
package struct RowClashes: Error {
  package let clashes: [RowClash]

  package init(_ clashes: [RowClash]) { self.clashes = clashes }
}
