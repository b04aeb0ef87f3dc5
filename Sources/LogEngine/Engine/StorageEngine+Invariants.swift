import Locking
import LogFormat
import RowFormat
import Synchronization

extension StorageEngine {
  /// Returns the violated invariants of the open store; empty if there are none.
  ///
  /// Commits wait meanwhile; readers do not.
  ///
  /// - Throws: ``StorageError`` if a row cannot be read.
  /// - Complexity: O(keys).
  package func invariantViolations() throws -> [String] {
    guard let writer else { return [] }
    // Publication happens under this lock.
    let published = writer.lead.withLock { _ in state.publicationViolations() }
    // Views wait for a publication to end.
    if !published.isEmpty { return published }
    return try state.pinViolations() + state.tailViolations() + rowCountViolations()
  }

  /// Traps if an invariant of the open store is violated.
  ///
  /// - Throws: ``StorageError`` if a row cannot be read.
  package func checkInvariants() throws {
    let violations = try invariantViolations()
    precondition(violations.isEmpty, violations.joined(separator: "; "))
  }

  /// Compares row counts with the rows found, as long as no commit comes meanwhile.
  private func rowCountViolations() throws -> [String] {
    let before = state.visibility.visible.load(ordering: .acquiring)
    var counts: [(table: UInt16, said: Int, found: Int)] = []
    for definition in catalogue.tables {
      var found = 0
      try scan(definition.number) { _, _, _ in
        found += 1
        return .proceed
      }
      counts.append((definition.number, rowCount(of: definition.number), found))
    }
    guard state.visibility.visible.load(ordering: .acquiring) == before else { return [] }
    return counts.filter { $0.said != $0.found }.map {
      "table \($0.table) has \($0.found) rows, and is said to have \($0.said)"
    }
  }
}
