import LogEngine
import RowFormat

/// A store as an index of its rows sees it.
protocol IndexedStore: AnyObject, Sendable {
  /// Whether this process commits, which posts each commit to the indexes; what others commit is read from the log.
  var allowsSave: Bool { get }
  /// The number of the newest commit that is visible.
  var newestCommit: UInt64 { get }
  /// The number of the newest visible commit that another process made beside this one; zero if there is none.
  var newestForeignCommit: UInt64 { get }

  /// Begins to post commits to an index that is about to be made.
  func recordRegistration()

  /// A view of all commits that have a number, whether they are visible yet or not.
  func makeReadViewOfAllCommits() -> ReadView

  /// Visits the rows of a table, each in the table's current layout; none if the schema has no such table.
  ///
  /// - Throws: What reading a row or `body` throws.
  func scan(
    _ table: UInt16,
    of view: ReadView,
    _ body: (_ key: UInt64, _ row: RawSpan, _ layout: RowLayout) throws -> Void
  ) throws

  /// Visits some rows of a table, as far as they are there, each in the table's current layout.
  ///
  /// - Parameters:
  ///   - table: The table's number.
  ///   - keys: The rows' keys, ascending.
  ///   - view: The state to read.
  ///   - body: Called with each row.
  /// - Throws: What reading a row or `body` throws.
  func scan(
    _ table: UInt16,
    keys: [UInt64],
    of view: ReadView,
    _ body: (_ key: UInt64, _ row: RawSpan, _ layout: RowLayout) throws -> Void
  ) throws

  /// The newest file of an index that is of this store's own past; `nil` if there is none that can be used.
  func openFile(of definition: IndexDefinition) -> SecondaryIndexFile?

  /// The words that the file of an index has, if it is of this store's own past; `nil` if there is none that can be used.
  func openWords(of definition: IndexDefinition) -> IndexedWords?

  /// Whether there was a file of an index, of this store's own past, when the store was opened.
  func hasFile(of definition: IndexDefinition) -> Bool

  /// Returns the changes between a commit and a view, as an index sees them, one for each row.
  ///
  /// - Returns: `nil` if there are too many, or they can no longer be told: then the index is made by a scan.
  func changes(
    of definition: IndexDefinition,
    after commit: CommitSequence,
    through view: ReadView
  ) -> [IndexChange]?

  /// Reports that the file of an index is damaged.
  func reportDamage(_ error: any Error)
}
