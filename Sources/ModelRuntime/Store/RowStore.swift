public import Foundation
public import RowFormat

/// A store that keeps rows, and receives and returns them as bytes.
///
/// A context makes no snapshots for such a store: it encodes each changed model straight into a
/// row, with final references in it, and reads fetched models from the rows it receives. Any other
/// ``DataStore`` sees ``DataStoreSnapshot``s and `Codable`, as documented by Apple.
public protocol RowStore: DataStore {
  /// Whether the store was opened for writing.
  var allowsSave: Bool { get }

  /// The number of the table that keeps an entity's rows, or `nil` if the store has no such entity.
  func table(forEntityNamed name: String) -> UInt16?

  /// Reserves keys for new rows of a table: sequential, and never given out again.
  ///
  /// - Throws: An error if the store must request keys from elsewhere and cannot.
  func reserveKeys(_ count: Int, inTable table: UInt16) throws -> Range<UInt64>

  /// Number of commits the store has seen, from any process; `nil`, the default, if the store does not count.
  ///
  /// Two equal values mean that nothing was saved in between, and a save without concurrent ones increases it by one.
  var changeCount: UInt64? { get }

  /// Reserves numbers greater than every number given out before, by any context, in any run.
  ///
  /// - Throws: An error if the store must request numbers from elsewhere and cannot.
  func reserveRanks(_ count: Int) throws -> Range<Int64>

  /// Whether the store keeps dates with less precision than `Date` has; see ``storedDate(_:)``.
  var roundsDates: Bool { get }

  /// Returns the date that the store would return for a saved date: by default the same.
  ///
  /// A context gives changed models these dates before it saves them, so that an object in memory and its row agree.
  func storedDate(_ date: Date) -> Date

  /// Makes the changes that `body` writes durable, all or none.
  ///
  /// - Returns: The bookmark after the save, if the store keeps a history.
  /// - Throws: ``DanglingReferences`` if the save would leave a reference to a row that does not exist.
  func saveRows(
    for editingState: EditingState,
    _ body: (any RowChangeSink) throws -> Void
  ) throws -> (any HistoryToken)?

  /// Returns the rows that match a request: filtered, sorted, and cut to limit and offset.
  ///
  /// Rows with equal sort keys, and those of a request without any, are in ascending order of their
  /// references.
  ///
  /// - Throws: ``DataStoreError/preferInMemoryFilter`` and ``DataStoreError/preferInMemorySort``, as in `fetch`.
  func fetchRows<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [FetchedRow] where T: PersistentModel

  /// Returns the names of the rows that match a request, in the order of ``fetchRows(_:)``.
  ///
  /// - Throws: As ``fetchRows(_:)``.
  func fetchReferences<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [RowReference] where T: PersistentModel

  /// Returns the rows with the given names, in that order; `nil` for a row that does not exist.
  func rows(at references: [RowReference]) throws -> [FetchedRow?]

  /// Returns the rows of a table whose reference column names `target`, in ascending order of rank, then of key.
  func rows(
    referringTo target: RowReference,
    inTable table: UInt16,
    column: Int
  ) throws -> [ReferringRow]

  /// Reads a value that ``RowChangeSink/addBlob(_:)`` put into a side file.
  ///
  /// - Parameters:
  ///   - blob: The reference to the file in the row, as it was read.
  ///   - row: The row. If it has another value by now, that value is returned.
  ///   - column: The value's column.
  /// - Returns: `nil` if the row, or its value, is gone.
  /// - Throws: An error if the file is damaged; the rest of the row can still be read.
  func readBlob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data?
}

extension RowStore {
  public var changeCount: UInt64? { nil }
  public var roundsDates: Bool { false }
  public func storedDate(_ date: Date) -> Date { date }

  /// For stores that find names only by reading rows.
  public func fetchReferences<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> [RowReference] where T: PersistentModel {
    try fetchRows(request).map(\.reference)
  }

  /// For stores that keep all values in rows.
  public func readBlob(
    _ blob: BlobReference,
    of row: RowReference,
    column: Int
  ) throws -> Data? { nil }
}

/// The destination of the changes of a save; made by the store.
public protocol RowChangeSink: AnyObject {
  /// Adds a row.
  ///
  /// A sink throws nothing: `saveRows` throws its errors after the block has returned.
  ///
  /// - Parameters:
  ///   - reference: The row's table and key, as the store gave it out.
  ///   - row: The bytes of the row, in the layout of its table; the sink copies what it keeps.
  func insert(_ reference: RowReference, row: RawSpan)
  /// Replaces a row that the store has.
  ///
  /// - Parameters:
  ///   - reference: The row's table and key.
  ///   - changed: The columns that differ; the store may write these alone.
  ///   - row: The whole new row, in the layout of its table; the sink copies what it keeps.
  func update(_ reference: RowReference, changed: ColumnSet, row: RawSpan)
  /// Removes a row that the store has.
  ///
  /// - Parameter reference: The row's table and key.
  func delete(_ reference: RowReference)

  /// Puts a large value into a side file, for a row of this save.
  ///
  /// - Returns: The row's reference to the file, or `nil` if the value must be in the row.
  func addBlob(_ bytes: RawSpan) throws -> BlobReference?
}

extension RowChangeSink {
  /// For stores that keep all values in rows.
  public func addBlob(_ bytes: RawSpan) throws -> BlobReference? { nil }
}
