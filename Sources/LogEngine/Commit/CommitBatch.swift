import LogFormat
public import RowFormat
import Synchronization

/// The changes of one commit, encoded as they are made.
///
/// Created by ``StorageEngine/makeBatch()`` and reused after each commit, so that its memory is allocated once. Encoding takes
/// no lock: many threads fill their own batches at once.
///
///     var batch = engine.makeBatch()
///     batch.insert(row, layout: layout, row: bytes)
///     let sequence = try engine.commit(&batch)
///
/// A mistake in the arguments (an invalid row, a key in use) is recorded and thrown by the commit, which then changes nothing.
public struct CommitBatch: ~Copyable {
  /// The author of the commit, for the history; at most 255 bytes of UTF-8.
  public var author: String?
  /// The log's bytes: frame headers, still blank, and payloads.
  package var buffer = ByteBuffer(capacity: 1024)
  /// The offset in the buffer at which each frame starts.
  var frameStarts: [Int] = []
  /// The records that will be dead once this commit is in the log.
  var superseded = SupersededBytes()
  /// The catalogue after this commit; `nil` if the commit does not change it.
  var catalogue: CatalogueVersion?
  /// The side files written for this batch.
  var newBlobs: NewBlobs?
  /// The side files whose rows will no longer own them.
  var releasedBlobs: [BlobID] = []
  /// The first mistake.
  var failure: StorageError? {
    didSet { hasFailed = failure != nil }
  }
  /// Whether there is a failure: checked at each row, where looking at the error would copy it.
  private(set) var hasFailed = false
  /// The changed columns of the rows that were written whole, by the offset of their records: needed to rebase the batch.
  var partialImages = RecordMap<ColumnSet>()
  /// The rows with spliced lists, whole: needed likewise.
  var splicedRows = SplicedRows()
  /// The end of the last record in the buffer.
  var recordsEnd = 0
  /// The start of the last record in the buffer.
  private(set) var lastRecord = 0
  /// The row of the last record, and whether all rows came in ascending order: then there is no duplicate.
  var lastReference = RowReference.none
  var isAscending = true
  /// Memory for reading rows.
  var spareChain: RowChain?
  /// Whether the author's name is behind the records.
  var isFinished = false
  /// The number of records added.
  public internal(set) var count = 0
  let state: StoreState

  init(state: StoreState) { self.state = state }

  /// Whether nothing was added.
  public var isEmpty: Bool { count == 0 }

  /// Removes all changes and keeps the memory.
  public mutating func removeAll() {
    buffer.removeAll()
    frameStarts.removeAll(keepingCapacity: true)
    superseded.removeAll()
    catalogue = nil
    newBlobs = nil
    releasedBlobs.removeAll()
    failure = nil
    author = nil
    partialImages.removeAll()
    splicedRows.removeAll()
    recordsEnd = 0
    lastReference = .none
    isAscending = true
    isFinished = false
    count = 0
  }

  /// Forgets the records after the log has taken the memory that they are in.
  mutating func forgetRecords() {
    frameStarts.removeAll(keepingCapacity: true)
    recordsEnd = 0
  }
}

// MARK: Changes

extension CommitBatch {
  /// Adds a row.
  ///
  /// - Parameters:
  ///   - reference: Its name; a key from ``StorageEngine/reserveKeys(_:in:)``.
  ///   - layout: The layout of its bytes.
  ///   - row: The row, as `RowWriter` writes it.
  public mutating func insert(
    _ reference: RowReference,
    layout: LayoutNumber,
    row: RawSpan
  ) {
    guard let table = checkedTable(reference), check(row, layout, table, reference) else { return }
    let location = table.pages.location(of: reference.key)
    guard location.isNone else { return fail(.rowExists(reference)) }
    if table.mayOwnBlobs.load(ordering: .relaxed) {
      guard let layout = table.layouts[Int(layout.rawValue)] else { return }
      ownBlobs(of: row, layout, reference)
    }
    appendWhole(.insert, reference, layout, row, previous: .none)
  }

  /// Changes a row.
  ///
  /// The record holds the difference as long as that pays: the changed columns, and for a long list of references only the
  /// insertions and removals.
  ///
  /// - Parameters:
  ///   - reference: The row; it must exist.
  ///   - layout: The layout of the new bytes.
  ///   - changed: The columns that are changed, by position in the layout; the others keep the values of the newest row,
  ///     whatever `row` has there.
  ///   - row: A complete row.
  public mutating func update(
    _ reference: RowReference,
    layout: LayoutNumber,
    changed: ColumnSet,
    row: RawSpan
  ) {
    guard let table = checkedTable(reference), check(row, layout, table, reference) else { return }
    do {
      let ticket = state.files.epochs.enter()
      defer { state.files.epochs.leave(ticket) }
      if table.mayOwnBlobs.load(ordering: .relaxed) {
        try replaceBlobs(of: reference, table, layout: layout, changed: changed, row: row) {
          try $0.appendUpdate(reference, table, layout, changed, $1)
        }
      } else {
        try appendUpdate(reference, table, layout, changed, row)
      }
    } catch let error as StorageError {
      fail(error)
    } catch {
      fail(.rowNotFound(reference))
    }
  }

