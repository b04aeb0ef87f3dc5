package import RowFormat

/// A store that others may save to while it is open here, and that can report the rows they changed.
///
/// Contexts that merge the saves of their siblings, and observers of results, use it to follow such a store.
package protocol RemoteRowReporting: AnyObject, Sendable {
  /// Reports the saves of other processes, on any thread, until the returned object is released.
  ///
  /// - Parameter note: Called with the changes since the last call, one call at a time, under a lock of the store:
  ///   it must not call the store. It returns closures to call once the lock is free.
  /// - Returns: An object that keeps the observation alive; `nil` if no other process can save.
  func observeRemoteRows(
    _ note: @escaping @Sendable (ChangedRows) -> [@Sendable () -> Void]
  ) -> (any AnyObject & Sendable)?

  /// Checks for saves of other processes, which have been reported when this returns.
  func lookForRemoteSaves()
}

/// The rows that one or several commits changed.
package struct ChangedRows: Sendable {
  /// The added rows.
  package var inserted: [RowReference] = []
  /// The rows with changed values.
  package var updated: [RowReference] = []
  /// The removed rows.
  package var deleted: [RowReference] = []
  /// Whether the list is complete; otherwise any row may have changed.
  package var isComplete = true
  /// The number of the newest commit, as the store numbers its states; `nil` if it does not say.
  package var commit: UInt64?

  /// Makes an empty list.
  package init() {}
}
