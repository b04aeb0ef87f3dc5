import Locking
import LogFormat
public import RowFormat
import SchedulePoints
import Synchronization

/// A store: rows under references, in commits, in a log that survives crashes.
///
///     let engine = try StorageEngine.open(at: "trips.store")
///     let catalogue = try engine.apply([.addTable(name: "Trip"), …])
///     let keys = engine.reserveKeys(1, in: 1)
///     var batch = engine.makeBatch()
///     batch.insert(RowReference(table: 1, key: keys.lowerBound), layout: layout, row: bytes)
///     try engine.commit(&batch)
///
/// Any number of threads commit and read at once; readers never wait for a writer. A commit is all or nothing, and a crash
/// leaves the state after one of the commits: with ``EngineOptions/Durability-swift.enum/full``, one no older than the last
/// that returned.
public final class StorageEngine: Sendable {
  package let state: StoreState
  let writer: LogWriter?
  let follower: Follower?
  let lock: Lock<(any FileLock)?>
  /// The report of the store's opening.
  public let recovery: RecoveryReport
  /// Held while the catalogue is changed.
  let catalogueChange = Lock<Void>((), .catalogueChange)
  /// Watches for other processes' commits, if several write.
  let watching = Lock<TurnWatch?>(nil, .housekeepingWorker)
  /// The newest commit of another process when the handler of news was last called.
  let toldCommit = Atomic<UInt64>(0)

  init(
    state: StoreState,
    writer: LogWriter?,
    follower: Follower?,
    lock: (any FileLock)?,
    recovery: RecoveryReport
  ) {
    self.state = state
    self.writer = writer
    self.follower = follower
    self.lock = Lock(lock, .storeFile)
    self.recovery = recovery
  }

  // Released without being closed: every commit is as safe as its durability promises.
  deinit {
    stopWatching()
    writer?.housekeeper.stop()
    state.files.blobs.isOpen.store(false, ordering: .releasing)
    state.events.deliver()
  }

  /// Opens a store, and recovers it after a crash.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - options: How to open it.
  ///   - fileSystem: The file system that holds the store.
  ///   - onEvent: Receives the store's events while it is open; see ``EngineEvent``.
  /// - Returns: The open store.
  /// - Throws: ``/LogFormat/StorageError/locked(path:holder:)`` if another process writes the store;
  ///   ``/LogFormat/StorageError/corruption(_:)`` if data that was on disk is missing.
  /// - Complexity: O(log written since the last checkpoint), and one header for each segment.
  public static func open(
    at path: String,
    options: EngineOptions = .init(),
    fileSystem: any FileSystem = PosixFileSystem(),
    onEvent: EngineEventHandler? = nil
  ) throws(StorageError) -> StorageEngine {
    try open(at: path, options: options, fileSystem: fileSystem, onEvent: onEvent, holding: nil)
  }

  /// Opens a store whose lock may be held already; see ``hold(at:on:)``.
  package static func open(
    at path: String,
    options: EngineOptions,
    fileSystem: any FileSystem = PosixFileSystem(),
    onEvent: EngineEventHandler?,
    holding lock: (any FileLock)?
  ) throws(StorageError) -> StorageEngine {
    var opening = Opening(
      paths: StorePaths(root: try fileSystem.resolvingLink(path)),
      options: options,
      fileSystem: fileSystem,
      onEvent: onEvent
    )
    opening.lock = lock
    let engine = try opening.run()
    engine.state.events.deliver()
    return engine
  }
}

// MARK: Catalogue and keys

extension StorageEngine {
  /// The tables and their layouts, as of the newest commit.
  public var catalogue: Catalogue { state.visibility.catalogue.withLock { $0 } }

  /// Changes the catalogue: all steps or none, logged like any commit.
  ///
  /// - Parameter changes: The steps, in order.
  /// - Returns: The catalogue after them.
  /// - Throws: ``/LogFormat/StorageError/invalidCatalogueChange(_:)`` if a step contradicts the catalogue.
  @discardableResult
  public func apply(_ changes: [CatalogueChange]) throws(StorageError) -> Catalogue {
    let writer = try requireWriter()
    return try state.watchingWrites { () throws(StorageError) in
      try catalogueChange.withLock { _ throws(StorageError) in try apply(changes, writer) }
    }
  }

  private func apply(
    _ changes: [CatalogueChange],
    _ writer: LogWriter
  ) throws(StorageError) -> Catalogue {
    try writer.inTurn { () throws(StorageError) in try applyInTurn(changes, writer) }
  }

