#if PostgreSQL
import LogEngine
import LogStore
import PostgresStore
import RowFormat

/// A store in a log, as one commit left it, and then as later ones did.
///
/// The store is not changed: it is read as beside a writer. Once it is locked, by ``lockIfFree()``, no process
/// writes until it is released.
final class LogSource {
  /// Whether an app may write meanwhile.
  enum Access { case alone, besideApp }

  private let path: String
  private let fileSystem: any FileSystem
  private let paths: StorePaths
  private var engine: StorageEngine
  private var view: ReadView
  private var lock: (any FileLock)?
  /// Rows of which a value was gone when they were read: later commits must have changed them.
  private var owed: [RowReference: StorageError] = [:]
  /// The error for the value that was found missing last.
  private var missing: StorageError?
  /// The identifier of the store.
  private(set) var identifier = ""
  /// The version of the models.
  private(set) var version: String?
  /// The tables that have columns, by number.
  private(set) var tables: [TableDescription] = []

  /// Opens a store.
  ///
  /// - Throws: ``MoveError/sourceInUse(_:by:)`` if it is to be read alone and a process writes to it, or `StorageError`.
  init(_ path: String, _ access: Access, on fileSystem: any FileSystem) throws {
    self.path = path
    self.fileSystem = fileSystem
    // Opened first: where there is no store, no lock file is made.
    engine = try LogSource.open(path, fileSystem)
    paths = StorePaths(root: try fileSystem.resolvingLink(path))
    view = engine.makeReadView()
    if access == .alone, try !lockIfFree() {
      throw MoveError.sourceInUse(path, by: StoreHolders(paths, fileSystem).description)
    }
    // From here on nothing is committed, if it is read alone; what was since the opening is taken in.
    var newest: CommitSequence
    repeat {
      newest = engine.lastCommit
      try engine.refresh()
    } while engine.lastCommit != newest
    view = engine.makeReadView()
    try readCatalogue()
  }

  private static func open(
    _ path: String,
    _ fileSystem: any FileSystem
  ) throws -> StorageEngine {
    var options = EngineOptions()
    options.mode = .readOnly
    options.missingStore = .fail
    return try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
  }

  /// Takes the writer's lock, if no process has it.
  ///
  /// - Returns: Whether it is taken now.
  func lockIfFree() throws -> Bool {
    if lock == nil { lock = try fileSystem.lock(paths.lock) }
    return lock != nil
  }

  /// The newest commit that is read.
  var commit: CommitSequence { view.sequence }

  private func readCatalogue() throws {
    let catalogue = view.catalogue
    guard let identifier = CatalogueMapping.identifier(in: catalogue) else {
      throw MoveError.noModels(path)
    }
    self.identifier = identifier
    version = catalogue.metadata[CatalogueMapping.versionKey].map {
      String(decoding: $0, as: UTF8.self)
    }
    tables = catalogue.tables.compactMap { table in
      guard let layout = table.layout(table.currentLayout) else { return nil }
      let columns = layout.columns.compactMap(table.column).map { column in
        let optional = CatalogueMapping.optionalKey(table: table.number, column: column.number)
        return TableDescription.Column(
          name: column.name,
          type: column.type,
          isNullable: column.isNullable || catalogue.metadata[optional] != nil
        )
      }
      return TableDescription(
        name: table.name,
        number: table.number,
        nextKey: engine.nextKey(in: table.number),
        columns: columns
      )
    }
    if tables.isEmpty { throw MoveError.noModels(path) }
  }
}

// MARK: Rows

extension LogSource {
  /// The number of rows of a table.
  func rowCount(of table: TableDescription) -> Int { view.rowCount(of: table.number) }

