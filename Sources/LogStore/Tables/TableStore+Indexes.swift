import LogEngine
import RowFormat

extension TableStore: IndexedStore {
  var newestCommit: UInt64 { past?.view.sequence.rawValue ?? engine.lastCommit.rawValue }

  /// The newest commit that changed rows of a table, or may have; zero if none did since the store was opened.
  func newestChange(of table: UInt16) -> UInt64 {
    // A view of the past may be moved on, and back, past changes of any table.
    past == nil ? engine.newestChange(of: table).rawValue : .max
  }

  /// The newest commit that changed references in a column, or places at their other ends, or may have; `nil` if only
  /// ``newestChange(of:)`` is known.
  func newestChange(ofReferencesIn table: UInt16, _ column: Int) -> UInt64? {
    // Others do not tell which columns they have changed.
    guard past == nil, allowsSave, !engine.hasOtherWriters else { return nil }
    return indexes.references(table, column)?.newestChange
  }

  var newestForeignCommit: UInt64 { engine.lastForeignCommit.rawValue }

  func recordRegistration() {
    indexes.recordRegistration()
    indexKeeper.noteOutdated()
  }

  func makeReadViewOfAllCommits() -> ReadView { past?.view ?? engine.makeReadViewOfAllCommits() }

  func scan(
    _ table: UInt16,
    of view: ReadView,
    _ body: (_ key: UInt64, _ row: RawSpan, _ layout: RowLayout) throws -> Void
  ) throws {
    guard let table = self.table(numbered: table) else { return }
    try view.scan(table.number) { key, layout, row in
      try table.withCurrentRow(row, layout: layout, key: key) { try body(key, $0, table.layout) }
      return .proceed
    }
  }

  func scan(
    _ table: UInt16,
    keys: [UInt64],
    of view: ReadView,
    _ body: (_ key: UInt64, _ row: RawSpan, _ layout: RowLayout) throws -> Void
  ) throws {
    guard let table = self.table(numbered: table) else { return }
    try view.scan(table.number, keys: keys) { key, layout, row in
      try table.withCurrentRow(row, layout: layout, key: key) { try body(key, $0, table.layout) }
      return .proceed
    }
  }
}
