public import RowFormat
import Synchronization

/// A store of rows: appended in commits to a log, found through an index in memory.
public final class StorageEngine: Sendable {
  let state: StoreState
  private let log: Log?
  private let lock: (any FileLock)?
  private let isClosed = Atomic<Bool>(false)

  private init(state: StoreState, log: Log?, lock: (any FileLock)?) {
    self.state = state
    self.log = log
    self.lock = lock
  }

  /// Opens a store, or makes it.
  ///
  /// - Parameters:
  ///   - path: The store's directory.
  ///   - options: How it is opened.
  ///   - fileSystem: What all input and output goes through.
  /// - Returns: The open store.
  /// - Throws: ``StorageError`` that names the file and what is wrong with it.
  public static func open(
    at path: String,
    options: EngineOptions = .init(),
    fileSystem: any FileSystem = PosixFileSystem()
  ) throws(StorageError) -> StorageEngine {
    let paths = StorePaths(root: path)
    var manifest = try readManifest(paths, fileSystem)
    if manifest == nil {
      guard options.mode == .readWrite, options.missingStore == .create else {
        throw .missingStore(path: path)
      }
      try fileSystem.makeDirectory(path)
    }
    let lock = options.mode == .readWrite ? try takeLock(paths, fileSystem) : nil
    if manifest == nil { manifest = try makeStore(paths, options, fileSystem) }
    guard let manifest else { throw .missingStore(path: path) }
    if !options.application.isEmpty, options.application != manifest.application {
      throw .foreignStore(
        path: path,
        expected: options.application,
        found: manifest.application
      )
    }
    let state = StoreState(
      paths: paths,
      fileSystem: fileSystem,
      options: options,
      store: manifest.store
    )
    var replay = Replay(state)
    try replay.run()
    guard options.mode == .readWrite else {
      return StorageEngine(state: state, log: nil, lock: nil)
    }
    let end = replay.end
    // What was read may only be in the system's memory: it is made durable before anything follows it.
    if options.durability != .memory, let last = end.segment {
      try fileSystem.open(last.path, .write).synchronize()
    }
    if replay.isClosed, let last = end.segment, last.capacity < options.smallestSegment {
      let segment = try state.continueSegment(last, offset: end.offset)
      let log = Log(
        state,
        segment: segment,
        offset: end.offset,
        chain: end.chain,
        sequence: end.sequence,
        epoch: replay.epoch
      )
      return StorageEngine(state: state, log: log, lock: lock)
    }
    let header = SegmentHeader(
      store: manifest.store,
      segment: end.segment?.id.next ?? SegmentID(rawValue: 1),
      salt: fileSystem.randomBits(),
      firstSequence: CommitSequence(end.sequence + 1),
      logPosition: end.segment?.logPosition(of: end.offset) ?? 0,
      previousSegment: end.segment?.id ?? .none,
      previousEnd: end.offset,
      previousSequence: CommitSequence(end.sequence),
      previousChain: end.chain,
      epoch: replay.epoch + 1,
      created: fileSystem.microseconds()
    )
    let segment = try state.makeSegment(header, capacity: options.smallestSegment)
    let log = Log(
      state,
      segment: segment,
      chain: end.chain,
      sequence: end.sequence,
      epoch: header.epoch
    )
    return StorageEngine(state: state, log: log, lock: lock)
  }