  private func applyInTurn(
    _ changes: [CatalogueChange],
    _ writer: LogWriter
  ) throws(StorageError) -> Catalogue {
    let catalogue = catalogue
    let version = try CatalogueVersion(changes, of: catalogue)
    if version.catalogue == catalogue { return catalogue }
    var body = ByteBuffer()
    for change in changes { change.encode(into: &body) }
    var batch = makeBatch()
    batch.changeCatalogue(body.bytes, to: version)
    // The blobs of a removed table's rows must stay readable for a moment longer.
    let before = makeReadView()
    let sequence = try writer.commit(&batch)
    for case .removeTable(let number) in changes {
      state.retireBlobs(ofTable: number, removedBy: sequence.rawValue)
    }
    withExtendedLifetime(before) {}
    return version.catalogue
  }

  /// Reserves keys that were never reserved before: ascending from 1, never reused once a row had them.
  ///
  /// In a store that several processes write, use ``takeKeys(_:in:)``; this traps.
  ///
  /// - Complexity: One atomic addition.
  public func reserveKeys(_ count: Int, in table: UInt16) -> Range<UInt64> {
    guard count > 0, let table = state.tables[Int(table)] else { return 0..<0 }
    precondition(!hasOtherWriters, "keys that another process may give out, too")
    let end = table.nextKey.add(UInt64(count), ordering: .relaxed).newValue
    return (end - UInt64(count))..<end
  }

  /// Returns the first key of the next reservation.
  public func nextKey(in table: UInt16) -> UInt64 {
    state.tables[Int(table)]?.nextKey.load(ordering: .relaxed) ?? 1
  }
}

// MARK: Writing

extension StorageEngine {
  /// Returns an empty batch, to be filled and committed, and reused.
  public func makeBatch() -> CommitBatch { CommitBatch(state: state) }

  /// Commits a batch, and empties it.
  ///
  /// Blocks until the commit is as safe as the options ask for; commits of other threads share the wait. A batch that fails
  /// changes nothing and is left unchanged.
  ///
  /// - Returns: The commit's number; the newest commit's, if the batch is empty.
  /// - Throws: ``/LogFormat/StorageError``: for a read-only store, a full device, a batch that contradicts the catalogue, a
  ///   turn that does not come, or, after a failed write, ``/LogFormat/StorageError/poisoned(path:cause:)``.
  @discardableResult
  public func commit(_ batch: inout CommitBatch) throws(StorageError) -> CommitSequence {
    let writer = try requireWriter()
    precondition(batch.state === state, "a batch of another store")
    if batch.isEmpty && batch.failure == nil { return lastCommit }
    SchedulePoint.beforeCommit.reach()
    let sequence = try state.watchingWrites { () throws(StorageError) in try writer.commit(&batch) }
    batch.removeAll()
    SchedulePoint.afterCommit.reach()
    return sequence
  }

  /// Commits a batch together with a participant that is kept in step with the rows.
  ///
  /// - Parameters:
  ///   - batch: The batch; as for ``commit(_:)``.
  ///   - participant: Sees the commit, in the order of the commits.
  /// - Returns: The commit's number; `nil` if the participant gave it up.
  /// - Throws: ``/LogFormat/StorageError``; then nothing of the batch will be visible.
  package func commit(
    _ batch: inout CommitBatch,
    with participant: any CommitParticipant
  ) throws(StorageError) -> CommitSequence? {
    let writer = try requireWriter()
    precondition(batch.state === state, "a batch of another store")
    if batch.isEmpty && batch.failure == nil { return lastCommit }
    SchedulePoint.beforeCommit.reach()
    let sequence = try state.watchingWrites { () throws(StorageError) in
      try writer.commit(&batch, with: participant)
    }
    SchedulePoint.afterCommit.reach()
    if sequence != nil { batch.removeAll() }
    return sequence
  }

  /// Waits until every commit numbered so far is visible.
  package func makeAppendedVisible() throws(StorageError) {
    let sequence = state.log.tail.withLock { $0.sequence }
    try requireWriter().write(through: sequence)
  }

  /// Synchronizes everything committed so far, whatever the durability.
  ///
  /// - Throws: ``/LogFormat/StorageError``; the store accepts no more commits if the log could not be synchronized.
  public func synchronize() throws(StorageError) {
    let writer = try requireWriter()
    try state.watchingWrites { () throws(StorageError) in try writer.synchronize() }
  }

