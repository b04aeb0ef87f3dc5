#if PostgreSQL
import LogEngine
import LogStore
import PostgresStore
import RowFormat

/// A new store in a log, beside the place where it will be.
///
/// It gets its name in one step when it is complete; if it is released before, its files go.
final class LogTarget {
  private let path: String
  /// The path of the unfinished store.
  private let draft: String
  private let fileSystem: any FileSystem
  private var engine: StorageEngine
  private var isComplete = false

  /// Number of bytes of rows in one commit.
  private static let commitByteCount = 4 << 20

  /// Makes an empty store.
  ///
  /// - Throws: ``MoveError/targetNotEmpty(_:found:)``, or `StorageError`.
  init(_ path: String, on fileSystem: any FileSystem) throws {
    try LogTarget.check(path, on: fileSystem)
    self.path = path
    self.fileSystem = fileSystem
    draft = path + ".moving"
    engine = try LogTarget.makeDraft(draft, on: fileSystem)
  }

  deinit {
    if isComplete { return }
    try? engine.close()
    try? StoreRemoval(paths: StorePaths(root: draft), fileSystem: fileSystem)
      .run(includesRoot: true)
  }

  /// Removes all that was made.
  ///
  /// - Throws: `StorageError`.
  func startAgain() throws {
    try engine.close()
    engine = try LogTarget.makeDraft(draft, on: fileSystem)
  }

  private static func makeDraft(
    _ draft: String,
    on fileSystem: any FileSystem
  ) throws -> StorageEngine {
    // The remains of a move that was killed; a move that is under way holds the lock.
    try removeDraft(draft, on: fileSystem)
    var options = EngineOptions()
    options.durability = .relaxed(interval: .seconds(5))
    return try StorageEngine.open(at: draft, options: options, fileSystem: fileSystem)
  }

  /// Checks that nothing is at a path, or an empty folder.
  static func check(_ path: String, on fileSystem: any FileSystem) throws {
    guard try fileSystem.status(of: path) != nil else { return }
    guard let names = try fileSystem.list(path) else {
      throw MoveError.targetNotEmpty(path, found: "a file of that name")
    }
    guard let first = names.min() else { return }
    throw MoveError.targetNotEmpty(path, found: first)
  }

  private static func removeDraft(_ draft: String, on fileSystem: any FileSystem) throws {
    let paths = StorePaths(root: draft)
    guard try fileSystem.list(draft) != nil else { return }
    guard let lock = try fileSystem.lock(paths.lock) else {
      throw MoveError.targetNotEmpty(draft, found: "another move, which goes on")
    }
    try StoreRemoval(paths: paths, fileSystem: fileSystem).run(includesRoot: true)
    withExtendedLifetime(lock) {}
  }

  /// Makes the tables, under their numbers.
  ///
  /// - Parameters:
  ///   - tables: The tables, by number.
  ///   - identifier: The identifier of the store, which its models' identifiers name.
  /// - Throws: `StorageError`.
  func make(_ tables: [TableDescription], identifier: String) throws {
    var changes: [CatalogueChange] = [
      .setMetadata(key: CatalogueMapping.identifierKey, value: Array(identifier.utf8))
    ]
    var number: UInt16 = 1
    for table in tables {
      // Numbers are given out one after the other: those that are missing belonged to tables that are gone.
      while number < table.number {
        changes.append(.addTable(name: "_gap_\(number)"))
        changes.append(.removeTable(number))
        number += 1
      }
      changes.append(.addTable(name: table.name))
      for column in table.columns {
        changes.append(
          .addColumn(
            table: number,
            name: column.name,
            type: column.type,
            isNullable: column.isNullable
          )
        )
      }
      changes.append(
        .setLayout(table: number, columns: table.columns.indices.map { UInt16($0 + 1) })
      )
      number += 1
    }
    try engine.apply(changes)
  }

  /// Whether a table has rows before it is filled.
  enum Filling {
    /// The table is empty, and no row comes twice.
    case empty
    /// A row that is there is replaced.
    case replacing
  }

