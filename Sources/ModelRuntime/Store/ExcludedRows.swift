package import RowFormat

/// The rows that a store leaves out of an answer about its rows, because a context has newer versions of them.
package final class ExcludedRows {
  /// The keys of such rows of one table.
  package struct Keys: Sendable {
    package private(set) var keys: Set<UInt64> = []
    private var least: UInt64 = .max
    private var greatest: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { keys.isEmpty }

    package func contains(_ key: UInt64) -> Bool {
      least <= key && key <= greatest && keys.contains(key)
    }

    fileprivate mutating func insert(_ key: UInt64) {
      keys.insert(key)
      least = min(least, key)
      greatest = max(greatest, key)
    }
  }

  private var tables: [UInt16: Keys] = [:]

  package init() {}

  func insert(_ row: RowReference) { tables[row.table, default: Keys()].insert(row.key) }

  package func contains(_ row: RowReference) -> Bool {
    tables[row.table]?.contains(row.key) ?? false
  }

  /// The keys of a table's rows.
  package func keys(of table: UInt16) -> Keys { tables[table] ?? Keys() }
}
