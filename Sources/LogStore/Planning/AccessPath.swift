/// The access path to the rows that match.
enum AccessPath {
  /// Only these rows can match, ascending.
  case keys([UInt64])
  /// These rows match, ascending, and no others.
  case matches([UInt64])
  /// So many rows match, and so many of these are left out; `nil` if that was not looked at.
  case count(Int, excluded: Int?)
  /// These rows are wanted, in the order of the sort, and no others; none that is left out is among them.
  case page([UInt64])
  case columns(ColumnPlan)
  case rows
}
