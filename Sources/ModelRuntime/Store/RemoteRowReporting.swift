package import RowFormat

/// A store that others may save to while it is open here, and that can say which rows they changed.
///
/// Contexts that merge the saves of their siblings, and observers of results, follow such a store by it.
package protocol RemoteRowReporting: AnyObject, Sendable {
  /// Has noted what other processes have saved, each time, on any thread, until what is returned is released.
  ///
  /// - Parameter note: Called with what they changed since the last call, one call at a time, under a lock of the store:
  ///   it must not ask the store. It returns who is called once the lock is free.
  /// - Returns: An object that keeps the observation alive; `nil` if no other process can save.
  func observeRemoteRows(
    _ note: @escaping @Sendable (RemoteRows) -> [@Sendable () -> Void]
  ) -> (any AnyObject & Sendable)?

  /// Looks for what other processes have saved, which has been noted when this returns.
  func lookForRemoteSaves()
}

/// The rows that other processes changed.
package struct RemoteRows: Sendable {
  /// The rows that were added.
  package var inserted: [RowReference] = []
  /// The rows that got other values.
  package var updated: [RowReference] = []
  /// The rows that were removed.
  package var deleted: [RowReference] = []
  /// Whether nothing else was changed; otherwise any row may have been.
  package var isComplete = true

  /// Makes a list of no rows.
  package init() {}
}
