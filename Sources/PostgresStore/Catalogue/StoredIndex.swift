#if PostgreSQL
/// An index that there is, as its name may not tell it: with a line between them, the names of entities and properties that
/// have lines themselves may make one name of two.
struct StoredIndex {
  let table: String
  let columnCount: Int
  /// The columns, if it has no expressions.
  let columns: [String]?

  init(on table: String, _ columns: [String]) {
    self.init(table: table, columnCount: columns.count, columns: columns)
  }

  init(table: String, columnCount: Int, columns: [String]?) {
    (self.table, self.columnCount, self.columns) = (table, columnCount, columns)
  }

  /// Whether it can be the index that is made for columns of a table; another one may follow, with places in lists.
  func isMade(for columns: [String], of table: String) -> Bool {
    guard table == self.table else { return false }
    return self.columns?.starts(with: columns) ?? (columnCount == columns.count)
  }
}
#endif
