package import Foundation

/// A store that can be read as it was, for as long as it remembers.
package protocol EarlierStateReading: DataStore {
  /// Opens the store as it was; nothing can be saved to what is returned, and the store stays open as long as that is there.
  ///
  /// - Parameter moment: When.
  /// - Returns: The store as it was.
  /// - Throws: ``SwiftDataError/historyTokenExpired`` for a state that is no longer known, or not yet.
  func store(asOf moment: StoreMoment) throws -> any DataStore

  /// Finds another state for a store that ``store(asOf:)`` made.
  ///
  /// - Parameter moment: The state.
  /// - Returns: What has the store show it: of several stores, all must have found theirs first.
  /// - Throws: As ``store(asOf:)``.
  func prepareToShow(_ moment: StoreMoment) throws -> () -> Void

  /// Has a store that ``store(asOf:)`` made show the rows of a later state than that.
  ///
  /// How many rows there are it does not know then, so it can be asked for rows by their names alone.
  ///
  /// - Parameter number: The transaction behind which the state is.
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if there is none yet.
  /// - Complexity: O(1).
  func showRows(behind number: Int64) throws
}

/// A state of a store.
package enum StoreMoment: Sendable {
  /// Behind the transaction that a token names.
  case token(DefaultHistoryToken)
  /// Behind the last transaction that had been made at a time.
  case date(Date)
}
