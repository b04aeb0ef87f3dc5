import LogEngine
import ModelRuntime
import RowFormat
package import Synchronization

// Indexes outlive the process that made them: in files beside the checkpoints, each as of one commit. They are never
// needed; what is missing, damaged or of another past is made by a scan.

/// Which indexes are kept.
package enum KeptIndexes {
  /// The least entries that are worth a file; fewer are found by a scan in no time.
  ///
  /// Simulations lower it.
  package static let smallestCount = Atomic(1024)
}

extension TableStore {
  /// Keeps the indexes that are in memory, so that the next process need not make them.
  ///
  /// What cannot be written is made by a scan when it is needed.
  ///
  /// - Complexity: O(entries) for an index that has no file, or of which much changed; otherwise what changed, and about
  ///   a hundredth of the file.
  func keepIndexes() {
    guard allowsSave, engine.state.options.durability != .memory else { return }
    let view = engine.makeReadViewOfAllCommits()
    guard let mark = try? engine.mark(of: view.sequence) else { return }
    var digests: Set<UInt64> = []
    for index in indexes.all where !index.definition.isOfWords {
      let digest = digest(of: index.definition)
      digests.insert(digest.low)
      guard index.isBuilt else {
        restamp(digest, view.sequence, mark)
        continue
      }
      guard let keys = try? index.content(as: view, in: self)?.ordered() else { continue }
      let header = SecondaryIndexHeader(
        sequence: view.sequence,
        mark: mark,
        digest: digest,
        wordCount: keys.wordCount
      )
      if keys.count < KeptIndexes.smallestCount.load(ordering: .relaxed) {
        indexFiles.remove(digest.low)
      } else {
        try? IndexFileWriting(files: indexFiles, store: engine.state.store).write(keys, header)
      }
    }
    indexFiles.removeAll(but: digests)
  }

  /// Gives the file of an index that was not needed another mark, should its commit be the last, and have been packed.
  private func restamp(
    _ digest: SecondaryIndexHeader.Digest,
    _ commit: CommitSequence,
    _ mark: CommitMark
  ) {
    guard indexFilesAtOpening[digest.low]?.sequence == commit,
      let (file, found) = try? indexFiles.readHeader(digest.low), found.digest == digest,
      (try? isOwnPast(file, found)) == true, found.sequence == commit, found.mark != mark
    else { return }
    var header = found
    header.mark = mark
    try? indexFiles.write(file, header)
  }

  private var indexFiles: SecondaryIndexFiles {
    SecondaryIndexFiles(paths: engine.state.paths, fileSystem: engine.state.fileSystem)
  }
}

// MARK: Reading

extension TableStore {
  func openFile(of definition: IndexDefinition) -> SecondaryIndexFile? {
    guard engine.state.options.durability != .memory else { return nil }
    let digest = digest(of: definition)
    var attemptCount = 0
    while true {
      do {
        attemptCount += 1
        let file = try SecondaryIndexFile(
          engine.state.paths.secondaryIndex(digest.low),
          of: engine.state.store,
          tables: definition.tables,
          reads: engine.state.options.reads,
          on: engine.state.fileSystem
        )
        guard file.header.digest == digest, file.wordCount == definition.wordCount,
          try isOwnPast(file.fileHeader, file.header)
        else { return nil }
        return file
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
  private func isOwnPast(_ file: FileHeader, _ header: SecondaryIndexHeader) throws -> Bool {
    if try engine.isMark(header.mark, of: header.sequence) { return true }
    // Its commit may have been packed since this store was opened.
    return indexFilesAtOpening[file.number]
      .map { $0.salt == file.salt && $0.sequence == header.sequence } ?? false
  }

  /// A file of an index that was as of a commit of the store's past when the store was opened.
  struct KnownIndexFile {
    fileprivate let salt: UInt64
    fileprivate let sequence: CommitSequence
  }

  /// The files of indexes that are as of a commit of the store's past, as far as their headers say.
  static func indexFiles(of engine: StorageEngine) -> [UInt64: KnownIndexFile] {
    guard engine.state.options.durability != .memory else { return [:] }
    let files = SecondaryIndexFiles(paths: engine.state.paths, fileSystem: engine.state.fileSystem)
    var known: [UInt64: KnownIndexFile] = [:]
    for digest in (try? files.digests()) ?? [] {
      guard let (file, header) = try? files.readHeader(digest),
        (try? engine.isMark(header.mark, of: header.sequence)) == true
      else { continue }
      known[digest] = KnownIndexFile(salt: file.salt, sequence: header.sequence)
    }
    return known
  }

  func reportDamage(_ error: any Error) { engine.reportDamage(error) }

  /// What tells an index from all others, and from itself when the schema was another: its definition, and all that the
  /// rows of its tables are read by.
  private func digest(of definition: IndexDefinition) -> SecondaryIndexHeader.Digest {
    var bytes = ByteBuffer(capacity: 1024)
    definition.encode(into: &bytes)
    for number in definition.tables.sorted() {
      guard let table = table(numbered: number) else { continue }
      table.encodeReading(of: definition.columns, into: &bytes)
    }
    let store = engine.state.store
    return unsafe bytes.bytes.withUnsafeBytes {
      unsafe SecondaryIndexHeader.Digest(
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
      // What is gone or cannot be read does not matter here; a scan that cannot read it says so.
      return nil
    }
  }
}

/// What commits did to the rows of an index, put together from the log.
private struct IndexCatchUp {
  private let definition: IndexDefinition
  private let columns: ColumnSet
  private let limit: Int
  private let store: TableStore
  /// What the changed rows were kept under before the first of the commits.
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
