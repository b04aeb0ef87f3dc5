import Locking
import LogFormat
public import RowFormat
import Synchronization

/// The store as of one commit: a view still sees that state after any number of later commits.
///
/// Creating a view copies nothing. The view holds its state until it is released; files that compaction makes superfluous stay
/// on disk that long.
public final class ReadView: Sendable {
  /// The newest commit that the view sees.
  public let sequence: CommitSequence
  /// The catalogue as of that commit.
  public let catalogue: Catalogue
  let state: StoreState
  /// The row counts, by table.
  private let rowCounts: [Int]
  private let pin: PinBoard.Pin
  /// The earlier view that guarantees that the state is still there.
  private let holder: ReadView?

  package init(state: StoreState) {
    self.state = state
    holder = nil
    // Comes first, so that nothing the view will see can be removed before it exists: it sees this commit or a later one.
    (pin, _) = state.visibility.pins.pin(
      state.visibility.visible,
      at: state.fileSystem.microseconds()
    )
    // Counts and commit belong together, so both are read again if they change meanwhile.
    while true {
      let before = state.visibility.publication.load(ordering: .acquiring)
      let sequence = state.visibility.visible.load(ordering: .acquiring)
      let catalogue = state.visibility.catalogue.withLock { $0 }
      var counts = Array(repeating: 0, count: Int(catalogue.tables.last?.number ?? 0) + 1)
      for table in catalogue.tables {
        let number = Int(table.number)
        // Tables come in the order of their numbers, but a damaged log may say otherwise.
        while counts.count <= number { counts.append(0) }
        state.tables.with(number) { counts[number] = $0.liveRowCount.load(ordering: .relaxed) }
      }
      atomicMemoryFence(ordering: .acquiring)
      if before & 1 == 0, state.visibility.publication.load(ordering: .relaxed) == before {
        self.sequence = CommitSequence(sequence)
        self.catalogue = catalogue
        rowCounts = counts
        break
      }
    }
  }

  /// Pins an earlier commit whose catalogue and row counts are known.
  init(
    state: StoreState,
    _ sequence: CommitSequence,
    _ catalogue: Catalogue,
    rowCounts: [UInt16: Int],
    heldBy holder: ReadView? = nil
  ) {
    self.state = state
    self.sequence = sequence
    self.catalogue = catalogue
    self.holder = holder
    self.rowCounts = (0...(rowCounts.keys.max() ?? 0)).map { rowCounts[$0] ?? 0 }
    pin = state.visibility.pins.pin(sequence.rawValue, at: state.fileSystem.microseconds())
  }

  /// Returns a view of a later commit for reading rows by their names; it has no row counts.
  ///
  /// As long as an earlier commit is pinned, compaction folds none behind it. So the new view retains this one, or the view
  /// that this one retains.
  ///
  /// - Parameter sequence: A visible commit, no older than the holder's.
  /// - Returns: The view.
  /// - Complexity: O(1), whereas ``StorageEngine/makeReadView(at:)`` reads the log for more information.
  package func rows(of sequence: CommitSequence) -> ReadView {
    let holder = self.holder ?? self
    precondition(
      holder.sequence <= sequence
        && sequence.rawValue <= state.visibility.visible.load(ordering: .acquiring),
      "commit \(sequence.rawValue) is not known to be there"
    )
    let catalogue = state.visibility.catalogue.withLock { $0 }
    return ReadView(state: state, sequence, catalogue, rowCounts: [:], heldBy: holder)
  }

  deinit { state.visibility.pins.unpin(pin) }

  /// Returns the number of rows in a table.
  public func rowCount(of table: UInt16) -> Int {
    Int(table) < rowCounts.count ? rowCounts[Int(table)] : 0
  }

  /// Whether a row exists.
  public func contains(_ reference: RowReference) throws -> Bool { try reader.lookUp(reference) }