  /// Deletes a row.
  ///
  /// - Parameters:
  ///   - reference: The row; it must exist.
  ///   - layout: The layout of `preserved`.
  ///   - preserved: The part of the row that the history keeps: a row in which all other columns are null. Of values in side
  ///     files it keeps only the names: the files go with the row.
  public mutating func delete(
    _ reference: RowReference,
    layout: LayoutNumber = .none,
    preserving preserved: RawSpan? = nil
  ) {
    guard let table = checkedTable(reference) else { return }
    if let preserved, !check(preserved, layout, table, reference) { return }
    let location = table.pages.location(of: reference.key)
    guard location.isRow else { return fail(.rowNotFound(reference)) }
    do {
      let ticket = state.files.epochs.enter()
      defer { state.files.epochs.leave(ticket) }
      if table.mayOwnBlobs.load(ordering: .relaxed) {
        try releaseBlobs(of: reference, at: location)
      }
      try supersedeChain(of: reference, endingAt: location.place)
      let start = beginRecord(.delete, reference, layout, previous: location.place)
      if let preserved { buffer.append(preserved) }
      endRecord(start, headerByteCount: RecordHeader.longByteCount)
    } catch let error as StorageError {
      fail(error)
    } catch {
      fail(.rowNotFound(reference))
    }
  }

  /// Adds a record of catalogue changes.
  ///
  /// - Parameters:
  ///   - changes: The changes to log.
  ///   - result: The catalogue after the changes.
  mutating func changeCatalogue(_ changes: RawSpan, to result: CatalogueVersion?) {
    catalogue = result
    let start = beginRecord(.catalogue, .none, .none, previous: .none)
    buffer.append(changes)
    endRecord(start, headerByteCount: RecordHeader.shortByteCount)
  }
}

// MARK: Records and frames

extension CommitBatch {
  mutating func appendWhole(
    _ kind: RecordKind,
    _ reference: RowReference,
    _ layout: LayoutNumber,
    _ row: RawSpan,
    previous: RecordPlace
  ) {
    let start = beginRecord(kind, reference, layout, previous: previous, room: row.byteCount)
    buffer.append(row)
    endRecord(
      start,
      headerByteCount: kind.hasPrevious ? RecordHeader.longByteCount : RecordHeader.shortByteCount
    )
  }

  /// Appends a record's header, in a new frame if the current one is full.
  mutating func beginRecord(
    _ kind: RecordKind,
    _ reference: RowReference,
    _ layout: LayoutNumber,
    previous: RecordPlace,
    depth: UInt8 = 0,
    room: Int = 0
  ) -> Int {
    if let last = frameStarts.last {
      // An empty frame takes a record of any size.
      if buffer.count - last + room > FrameHeader.payloadTarget && buffer.count > recordsStart(last)
      {
        beginFrame()
      }
    } else {
      beginFrame()
    }
    let start = buffer.count
    let header = RecordHeader(
      kind: kind,
      depth: depth,
      table: reference.table,
      bodyLength: 0,
      key: reference.key,
      layout: layout,
      distance: start - (frameStarts.last ?? start),
      load: 0,
      checksum: 0,
      previous: previous
    )
    header.encode(into: &buffer)
    if reference <= lastReference { isAscending = false }
    lastReference = reference
    count += 1
    return start
  }

  mutating func endRecord(_ start: Int, headerByteCount: Int) {
    let bodyLength = buffer.count - start - headerByteCount
    guard bodyLength <= RecordHeader.bodyLimit else {
      return fail(.tooLarge(byteCount: bodyLength, limit: RecordHeader.bodyLimit))
    }
    RecordHeader.seal(at: start, bodyLength: bodyLength, in: &buffer)
    lastRecord = start
    recordsEnd = buffer.count
  }

  private mutating func beginFrame() {
    frameStarts.append(buffer.count)
    buffer.appendZeros(FrameHeader.byteCount + CommitPayload.byteCount)
  }

  private func recordsStart(_ frameStart: Int) -> Int {
    frameStart + FrameHeader.byteCount + CommitPayload.byteCount
  }

  mutating func checkedTable(_ reference: RowReference) -> Table? {
    if hasFailed { return nil }
    guard let table = state.tables[Int(reference.table)] else {
      fail(.unknownTable(reference.table))
      return nil
    }
    return accepts(reference, in: table) ? table : nil
  }

  /// Whether a row of a table can be changed; if not, the batch fails.
  mutating func accepts(_ reference: RowReference, in table: Table) -> Bool {
    if hasFailed { return false }
    guard table.removedAt.load(ordering: .relaxed) == .max else {
      fail(.unknownTable(reference.table))
      return false
    }
    guard 1...IndexPages.maximumKey ~= reference.key else {
      fail(.invalidKey(reference))
      return false
    }
    return true
  }

  private mutating func check(
    _ row: RawSpan,
    _ layout: LayoutNumber,
    _ table: Table,
    _ reference: RowReference
  ) -> Bool {
    guard
      let isValid = table.layouts.with(
        Int(layout.rawValue),
        { $0.isValid(row) && $0.hasValidBlobs(in: row) }
      )
    else {
      fail(.unknownLayout(table: table.number, layout: layout))
      return false
    }
    if !isValid { fail(.invalidRow(reference, layout: layout)) }
    return isValid
  }

  /// Records the mistake that the commit is to throw.
  package mutating func fail(_ error: StorageError) {
    if !hasFailed { failure = error }
  }
}
