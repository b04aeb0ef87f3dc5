#if PostgreSQL
import PostgresStore
import RowFormat

/// A source and a target, with the steps of a move on either side, whichever of them is the server.
protocol MoveRoute: AnyObject {
  /// The source and the target, for people.
  var sourceName: String { get }
  var targetName: String { get }
  /// The identifier of the store.
  var identifier: String { get }
  /// The state of the source that is read, for people.
  var state: String { get }
  /// The tables of the source, as of that state.
  var tables: [TableDescription] { get }

  /// Number of rows of a table of the source.
  func rowCount(of table: TableDescription) throws -> Int

  /// The same, approximately and at once.
  func expectedRowCount(of table: TableDescription) throws -> Int

  /// Makes the target's tables; those of an earlier attempt go.
  func begin() throws

  /// Copies all rows of a table.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - step: Called for each row.
  /// - Returns: The digest of the rows that the source has, but for those that are read again by ``replace(_:in:)``.
  /// - Throws: ``MoveError``, `PostgresStoreError`, `StorageError`, or what `step` throws.
  func copy(_ table: TableDescription, step: () throws -> Void) throws -> RowDigest

  /// Reads all rows of a table, and writes nothing.
  func rehearse(_ table: TableDescription, step: () throws -> Void) throws -> RowDigest

  /// Reads back the target's rows of a table.
  func readBack(
    _ table: TableDescription,
    progress: (Int) throws -> Void
  ) throws -> RowDigest

  /// Does what can be done as soon as all rows are in the target, so that its first opening has less to do.
  func prepare() throws

  /// Moves on to the newest state of the source.
  ///
  /// - Returns: The rows that may have changed; `nil` if all have to be copied again.
  func advance() throws -> Set<RowReference>?

  /// Replaces rows in the target by those of the source's present state.
  ///
  /// - Parameters:
  ///   - keys: The keys, ascending.
  ///   - table: Their table.
  /// - Returns: The digests of the target's former rows, of the rows sent, and of its present rows.
  /// - Throws: ``MoveError``, `PostgresStoreError`, or `StorageError`.
  func replace(_ keys: [UInt64], in table: TableDescription) throws -> RowReplacement

  /// Whether rows were left out that have to be read again, as a later state has them.
  var isOwing: Bool { get }

  /// Whether apps have left the source: then none can come back before the route is released.
  func sourceIsClosed() throws -> Bool

  /// Moves on to the state of the source that the target will have.
  ///
  /// - Returns: As ``advance()``.
  func advanceToEnd() throws -> Set<RowReference>?

  /// Makes the target a store.
  func finish() throws

  /// Makes the target faster, by work that nothing has to wait for.
  func settle()
}

extension TableDescription {
  /// The positions of the columns with the places of rows in lists.
  var rankColumns: [Int] {
    columns.indices.filter { RankColumn.isOne(named: columns[$0].name, columns[$0].type) }
  }
}
#endif
