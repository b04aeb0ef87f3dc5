package import RowFormat

/// Two rows that a save would give the same key.
package struct RowClash: Sendable {
  /// The row that the save gives the key.
  package let row: RowReference
  /// The row that already has it, or gets it earlier in the same save.
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
/// A store only finds them. The context settles them among objects: see `Upsert`.
package struct RowClashes: Error {
  package let clashes: [RowClash]

  package init(_ clashes: [RowClash]) { self.clashes = clashes }
}
