import LogEngine
import ModelRuntime
import RowFormat
import Synchronization

// Indexes outlive the process that made them: in files beside the checkpoints, each as of one commit. They are never
// needed; what is missing, damaged or of another past is made by a scan.

extension TableStore {
  /// Begins to write indexes to their files in the background: those of a store that others may open after this process.
  func startKeepingIndexes() {
    let options = engine.state.options
    guard allowsSave, closing == .withStore, options.background == .ownThread,
      options.durability != .memory, !engine.hasOtherWriters
    else { return }
    indexKeeper.start(logEnd: engine.logEnd) { [weak self] pace in
      self?.keepIndexesIfDue(&pace) ?? true
    }
    engine.state.files.onCompaction { [weak indexKeeper] in indexKeeper?.noteOutdated() }
  }

  /// Keeps the indexes if it is time.
  ///
  /// - Returns: Whether there is nothing left to be kept, or too little, until the next commit.
  func keepIndexesIfDue(_ pace: inout IndexKeepingPace) -> Bool {
    let (newest, logEnd) = (engine.lastCommit, engine.logEnd)
    let isQuiet = pace.isQuiet(at: newest.rawValue)
    guard pace.isDue(newest: newest.rawValue, logEnd: logEnd) else { return isQuiet }
    pace.noteKept(keepIndexes(handingOver: true), logEnd: logEnd)
    return engine.lastCommit == newest
  }

  /// Keeps the indexes that are in memory, so that the next process need not make them.
  ///
  /// An index that cannot be written is made by a scan when it is needed.
  ///
  /// - Parameter handsOver: Whether entries that are in a file leave memory, where it is as good to read them there.
  /// - Returns: The number of bytes written.
  /// - Complexity: O(entries) for an index that has no file, or of which much changed; otherwise what changed, and about
  ///   a hundredth of the file.
  @discardableResult
  func keepIndexes(handingOver handsOver: Bool = false) -> Int {
    // Another process may write the same file.
    guard allowsSave, engine.state.options.durability != .memory, !engine.hasOtherWriters else {
      return 0
    }
    let view = engine.makeReadViewOfAllCommits()
    guard let mark = try? engine.mark(of: view.sequence) else { return 0 }
    var digests: Set<UInt64> = []
    var byteCount = 0
    for index in indexes.all {
      let stamp = IndexStamp(
        sequence: view.sequence,
        mark: mark,
        digest: digest(of: index.definition)
      )
      digests.insert(stamp.digest.low)
      if !index.isBuilt {
        // Only if nothing at all was committed since is it known to be as of this commit.
        let sequence = indexFilesAtOpening[stamp.digest.low]?.sequence
        if sequence == stamp.sequence {
          _ = restamp(index, of: stamp.sequence, isWritten: false, stamp)
        }
        continue
      }
      if let sequence = index.unchangedSince,
        let count = restamp(index, of: sequence, isWritten: true, stamp)
      {
        byteCount += count
        index.noteWritten(as: view)
      } else if let count = try? keep(index, as: view, stamp) {
        byteCount += count
        index.noteWritten(as: view)
      }
      if handsOver { handOver(index, as: view) }
    }
    keyFiles.removeAll(but: digests)
    wordFiles.removeAll(but: digests)
    return byteCount
  }

  private func keep(
    _ index: LazyIndex,
    as view: ReadView,
    _ stamp: IndexStamp
  ) throws -> Int {
    let smallestCount = KeptIndexes.smallestCount.load(ordering: .relaxed)
    let store = engine.state.store
    // The next process reads the words of pending rows, should it search.
    switch try index.content(as: view, in: self, readsPendingWords: false) {
    case .words(let words)?:
      if index.tables.reduce(0, { $0 + view.rowCount(of: $1) }) < smallestCount {
        wordFiles.remove(stamp.digest.low)
        return 0
      }
      return try WordFileWriting(files: wordFiles, store: store).write(words, stamp)
    case let content?:
      let keys = try content.ordered()
      if keys.count < smallestCount {
        keyFiles.remove(stamp.digest.low)
        return 0
      }
      let header = SecondaryIndexHeader(stamp, wordCount: keys.wordCount)
      return try IndexFileWriting(files: keyFiles, store: store).write(keys, header)
    case nil: return 0
    }
  }

