package import Foundation
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

  /// Shows a session one state of the store for several reads, whatever others save meanwhile.
  ///
  /// - Parameters:
  ///   - session: The session of the context. All its reads are on the calling thread.
  ///   - body: Reads the store, and must not save. Within it, ``RowStore/changeCount`` is that of the state; numbers of
  ///     single tables may be those of later changes.
  /// - Returns: The result of `body`.
  /// - Throws: An error of `body`, or of finding the newest state.
  func readingOneState<R>(for session: UUID, _ body: () throws -> R) throws -> R

  /// Whether the calling thread is shown one state for another session than this one.
  func showsState(forOtherThan session: UUID) -> Bool

  /// Shows the calling thread the newest states of all such stores again, within ``readingOneState(for:_:)``.
  func readingNewestState<R>(_ body: () throws -> R) rethrows -> R
}