  /// Lends the bytes of a row, with their layout.
  ///
  /// - Returns: The result of `body`; `nil` if there is no such row.
  /// - Throws: ``/LogFormat/StorageError`` if the row's bytes are damaged, or any error that `body` throws.
  @inlinable public func withRow<R>(
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> R
  ) throws -> R? {
    var result: R?
    try readRow(reference) { row, layout in result = try body(row, layout) }
    return result
  }

  @usableFromInline
  func readRow(
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> Void
  ) throws {
    try reader.lookUp(reference, body)
  }

  /// Returns the first key of a table, at or after `key`, that the index contains, whether the view sees its row or not.
  ///
  /// - Complexity: O(log keys), however far apart they are.
  package func firstKey(of table: UInt16, from key: UInt64) -> UInt64? {
    state.tables.with(Int(table)) { $0.pages.next(from: key, to: $0.pages.keyLimit)?.key } ?? nil
  }

  /// Returns the number of rows, of some, whose newest state is in a pack.
  ///
  /// - Complexity: O(keys): of each, eight bytes of the index are looked at.
  package func packedRowCount(among keys: [UInt64], in table: UInt16) -> Int {
    state.tables.with(Int(table)) { table in
      keys.count { table.pages.location(of: $0).isPacked }
    } ?? 0
  }

  /// Finds a row of a table by the number of rows before it, which are not read.
  ///
  /// - Parameters:
  ///   - table: The table; a missing table has no rows.
  ///   - start: The first key that counts.
  ///   - count: The number of rows to skip; on return, the number that is left to skip.
  ///   - isExcluded: Whether the row of a key does not count.
  /// - Returns: The key of the row behind the skipped ones; `nil` if there is none.
  /// - Throws: ``/LogFormat/StorageError`` if a record that has to be asked is damaged.
  /// - Complexity: O(keys): eight bytes of the index are examined for each, and the record only of a row that has changed since.
  package func key(
    of table: UInt16,
    from start: UInt64,
    skipping count: inout Int,
    excluding isExcluded: (UInt64) -> Bool
  ) throws -> UInt64? {
    try state.watchingReads {
      try reader.key(of: table, from: start, skipping: &count, excluding: isExcluded)
    }
  }

  /// Visits the rows of a table in key order, without an allocation per row.
  ///
  /// - Parameters:
  ///   - table: The table; a missing table has no rows.
  ///   - keys: The keys to visit; all, if `nil`.
  ///   - body: Called with each row's key, layout and bytes, which it must not keep.
  /// - Throws: ``/LogFormat/StorageError`` if a row's bytes are damaged, or any error that `body` throws.
  public func scan(
    _ table: UInt16,
    in keys: Range<UInt64>? = nil,
    _ body: (_ key: UInt64, LayoutNumber, _ row: RawSpan) throws -> ScanControl
  ) throws {
    try state.watchingReads { try reader.scan(table, in: keys, body) }
  }

  /// Visits some rows of a table in key order, without an allocation per row.
  ///
  /// - Parameters:
  ///   - table: The table; one that does not exist has no rows.
  ///   - keys: The keys to visit, ascending; a key without a row is skipped.
  ///   - columns: The numbers of the columns that `body` looks at: the values of others may be null. `nil` for all.
  ///   - body: Called with each row's key, layout and bytes, which it must not keep.
  /// - Throws: ``/LogFormat/StorageError`` if a row's bytes are damaged, or any error that `body` throws.
  /// - Complexity: O(keys); for rows in packs whole blocks are assembled, each once, or a few rows cut out of them.
  public func scan(
    _ table: UInt16,
    keys: [UInt64],
    columns: [UInt16]? = nil,
    _ body: (_ key: UInt64, LayoutNumber, _ row: RawSpan) throws -> ScanControl
  ) throws {
    try state.watchingReads { try reader.scan(table, keys: keys.span, columns: columns, body) }
  }

  /// Whether rows may be in packs.
  package var mayHavePackedRows: Bool { state.files.base.withLock { $0 != nil } }

  private var reader: RowReader { RowReader(state: state, sequence: sequence.rawValue) }
}
