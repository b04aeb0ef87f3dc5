import LogEngine
import ModelRuntime
import RowFormat

// The members of stored lists whose classes the schema lacks, and other models may have. No program of these models can see
// them, so whatever it makes of a list, they stay.
extension EntityTable {
  /// Whether lists among some columns may have such members.
  func mayHideMembers(of changed: ColumnSet) -> Bool {
    !hiddenTables.isEmpty && listColumns.contains(where: changed.contains)
  }

  /// Adds to the changed lists of a row the hidden members that they had, in their places.
  ///
  /// - Parameters:
  ///   - row: The row with its changes, in the table's layout.
  ///   - changed: The columns that are changed.
  ///   - newest: The row as it was.
  ///   - number: The layout of that.
  ///   - key: The key of both.
  ///   - writer: Receives the row.
  /// - Returns: Whether there are any; if not, nothing is written.
  /// - Throws: What reading an older row throws.
  func addHiddenMembers(
    to row: RawSpan,
    _ changed: ColumnSet,
    from newest: RawSpan,
    _ number: LayoutNumber,
    _ key: UInt64,
    _ writer: inout RowWriter
  ) throws -> Bool {
    let lists = try withCurrentRow(newest, layout: number, key: key) { newest in
      var lists: [Int: [RowReference]] = [:]
      for column in listColumns where changed.contains(column) {
        lists[column] = list(column, of: row, keepingHiddenMembersOf: newest)
      }
      return lists
    }
    if lists.isEmpty { return false }
    writer.begin(layout)
    for column in 0..<layout.count {
      if let list = lists[column] {
        writer.append(column, references: list)
      } else {
        writer.copy(column, from: row, column: column, layout: layout)
      }
    }
    _ = writer.finish()
    return true
  }

  /// - Returns: `nil` if there are none.
  private func list(
    _ column: Int,
    of row: RawSpan,
    keepingHiddenMembersOf newest: RawSpan
  ) -> [RowReference]? {
    if layout.isNull(column, in: newest) { return nil }
    let former = Array(layout.references(column, in: newest))
    guard former.contains(where: { hiddenTables.contains($0.table) }) else { return nil }
    var list = layout.isNull(column, in: row) ? [] : Array(layout.references(column, in: row))
    list.removeAll { hiddenTables.contains($0.table) }
    for (place, member) in former.enumerated() where hiddenTables.contains(member.table) {
      list.insert(member, at: min(place, list.count))
    }
    return list
  }
}
