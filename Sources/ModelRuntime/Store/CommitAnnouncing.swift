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
