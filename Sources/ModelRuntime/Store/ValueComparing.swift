package import RowFormat

/// A store of rows whose saves can fail because of concurrently stored values: its sinks are ``ValueExpecting``.
package protocol ValueComparingStore: RowStore {}

/// A sink of changes whose store compares columns with their expected values, in the order of the commits.
package protocol ValueExpecting: AnyObject {
  /// Makes the save fail with ``RowConflicts`` if a row that it updates has other values by then.
  ///
  /// - Parameters:
  ///   - row: A row that the save updates.
  ///   - columns: The compared columns.
  ///   - base: The row with the expected values, in the layout of its entity; `nil` always fails.
  func expectValues(of row: RowReference, _ columns: [Int], from base: [UInt8]?)
}

/// A sink of changes whose store can tell without reading rows that nothing was saved since they were read.
package protocol CommitExpecting: AnyObject {
  /// Makes the save fail with ``OvertakenSave`` if it is not the first commit after a number of them.
  ///
  /// - Parameter count: The store's ``RowStore/changeCount``, taken before the rows were read.
  func expectFirstCommit(after count: UInt64)
}

/// A store's answer to a save after other commits: nothing of it is written.
///
/// See ``CommitExpecting``. The rows need not have changed: the next attempt compares them.
package struct OvertakenSave: Error {
  package init() {}
}

/// A row with other values than a save was to replace.
package struct RowConflict: Sendable {
  /// The row.
  package let row: RowReference
  /// The columns that differ.
  package let columns: [Int]
  /// The row that the save would have replaced, in the layout of its entity.
  package let stored: [UInt8]

  package init(row: RowReference, columns: [Int], stored: [UInt8]) {
    self.row = row
    self.columns = columns
    self.stored = stored
  }
}

/// All conflicts of one save in a store; nothing of it is written.
///
/// See ``ValueExpecting``. The context decides about them among objects.
package struct RowConflicts: Error {
  package let conflicts: [RowConflict]

  package init(_ conflicts: [RowConflict]) { self.conflicts = conflicts }
}

extension RowConflicts: CustomStringConvertible {
  package var description: String {
    "\(conflicts.count) rows were changed by another save since they were read"
  }
}

extension RowLayout {
  /// The columns that an update writes along with others, since they share a mark with one of them.
  ///
  /// - Parameter set: The columns that it sets.
  /// - Returns: The columns it writes without setting them, in ascending order.
  package func columnsWritten(with set: Set<Int>) -> [Int] {
    guard count > 63, set.contains(where: { $0 >= 63 }) else { return [] }
    return (63..<count).filter { !set.contains($0) }
  }

  /// Whether two rows have the same bytes in a column.
  package func isEqual(_ column: Int, in row: RawSpan, and other: RawSpan) -> Bool {
    let isNull = isNull(column, in: row)
    if isNull || self.isNull(column, in: other) {
      return isNull == self.isNull(column, in: other)
    }
    let value = row.extracting(bytes(of: column, in: row))
    let otherValue = other.extracting(bytes(of: column, in: other))
    guard value.byteCount == otherValue.byteCount else { return false }
    for place in 0..<value.byteCount
    where value.load(UInt8.self, at: place) != otherValue.load(UInt8.self, at: place) {
      return false
    }
    return true
  }

  private func bytes(of column: Int, in row: RawSpan) -> Range<Int> {
    let width = types[column].fixedWidth
    if width == 0 { return range(column, in: row) }
    return offset(of: column)..<(offset(of: column) + width)
  }
}
