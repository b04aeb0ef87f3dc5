package import RowFormat

/// A store of rows that announces commits, and reads rows as of states whose commits it can name.
package protocol StateReading: RowStore {
  /// Reads rows of one state.
  ///
  /// - Parameter choose: Called once, with the number of the newest commit that the state has; names the rows. It must not save.
  /// - Returns: The rows, as ``RowStore/rows(at:)`` does.
  /// - Throws: An error of reading, or of `choose`.
  func rows(
    ofOneState choose: (UInt64) throws -> [RowReference]
  ) throws -> [FetchedRow?]
}

/// Names the rows of a commit to other contexts before any of them can read the rows.
package protocol CommitAnnouncing: AnyObject, Sendable {
  /// Announces the commit; called by the store once the number is known, before any context can read the rows.
  ///
  /// - Parameters:
  ///   - rows: All rows that the commit changes.
  ///   - number: A number that is not greater than that of a state with the commit, and greater than that of any state without.
  func announce(_ rows: ChangedRows, as number: UInt64)

  /// Takes the announcement back: the commit failed.
  func withdraw()
}

extension EditingState {
  /// Runs a save, whose announcement is taken back if it fails.
  func announced<R>(_ save: () throws -> R) rethrows -> R {
    do {
      return try save()
    } catch {
      announcement?.withdraw()
      throw error
    }
  }
}