  private static func readManifest(
    _ paths: StorePaths,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> Manifest? {
    guard let names = try fileSystem.list(paths.root) else { return nil }
    guard
      let number = names.compactMap({
        StorePaths.number(in: $0, prefix: StorePaths.manifestPrefix)
      }).max()
    else {
      if let other = names.first(where: {
        $0 != "LOCK" && $0 != "log" && $0 != "index" && $0 != "tmp"
      }) {
        throw .notAStore(path: paths.root, found: other)
      }
      return nil
    }
    let path = paths.manifest(number)
    let file = try fileSystem.open(path, .read)
    var buffer = ByteBuffer(capacity: BlockHeader.byteCount)
    try buffer.append(upTo: BlockHeader.byteCount) { (room) throws(StorageError) in
      try file.read(into: &room, at: 0)
    }
    return try Manifest(decoding: buffer.bytes, path: path)
  }

  private static func takeLock(
    _ paths: StorePaths,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> any FileLock {
    guard let lock = try fileSystem.lock(paths.lock) else {
      throw .locked(path: paths.root, holder: "another process, or this one")
    }
    return lock
  }

  private static func makeStore(
    _ paths: StorePaths,
    _ options: EngineOptions,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> Manifest {
    for directory in paths.directories { try fileSystem.makeDirectory(directory) }
    let manifest = Manifest(
      store: StoreIdentifier(low: fileSystem.randomBits(), high: fileSystem.randomBits()),
      created: fileSystem.microseconds(),
      application: options.application
    )
    var buffer = ByteBuffer(capacity: BlockHeader.byteCount)
    manifest.encode(into: &buffer)
    let temporary = paths.temporary("manifest")
    let file = try fileSystem.open(temporary, .create)
    try file.writeAll(buffer.bytes, at: 0)
    if options.durability != .memory { try file.synchronize() }
    try fileSystem.rename(temporary, to: paths.manifest(1))
    if options.durability != .memory { try fileSystem.synchronizeDirectory(paths.root) }
    return manifest
  }

  /// The tables and layouts as of the newest commit.
  public var catalogue: Catalogue { state.catalogue.withLock { $0 } }

  /// The newest commit.
  public var lastCommit: CommitSequence {
    CommitSequence(state.visible.load(ordering: .acquiring))
  }

  /// Changes the catalogue, durably.
  ///
  /// - Parameter changes: The changes, in order.
  /// - Returns: The catalogue after them.
  /// - Throws: ``StorageError/invalidCatalogueChange(_:)``, or what a commit throws.
  @discardableResult
  public func apply(_ changes: [CatalogueChange]) throws(StorageError) -> Catalogue {
    _ = try catalogue.applying(changes)
    var body = ByteBuffer()
    CatalogueRecord.encode(changes, into: &body)
    var batch = makeBatch()
    batch.changeCatalogue(body.bytes)
    _ = try commit(&batch)
    return catalogue
  }

  /// Gives out keys for new rows of a table: in order, and never again.
  public func reserveKeys(_ count: Int, in table: UInt16) -> Range<UInt64> {
    guard let table = state.tables[Int(table)] else { return 0..<0 }
    let first = table.nextKey.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue
    return first..<(first + UInt64(count))
  }

  /// An empty batch.
  public func makeBatch() -> CommitBatch { CommitBatch(state: state) }

  /// Makes a batch one commit, and empties it.
  ///
  /// - Parameter batch: The changes.
  /// - Returns: The commit's number.
  /// - Throws: ``StorageError``; the store is then as before.
  public func commit(_ batch: inout CommitBatch) throws(StorageError) -> CommitSequence {
    guard let log else { throw .readOnly(path: state.paths.root) }
    if isClosed.load(ordering: .acquiring) { throw .closed(path: state.paths.root) }
    if batch.isEmpty, batch.failure == nil { return lastCommit }
    let sequence = try log.commit(&batch)
    batch.removeAll()
    return sequence
  }

  /// Lends the newest version of a row.
  ///
  /// - Parameters:
  ///   - reference: The row.
  ///   - body: Given the row's bytes and their layout.
  /// - Returns: What `body` returned, or `nil` if there is no such row.
  /// - Throws: ``StorageError`` for damage, or what `body` throws.
  public func withRow<R>(
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> R
  ) throws -> R? {
    guard let table = state.tables[Int(reference.table)] else { return nil }
    let location = table.pages.location(of: reference.key)
    guard location.isRow else { return nil }
    return try state.withRow(location, reference, body)
  }

  /// Whether a row exists.
  public func contains(_ reference: RowReference) -> Bool {
    state.tables[Int(reference.table)]?.pages.location(of: reference.key).isRow ?? false
  }

  /// How many rows a table has.
  public func rowCount(of table: UInt16) -> Int {
    state.tables[Int(table)]?.liveRowCount.load(ordering: .relaxed) ?? 0
  }

  /// Walks the rows of a table in key order.
  ///
  /// - Parameters:
  ///   - table: The table's number.
  ///   - keys: Which keys; all by default.
  ///   - body: Given each row's key, layout and bytes.
  /// - Throws: ``StorageError`` for damage, or what `body` throws.
  public func scan(
    _ table: UInt16,
    in keys: Range<UInt64>? = nil,
    _ body: (UInt64, LayoutNumber, RawSpan) throws -> ScanControl
  ) throws {
    guard let found = state.tables[Int(table)] else { return }
    let range = keys ?? 0..<found.pages.keyLimit
    var key = range.lowerBound
    while let entry = found.pages.next(from: key, to: range.upperBound) {
      key = entry.key + 1
      guard entry.location.isRow else { continue }
      let control = try state.withRow(
        entry.location,
        RowReference(table: table, key: entry.key)
      ) { try body(entry.key, $1, $0) }
      if control == .stop { return }
    }
  }

  /// Makes what was committed so far durable.
  public func synchronize() throws(StorageError) {
    if let log { try log.synchronize(to: log.end) }
  }

  /// Makes everything durable and ends the log; commits made later throw.
  ///
  /// - Throws: ``StorageError`` if the end of the log could not be written; what was committed is safe
  ///   all the same.
  public func close() throws(StorageError) {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    try log?.close()
  }
}

/// Whether a scan goes on.
public enum ScanControl: Sendable, Hashable { case proceed, stop }

extension StoreState {
  /// Lends the row that ends at a location.
  func withRow<R>(
    _ location: RecordLocation,
    _ reference: RowReference,
    _ body: (RawSpan, LayoutNumber) throws -> R
  ) throws -> R {
    if location.depth == 0 {
      return try withSegment(location.segment) { segment in
        try segment.withRecord(at: location.offset) { header, bytes in
          let row = bytes.extracting(header.bodyRange)
          guard header.reference == reference,
            tables[Int(reference.table)]?.layouts.with(
              Int(header.layout.rawValue),
              { $0.isValid(row) }
            )
              == true
          else { throw inconsistent(location.place, in: segment, reference) }
          return try body(row, header.layout)
        }
      }
    }
    var scratch = FoldScratch()
    let layout = try fold(location.place, reference, &scratch)
    return try body(scratch.row, layout)
  }
}
