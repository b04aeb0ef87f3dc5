package import RowFormat

/// A store that is far away: each question costs a round trip, however little it asks for.
///
/// A context that reads a relationship of one fetched model reads it for the models of the same fetch, too, with the rows
/// that it leads to.
package protocol SiblingLoadingStore: RowStore {
  /// Returns the rows of a table whose reference column names any of some rows.
  ///
  /// - Parameters:
  ///   - targets: The rows that are named, each once.
  ///   - table: The table of the rows that name them.
  ///   - column: The column with the names.
  /// - Returns: The rows; those that name one row are side by side, in ascending order of rank, then of key.
  /// - Throws: What reading throws.
  func rows(
    referringToAnyOf targets: [RowReference],
    inTable table: UInt16,
    column: Int
  ) throws -> [FetchedMember]
}

/// A row that refers to another one, with its bytes.
package struct FetchedMember {
  /// The row that is referred to.
  package let target: RowReference
  /// The place in the list of that row; see ``ReferringRow/rank``.
  package let rank: Int64
  /// The row that refers.
  package let row: FetchedRow

  package init(target: RowReference, rank: Int64, row: FetchedRow) {
    self.target = target
    self.rank = rank
    self.row = row
  }

  /// The member without its bytes.
  var place: ReferringRow { ReferringRow(reference: row.reference, rank: rank) }
}
