public import LogEngine
import RowFormat
public import Workloads

/// Replaces whole rows of a store of trips, again and again.
public final class TripOverwriter {
  private let engine: StorageEngine
  private let table: TripTable
  private var batch: CommitBatch
  private var writer = RowWriter()

  /// Works on a store that is open.
  ///
  /// - Parameter engine: The store; it has a table of trips.
  /// - Throws: ``StorageError``.
  public init(_ engine: StorageEngine) throws {
    self.engine = engine
    table = try TripTable(in: engine)
    batch = engine.makeBatch()
  }

  /// Replaces every attribute of some rows, in one commit.
  ///
  /// - Parameter records: The new rows; their identifiers are the keys, ascending.
  /// - Throws: ``StorageError``.
  public func overwrite(_ records: ArraySlice<TripRecord>) throws {
    for record in records {
      writer.removeAll()
      let place = table.write(record, to: &writer)
      batch.update(
        RowReference(table: table.number, key: record.id),
        layout: table.layoutNumber,
        changed: .all,
        row: writer.bytes.extracting(place)
      )
    }
    _ = try engine.commit(&batch)
  }
}
