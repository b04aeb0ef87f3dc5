package import RowFormat

extension RowLayout {
  /// Reads each value of a row that may be damaged, and drops it: nothing may trap.
  package func readAll(_ row: RawSpan) {
    for column in types.indices where !isNull(column, in: row) {
      switch types[column] {
      case .integer: _ = integer(column, in: row)
      case .double, .date: _ = double(column, in: row)
      case .bool: _ = bool(column, in: row)
      case .uuid: _ = uuid(column, in: row)
      case .reference: _ = reference(column, in: row)
      case .text: _ = text(column, in: row)
      case .references: _ = references(column, in: row)
      case .blob: _ = blob(column, in: row)
      case .bytes, .structured: _ = row.extracting(range(column, in: row))
      }
    }
  }
}
