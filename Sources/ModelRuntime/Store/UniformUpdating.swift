package import RowFormat

/// A sink of changes whose store can change many rows in one way without being sent their values.
package protocol UniformUpdating: AnyObject {
  /// Changes rows, in their order, as ``RowChangeSink/update(_:changed:row:)`` of each does after the row was read.
  ///
  /// The values are those of the commit, so nothing is expected of them. The save fails with ``UnfitAssignments`` if one of the
  /// rows cannot take its new value this way.
  ///
  /// - Parameters:
  ///   - rows: Rows of one table, none of which is there twice.
  ///   - change: Their change.
  /// - Returns: `false`, with nothing changed, if the store has to be sent the rows.
  func update(_ rows: [RowReference], _ change: UniformChange) -> Bool
}

/// A change of some columns that does not depend on other columns of the row.
package struct UniformChange: Sendable {
  /// The changed columns, none of which is written as it was read; see ``RowLayout/columnsWritten(with:)``.
  package let changed: ColumnSet
  /// The columns to which a number is added; the others are set.
  package let additions: [Int: (amount: NumberAddition, nilStays: Bool)]
  /// A row, in the layout of the table, with the values of the columns that are set.
  package let values: [UInt8]
}

/// A store's answer to a save with a ``UniformChange`` that one of its rows cannot take, a sum that its type cannot hold for
/// instance: nothing is written.
///
/// Sent the rows instead, the store writes them, or the batch finds the row that is to blame.
package struct UnfitAssignments: Error {
  package init() {}
}
