/// The columns with the places of rows in the lists of the rows they refer to, which no property has.
package enum RankColumn {
  private static let prefix = "_rank_"

  /// The name of the column with the places, for the name of the column with the references.
  package static func name(for reference: String) -> String { prefix + reference }

  /// Whether a column is one of them.
  package static func isOne(named name: String, _ type: ColumnType) -> Bool {
    type == .integer && name.hasPrefix(prefix)
  }
}