  /// Has the entries of an index that were just written be read in the file from now on.
  ///
  /// Those of unique keys stay in memory, where a look-up costs less than in a block; words are in memory in any case.
  private func handOver(_ index: LazyIndex, as view: ReadView) {
    guard engine.state.options.reads == .mapped, index.isInMemory,
      let file = openFile(of: index.definition), file.header.sequence == view.sequence
    else { return }
    index.handOver(to: file, as: view, in: self)
  }

  /// Updates the header of an index's file, which has not changed since its commit, to its commit's present place.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - sequence: The commit that the file is as of.
  ///   - isWritten: Whether this process has written it. Otherwise it must be of this store's own past.
  ///   - stamp: The stamp that it has from now on.
  /// - Returns: The number of bytes written; `nil` if there is no such file.
  private func restamp(
    _ index: LazyIndex,
    of sequence: CommitSequence,
    isWritten: Bool,
    _ stamp: IndexStamp
  ) -> Int? {
    index.definition.isOfWords
      ? restamp(wordFiles, of: sequence, isWritten: isWritten, stamp)
      : restamp(keyFiles, of: sequence, isWritten: isWritten, stamp)
  }

  private func restamp<Header>(
    _ files: IndexFiles<Header>,
    of sequence: CommitSequence,
    isWritten: Bool,
    _ stamp: IndexStamp
  ) -> Int? {
    guard let (file, found) = try? files.readHeader(stamp.digest.low),
      found.digest == stamp.digest, found.sequence == sequence, file.store == engine.state.store,
      isWritten || (try? isOwnPast(file, found.stamp)) == true
    else { return nil }
    if found.stamp == stamp { return 0 }
    var header = found
    header.stamp = stamp
    guard (try? files.write(file, header)) != nil else { return nil }
    return FileHeader.byteCount
  }

  private var keyFiles: SecondaryIndexFiles {
    SecondaryIndexFiles(paths: engine.state.paths, fileSystem: engine.state.fileSystem)
  }

  private var wordFiles: WordIndexFiles {
    WordIndexFiles(paths: engine.state.paths, fileSystem: engine.state.fileSystem)
  }
}

// MARK: Reading

extension TableStore {
  func openFile(of definition: IndexDefinition) -> SecondaryIndexFile? {
    open(definition) { digest in
      let file = try SecondaryIndexFile(
        keyFiles.path(digest.low),
        of: engine.state.store,
        tables: definition.tables,
        reads: engine.state.options.reads,
        on: engine.state.fileSystem
      )
      guard file.header.digest == digest, file.wordCount == definition.wordCount,
        try isOwnPast(file.fileHeader, file.header.stamp)
      else { return nil }
      return file
    }
  }

  func openWords(of definition: IndexDefinition) -> IndexedWords? {
    open(definition) { digest in
      let file = try WordIndexFile(
        wordFiles.path(digest.low),
        of: engine.state.store,
        on: engine.state.fileSystem
      )
      guard file.header.digest == digest, try isOwnPast(file.fileHeader, file.header.stamp)
      else { return nil }
      return try IndexedWords(file)
    }
  }

  func hasFile(of definition: IndexDefinition) -> Bool {
    indexFilesAtOpening[digest(of: definition).low] != nil
  }

