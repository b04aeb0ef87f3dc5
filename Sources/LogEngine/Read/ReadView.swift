import Locking
import LogFormat
public import RowFormat
import Synchronization

/// The store as one commit left it: however many follow, a view keeps seeing that state.
///
/// Making one copies nothing. It holds its state until it is released; what is later made superfluous
/// by compaction stays on disk that long.
public final class ReadView: Sendable {
  /// The newest commit the view sees.
  public let sequence: CommitSequence
  /// The catalogue as of that commit.
  public let catalogue: Catalogue
  let state: StoreState
  /// By table.
  private let rowCounts: [Int]
  private let pin: PinBoard.Pin
  /// The earlier view by which it is known that the state is there.
  private let holder: ReadView?

  package init(state: StoreState) {
    self.state = state
    holder = nil
    // First, so that nothing the view will see can be removed before it is made: it sees this commit
    // or a later one.
    (pin, _) = state.visibility.pins.pin(
      state.visibility.visible,
      at: state.fileSystem.microseconds()
    )
    // Counts and commit belong together, so both are read again if they were being changed.
    while true {
      let before = state.visibility.publication.load(ordering: .acquiring)
      let sequence = state.visibility.visible.load(ordering: .acquiring)
      let catalogue = state.visibility.catalogue.withLock { $0 }
      var counts = Array(repeating: 0, count: Int(catalogue.tables.last?.number ?? 0) + 1)
      for table in catalogue.tables {
        let number = Int(table.number)
        // Tables come in the order of their numbers, unless the log says otherwise.
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

  /// Pins an earlier commit, of which it is known what there was.
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

  /// Pins a later commit to read rows by their names: how many there are, the view does not know.
  ///
  /// As long as an earlier commit is pinned, compaction folds none behind it. So this view is held by that one, or by what
  /// holds it.
  ///
  /// - Parameter sequence: The commit, which the holder's is not behind, and which is visible.
  /// - Returns: The view.
  /// - Complexity: O(1), whereas ``StorageEngine/makeReadView(at:)`` reads the log to know more.
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

  /// How many rows a table has.
  public func rowCount(of table: UInt16) -> Int {
    Int(table) < rowCounts.count ? rowCounts[Int(table)] : 0
  }

  /// Whether a row exists.
  public func contains(_ reference: RowReference) throws -> Bool { try reader.lookUp(reference) }

  /// Lends the bytes of a row, with the layout they are in.
  ///
  /// - Returns: What `body` returned, or `nil` if there is no such row.
  /// - Throws: ``/LogFormat/StorageError`` if the row's bytes are damaged, or what `body` throws.
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

  /// The first key of a table from one on that the index names, whether the view sees its row or not.
  ///
  /// - Complexity: O(log keys), however far apart they are.
  package func firstKey(of table: UInt16, from key: UInt64) -> UInt64? {
    state.tables.with(Int(table)) { $0.pages.next(from: key, to: $0.pages.keyLimit)?.key } ?? nil
  }

  /// Visits the rows of a table in key order, without an allocation per row.
  ///
  /// - Parameters:
  ///   - table: The table; one that does not exist has no rows.
  ///   - keys: The keys to visit; all, if `nil`.
  ///   - body: Called with each row's key, layout and bytes, which it must not keep.
  /// - Throws: ``/LogFormat/StorageError`` if a row's bytes are damaged, or what `body` throws.
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
  ///   - keys: The keys to visit, ascending; one that has no row is passed over.
  ///   - body: Called with each row's key, layout and bytes, which it must not keep.
  /// - Throws: ``/LogFormat/StorageError`` if a row's bytes are damaged, or what `body` throws.
  /// - Complexity: O(keys); of rows in packs whole blocks are put together, each once.
  public func scan(
    _ table: UInt16,
    keys: [UInt64],
    _ body: (_ key: UInt64, LayoutNumber, _ row: RawSpan) throws -> ScanControl
  ) throws {
    try state.watchingReads { try reader.scan(table, keys: keys.span, body) }
  }

  private var reader: RowReader { RowReader(state: state, sequence: sequence.rawValue) }
}