  /// Takes rows of a table.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - filling: Whether the table has rows already.
  ///   - body: Hands over the rows, and asks what to do with large values before.
  /// - Throws: `StorageError`, or what `body` throws.
  func fill(
    _ table: TableDescription,
    _ filling: Filling,
    _ body: (
      _ blob: (RawSpan) throws -> BlobReference?,
      _ add: (RowReference, RawSpan) throws -> Void
    ) throws -> Void
  ) throws {
    let layout = engine.catalogue.table(table.number)?.currentLayout ?? .none
    var columns = ColumnSet()
    for position in table.columns.indices { columns.insert(position) }
    let batch = Batch(engine.makeBatch())
    var byteCount = 0
    try body(
      { value in
        guard value.byteCount > LogStoreConfiguration.defaultExternalStorageThreshold else {
          return nil
        }
        byteCount += value.byteCount
        return try batch.value.addBlob(value)
      },
      { reference, row in
        if try filling == .replacing && engine.contains(reference) {
          batch.value.update(reference, layout: layout, changed: columns, row: row)
        } else {
          batch.value.insert(reference, layout: layout, row: row)
        }
        byteCount += row.byteCount
        guard byteCount >= LogTarget.commitByteCount else { return }
        try engine.commit(&batch.value)
        byteCount = 0
      }
    )
    try engine.commit(&batch.value)
  }

  /// Removes rows of a table, as far as they are there.
  ///
  /// - Parameters:
  ///   - keys: The keys, ascending.
  ///   - table: The table.
  /// - Throws: `StorageError`.
  func delete(_ keys: [UInt64], of table: TableDescription) throws {
    var batch = engine.makeBatch()
    for key in keys {
      let reference = RowReference(table: table.number, key: key)
      if try engine.contains(reference) { batch.delete(reference) }
    }
    try engine.commit(&batch)
  }

  /// A batch that two closures use.
  private final class Batch {
    var value: CommitBatch

    init(_ value: consuming CommitBatch) { self.value = value }
  }

  /// Reads back the rows of a table.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - keys: The keys of the rows, ascending; all, if `nil`.
  ///   - progress: Called now and then with the number of rows that were read.
  /// - Returns: The digest.
  /// - Throws: `StorageError`, or what `progress` throws.
  func digest(
    of table: TableDescription,
    keys: [UInt64]? = nil,
    progress: (Int) throws -> Void = { _ in }
  ) throws -> RowDigest {
    let view = engine.makeReadView()
    return try RowDigest(
      of: table,
      open: { try view.openBlob($0).withBytes($1) },
      { add in
        var count = 0
        func visit(_ key: UInt64, _: LayoutNumber, _ row: RawSpan) throws -> ScanControl {
          try add(RowReference(table: table.number, key: key), row)
          count += 1
          if count & 0xFFF == 0 { try progress(count) }
          return .proceed
        }
        if let keys {
          try view.scan(table.number, keys: keys, visit)
        } else {
          try view.scan(table.number, visit)
        }
      }
    )
  }

  /// Gives the store its name.
  ///
  /// - Parameters:
  ///   - tables: The tables, each with the key that its next row gets.
  ///   - version: The version of the models.
  ///   - rankBase: The first place in lists that was not allocated.
  /// - Throws: `StorageError`.
  func finish(_ tables: [TableDescription], version: String?, rankBase: Int64) throws {
    for table in tables {
      let next = engine.nextKey(in: table.number)
      if table.nextKey > next {
        _ = engine.reserveKeys(Int(table.nextKey - next), in: table.number)
      }
    }
    // A move leaves no history: a reader with a token of the server has to fetch everything again.
    var deletions = HistoryDeletions()
    deletions.delete(upTo: engine.lastCommit.rawValue)
    var changes: [CatalogueChange] = [
      .setMetadata(key: HistoryDeletions.key, value: deletions.encoded),
      .setMetadata(key: RankCounter.baseKey, value: Array(String(rankBase).utf8)),
    ]
    if let version {
      changes.append(
        .setMetadata(key: CatalogueMapping.versionKey, value: Array(version.utf8))
      )
    }
    try engine.apply(changes)
    try engine.synchronize()
    try engine.close()
    try fileSystem.rename(draft, to: path)
    isComplete = true
    try fileSystem.synchronizeDirectory(StorePaths(root: path).parent)
  }
}
#endif