  /// Writes the place of every row to disk, so that the next opening need not read the log up to here.
  ///
  /// Done automatically when a store is closed, and each time the log has grown by ``EngineOptions/checkpointInterval``.
  /// Commits and reads continue meanwhile; if several processes write, all commits wait.
  ///
  /// - Throws: ``/LogFormat/StorageError`` if it cannot be written. Only if the log cannot be synchronized, no further save can
  ///   be trusted; see ``/LogFormat/StorageError/poisoned(path:cause:)``.
  /// - Complexity: O(keys): eight bytes are written for each.
  public func checkpoint() throws(StorageError) {
    defer { state.events.deliver() }
    try requireWriter().checkpoint()
  }

  func requireWriter() throws(StorageError) -> LogWriter {
    guard let writer else { throw .readOnly(path: state.paths.root) }
    return writer
  }
}

// MARK: Reading

extension StorageEngine {
  /// The newest commit that is visible to readers.
  public var lastCommit: CommitSequence {
    CommitSequence(state.visibility.visible.load(ordering: .acquiring))
  }

  /// The newest commit since the store was opened that changed rows of a table; zero if there was none.
  ///
  /// It may not be visible yet. A commit that is visible when this is called is never overlooked.
  ///
  /// - Complexity: O(1).
  package func newestChange(of table: UInt16) -> CommitSequence {
    CommitSequence(state.tables[Int(table)]?.newestChange.load(ordering: .relaxed) ?? 0)
  }

  /// Pins the newest commit: the view sees that state, whatever is committed later.
  public func makeReadView() -> ReadView { ReadView(state: state) }

  /// Pins a commit that is no older than any numbered so far.
  ///
  /// Commits that are numbered but not visible are written first, as the committing threads would do. After a failed write they
  /// will never be visible, and the view is of the newest visible commit.
  package func makeReadViewOfAllCommits() -> ReadView {
    let newest = state.log.tail.withLock { $0.sequence }
    if let writer, state.visibility.visible.load(ordering: .acquiring) < newest {
      try? writer.write(through: newest)
    }
    return makeReadView()
  }

  /// The oldest commit that an existing view, or one made from now on, can see.
  package var oldestCommitInUse: CommitSequence {
    CommitSequence(
      state.visibility.pins.oldest(upTo: state.visibility.visible.load(ordering: .acquiring))
    )
  }

  /// Lends the newest bytes of a row, with their layout.
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

  /// Whether a row exists.
  ///
  /// - Throws: ``/LogFormat/StorageError`` if a file cannot be read.
  public func contains(_ reference: RowReference) throws -> Bool { try reader.lookUp(reference) }

  /// Returns the number of rows in a table.
  ///
  /// - Complexity: O(1).
  public func rowCount(of table: UInt16) -> Int {
    guard let table = state.tables[Int(table)], reader.isThere(table) else { return 0 }
    return table.liveRowCount.load(ordering: .relaxed)
  }

  /// Visits the newest rows of a table in key order, without an allocation per row.
  ///
  /// Sees the state as of its beginning: commits made meanwhile are not visible.
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
    try state.watchingReads {
      let pin = state.pin()
      defer { state.visibility.pins.unpin(pin) }
      try reader.scan(table, in: keys, body)
    }
    SchedulePoint.afterScan.reach()
  }

  private var reader: RowReader {
    RowReader(state: state, sequence: state.visibility.visible.load(ordering: .acquiring))
  }
}

// MARK: Closing

extension StorageEngine {
  /// Closes the store, so that another process can open it for writing.
  ///
  /// The next opening then has nothing to recover. A store that is not closed is safe, too; it is recovered. Rows lent before
  /// stay readable, and no file descriptor is kept for them, unless the log is read without mappings.
  ///
  /// - Throws: ``/LogFormat/StorageError`` if the log could not be synchronized, or its end not be written.
  public func close() throws(StorageError) {
    defer {
      lock.withLock { $0 = nil }
      state.files.close()
      state.events.reportClosing()
      state.events.deliver()
    }
    writer?.housekeeper.stop()
    defer { state.files.blobs.isOpen.store(false, ordering: .releasing) }
    if let writer, let turns = writer.turns { return try leave(writer, turns) }
    try writer?.close()
  }

  /// Does one round of the work of the engine's thread: prepares the next segment, synchronizes, and writes a checkpoint if one
  /// is due.
  ///
  /// For stores opened with ``EngineOptions/BackgroundWork/caller``.
  public func performBackgroundWork() {
    if let writer { writer.housekeeper.run(for: writer) }
  }
}