  /// Visits rows of a table by their keys, in its present layout.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - keys: The keys, ascending; all, if `nil`.
  ///   - body: Takes a row.
  /// - Throws: ``MoveError/unstorableValue(table:key:column:reason:)``, `StorageError`, or what `body` throws.
  func forEachRow(
    of table: TableDescription,
    keys: [UInt64]? = nil,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    guard let definition = view.catalogue.table(table.number) else { return }
    let fills = FillValue.values(in: definition, view.catalogue)
    var converters: [LayoutNumber: RowConverter] = [:]
    let nulls = table.rowOfNulls
    func visit(_ key: UInt64, _ layout: LayoutNumber, _ row: RawSpan) throws -> ScanControl {
      let reference = RowReference(table: table.number, key: key)
      if layout == definition.currentLayout {
        try body(reference, row)
        return .proceed
      }
      let converter =
        converters[layout]
        ?? RowConverter(
          from: layout,
          to: definition.currentLayout,
          in: definition,
          fills,
          defaults: nulls
        )
      guard let converter else {
        throw MoveError.unstorableValue(
          table: table.name,
          key: key,
          column: "–",
          reason: "the row has layout \(layout.rawValue), which the catalogue does not know"
        )
      }
      converters[layout] = converter
      var writer = RowWriter(capacity: row.byteCount + 256)
      let range: Range<Int>
      do {
        range = try converter.convert(row, into: &writer) { try openBlob($1) }
      } catch is VanishedValue {
        owe([reference])
        return .proceed
      }
      try body(reference, writer.bytes.extracting(range))
      return .proceed
    }
    if let keys {
      try view.scan(table.number, keys: keys, visit)
    } else {
      try view.scan(table.number, visit)
    }
  }

  /// Reads a value that is in a file of its own.
  ///
  /// - Throws: `VanishedValue` if an app that writes meanwhile has removed it; see ``owe(_:)``.
  func open(_ blob: BlobReference, _ body: (RawSpan) throws -> Void) throws {
    try openBlob(blob).withBytes(body)
  }

  private func openBlob(_ blob: BlobReference) throws -> Blob {
    do throws(StorageError) {
      return try view.openBlob(blob)
    } catch {
      guard lock == nil, case .corruption(let corruption) = error,
        corruption.problem == .missing(.blob)
      else { throw error }
      missing = error
      throw VanishedValue()
    }
  }

  /// Notes rows that were not read, since a value of theirs had vanished.
  func owe(_ rows: [RowReference]) {
    for row in rows { owed[row] = missing }
  }

  /// Whether there are rows that ``advance()`` has to bring again.
  var isOwing: Bool { !owed.isEmpty }
}

// MARK: News

extension LogSource {
  /// Moves on to the newest commit.
  ///
  /// - Returns: The rows that may have changed since the last one; `nil` if all have to be read again, since tables were
  ///   changed, or the app has packed what came next before it was read.
  /// - Throws: `StorageError`; one reason is a value whose file is missing, and whose row no commit has changed.
  func advance() throws -> Set<RowReference>? {
    let before = view.sequence
    let tablesBefore = tables.map(\.withoutKeys)
    do {
      try engine.refresh()
      while engine.isHeldBack {
        // Commits that wait for the view come once there is none of an earlier commit.
        let reached = engine.lastCommit
        view = engine.makeReadView()
        try engine.refresh()
        if engine.lastCommit == reached { break }
      }
      if engine.lastCommit == before, owed.isEmpty { return [] }
      var touched: Set<RowReference> = []
      try engine.forEachCommit(after: before) { commit in
        try commit.forEachRowChange { change, _ in touched.insert(change.reference) }
        return .proceed
      }
      view = engine.makeReadView()
      try readCatalogue()
      if let (_, error) = owed.first(where: { !touched.contains($0.key) }) { throw error }
      owed = [:]
      return tables.map(\.withoutKeys) == tablesBefore ? touched : nil
    } catch StorageError.commitGone {
      engine = try LogSource.open(path, fileSystem)
      view = engine.makeReadView()
      owed = [:]
      try readCatalogue()
      return nil
    }
  }
}

extension TableDescription {
  /// A row without any value.
  fileprivate var rowOfNulls: [UInt8] {
    var writer = RowWriter()
    writer.begin(layout)
    let range = writer.finish()
    return writer.bytes.extracting(range).withUnsafeBytes { Array($0) }
  }
}
#endif