  private func open<Content>(
    _ definition: IndexDefinition,
    _ open: (IndexStamp.Digest) throws -> Content?
  ) -> Content? {
    // Files are of newer states than an earlier one.
    guard engine.state.options.durability != .memory, past == nil else { return nil }
    let digest = digest(of: definition)
    var attemptCount = 0
    while true {
      do {
        attemptCount += 1
        return try open(digest)
      } catch StorageError.missingFile {
        return nil
      } catch {
        // Beside a writer that is extending the file, its header may be half the old one.
        if !allowsSave, attemptCount == 1 { continue }
        reportDamage(error)
        return nil
      }
    }
  }

  /// Whether a file is as of a commit of this store's past.
  private func isOwnPast(_ file: FileHeader, _ stamp: IndexStamp) throws -> Bool {
    if try engine.isMark(stamp.mark, of: stamp.sequence) { return true }
    // Its commit may have been packed since this store was opened.
    return indexFilesAtOpening[file.number]
      .map { $0.salt == file.salt && $0.sequence == stamp.sequence } ?? false
  }

  /// A file of an index that was as of a commit of the store's past when the store was opened.
  struct KnownIndexFile {
    fileprivate let salt: UInt64
    fileprivate let sequence: CommitSequence
  }

  /// The files of indexes that are as of a commit of the store's past, as far as their headers say.
  static func indexFiles(of engine: StorageEngine) -> [UInt64: KnownIndexFile] {
    guard engine.state.options.durability != .memory else { return [:] }
    let (paths, fileSystem) = (engine.state.paths, engine.state.fileSystem)
    var known: [UInt64: KnownIndexFile] = [:]
    func add<Header>(_ files: IndexFiles<Header>) {
      for digest in (try? files.digests()) ?? [] {
        guard let (file, header) = try? files.readHeader(digest),
          (try? engine.isMark(header.mark, of: header.sequence)) == true
        else { continue }
        known[digest] = KnownIndexFile(salt: file.salt, sequence: header.sequence)
      }
    }
    add(SecondaryIndexFiles(paths: paths, fileSystem: fileSystem))
    add(WordIndexFiles(paths: paths, fileSystem: fileSystem))
    return known
  }

  func reportDamage(_ error: any Error) { engine.reportDamage(error) }

  /// The digest that tells an index from all others, and from itself under another schema: of its definition, and of all
  /// that decides how the rows of its tables are read.
  private func digest(of definition: IndexDefinition) -> IndexStamp.Digest {
    var bytes = ByteBuffer(capacity: 1024)
    definition.encode(into: &bytes)
    for number in definition.tables.sorted() {
      guard let table = table(numbered: number) else { continue }
      table.encodeReading(of: definition.columns, into: &bytes)
    }
    let store = engine.state.store
    return unsafe bytes.bytes.withUnsafeBytes {
      unsafe IndexStamp.Digest(
        low: TextHash(low: store.low, high: ~store.high).hash($0),
        high: TextHash(low: ~store.low, high: store.high).hash($0)
      )
    }
  }
}

extension IndexDefinition {
  /// The version of what ``encode(into:)`` describes: of the words that values have, their order, and the hash of unique
  /// keys.
  private static let version: UInt8 = 1

  fileprivate func encode(into buffer: inout ByteBuffer) {
    buffer.append(IndexDefinition.version)
    switch self {
    case .values(let table, let columns):
      buffer.append(1 as UInt8)
      buffer.append(table)
      buffer.append(UInt32(columns.count))
      for column in columns {
        buffer.append(UInt32(column.number))
        let kind = "\(column.kind)"
        buffer.append(UInt32(kind.utf8.count))
        buffer.append(utf8: kind)
        buffer.append((column.isOptional ? 1 : 0) as UInt8)
      }
    case .references(let column):
      buffer.append(2 as UInt8)
      buffer.append(column.table)
      buffer.append(UInt32(column.column))
      buffer.append(UInt32(column.rankColumn.map { $0 + 1 } ?? 0))
    case .unique(let tables, let constraint, let columns):
      buffer.append(3 as UInt8)
      buffer.append(UInt32(tables.count))
      for table in tables { buffer.append(table) }
      buffer.append(UInt32(constraint))
      buffer.append(UInt32(columns.count))
      for column in columns { buffer.append(UInt32(column)) }
    case .words(let table, let column, _):
      buffer.append(4 as UInt8)
      buffer.append(table)
      buffer.append(UInt32(column))
    }
  }
}

