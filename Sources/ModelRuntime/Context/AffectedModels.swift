import RowFormat

/// The models that affect fetches which read certain properties, as far as the context has looked at them.
///
/// Invariant: while no model has left the context's lists, all of them are still affected, and in the same epoch, the rows of the
/// refreshed ones are as new as the store.
final class AffectedModels {
  let reading: FetchReading
  let connection: StoreConnection
  private var refreshed = UnsavedCursor()
  private var refreshedEpoch: UInt32 = 0
  private var refreshedDepartures = 0
  /// The rows of the affected models.
  private(set) var rows = ExcludedRows()
  private var rowCursor = UnsavedCursor()
  private var rowDepartures = 0

  init(_ reading: FetchReading, _ connection: StoreConnection) {
    self.reading = reading
    self.connection = connection
  }

  /// The changed models whose rows were read again, since others had saved them, or were found to be as new.
  func refreshed(in epoch: UInt32, after departureCount: Int) -> UnsavedCursor {
    refreshedEpoch == epoch && refreshedDepartures == departureCount ? refreshed : UnsavedCursor()
  }

  func recordRefreshed(_ cursor: UnsavedCursor, in epoch: UInt32, after departureCount: Int) {
    (refreshed, refreshedEpoch, refreshedDepartures) = (cursor, epoch, departureCount)
  }

  /// Adds the rows of the models that have become affected.
  func updateRows(
    after departureCount: Int,
    _ affected: (inout UnsavedCursor) -> [_ModelState]
  ) {
    if rowDepartures != departureCount {
      (rows, rowCursor, rowDepartures) = (ExcludedRows(), UnsavedCursor(), departureCount)
    }
    for state in affected(&rowCursor) where state.connection === connection {
      rows.insert(state.reference)
    }
  }
}