// MARK: What was committed since

extension TableStore {
  /// The most bytes of the log that are read to bring an index up to date.
  private static let longestCatchUp = 64 << 20

  func changes(
    of definition: IndexDefinition,
    after commit: CommitSequence,
    through view: ReadView
  ) -> [IndexChange]? {
    // A store of an earlier state may be made to show one that is earlier still.
    guard commit <= view.sequence else { return nil }
    let rowCount = definition.tables.reduce(0) { $0 + view.rowCount(of: $1) }
    // A change costs ten times what a row costs in a scan.
    var catchUp = IndexCatchUp(definition, atMost: max(4096, rowCount / 16), self)
    var byteCount = 0
    do {
      try engine.forEachCommit(after: commit, upTo: view.sequence) { commit in
        byteCount += commit.byteCount
        guard byteCount <= TableStore.longestCatchUp else { return .stop }
        try catchUp.add(commit)
        return catchUp.isPossible ? .proceed : .stop
      }
      guard byteCount <= TableStore.longestCatchUp else { return nil }
      return try catchUp.changes(as: view)
    } catch {
      // A missing or unreadable file does not matter here; a scan that cannot read it says so.
      return nil
    }
  }
}

/// The commits' changes to the rows of an index, put together from the log.
private struct IndexCatchUp {
  private let definition: IndexDefinition
  private let columns: ColumnSet
  private let limit: Int
  private let store: TableStore
  /// The keys of the changed rows before the first of the commits.
  private var old: [RowReference: IndexKey?] = [:]
  private var scratch: [UInt8] = []
  private var changeCount = 0
  private var hasGap = false

  init(_ definition: IndexDefinition, atMost limit: Int, _ store: TableStore) {
    self.definition = definition
    columns = definition.columns
    self.limit = limit
    self.store = store
  }

  /// Whether all changes are known, and few enough.
  var isPossible: Bool { !hasGap && changeCount <= limit }

  mutating func add(_ commit: LoggedCommit) throws {
    try commit.forEachRowChange { change, bytes in
      guard isPossible, definition.tables.contains(change.reference.table) else { return }
      changeCount += 1
      guard old[change.reference] == nil,
        let table = store.table(numbered: change.reference.table)
      else { return }
      if change.kind == .insert {
        old[change.reference] = .some(nil)
        return
      }
      if change.kind == .delta, change.layout == table.layoutNumber,
        let changed = RowDelta.changedColumns(of: bytes, layout: table.layout),
        changed.isDisjoint(with: columns)
      {
        return
      }
      let key: IndexKey?? = try commit.withRow(before: change) { row, layout in
        try table.withCurrentRow(row, layout: layout, key: change.reference.key) {
          definition.key(of: $0, table.layout, &scratch)
        }
      }
      guard let key else {
        hasGap = true
        return
      }
      old[change.reference] = .some(key)
    }
  }

  /// The changes from before the commits to a view; `nil` if not all are known.
  mutating func changes(as view: ReadView) throws -> [IndexChange]? {
    guard isPossible else { return nil }
    return try old.map { reference, old in
      guard let table = store.table(numbered: reference.table) else {
        return IndexChange(row: reference, old: old, new: nil)
      }
      let new: IndexKey?? = try view.withRow(reference) { row, layout in
        try table.withCurrentRow(row, layout: layout, key: reference.key) {
          definition.key(of: $0, table.layout, &scratch)
        }
      }
      return IndexChange(row: reference, old: old, new: new ?? nil)
    }
    .filter { $0.old != $0.new }
  }
}
