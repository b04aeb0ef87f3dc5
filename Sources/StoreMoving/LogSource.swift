#if PostgreSQL
import LogEngine
import LogStore
import PostgresStore
import RowFormat

/// A store in a log, as one commit left it, while nobody writes to it.
///
/// Nothing of it is changed: it is read as beside a writer, and the writer's lock is held meanwhile.
final class LogSource {
  private let path: String
  private let view: ReadView
  private let lock: any FileLock
  /// The identifier of the store.
  let identifier: String
  /// The version of the models.
  let version: String?
  /// The tables that have columns, by number.
  let tables: [TableDescription]

  /// Opens a store.
  ///
  /// - Throws: ``MoveError/sourceInUse(_:by:)`` while a process writes to it, or `StorageError`.
  init(_ path: String, on fileSystem: any FileSystem) throws {
    self.path = path
    var options = EngineOptions()
    options.mode = .readOnly
    options.missingStore = .fail
    // Opened first: where there is no store, no lock file is made.
    let engine = try StorageEngine.open(at: path, options: options, fileSystem: fileSystem)
    let paths = StorePaths(root: try fileSystem.resolvingLink(path))
    guard let lock = try fileSystem.lock(paths.lock) else {
      throw MoveError.sourceInUse(path, by: try LockFile(paths.lock, fileSystem).holder())
    }
    self.lock = lock
    // From here on nothing is committed; what was since the opening is taken in.
    var newest: CommitSequence
    repeat {
      newest = engine.lastCommit
      try engine.refresh()
    } while engine.lastCommit != newest
    view = engine.makeReadView()
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

  /// The number of rows of a table.
  func rowCount(of table: TableDescription) -> Int { view.rowCount(of: table.number) }

  /// Visits the rows of a table by their keys, in its present layout.
  func forEachRow(
    of table: TableDescription,
    _ body: (RowReference, RawSpan) throws -> Void
  ) throws {
    guard let definition = view.catalogue.table(table.number) else { return }
    let fills = FillValue.values(in: definition, view.catalogue)
    var converters: [LayoutNumber: RowConverter] = [:]
    let nulls = table.rowOfNulls
    try view.scan(table.number) { key, layout, row in
      let reference = RowReference(table: table.number, key: key)
      if layout == definition.currentLayout {
        try body(reference, row)
        return .proceed
      }
      let converter =
        converters[layout] ?? RowConverter(from: layout, in: definition, fills, defaults: nulls)
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
      let range = try converter.convert(row, into: &writer) { try view.openBlob($1) }
      try body(reference, writer.bytes.extracting(range))
      return .proceed
    }
  }

  /// Reads a value that is in a file of its own.
  func open(_ blob: BlobReference, _ body: (RawSpan) throws -> Void) throws {
    try view.openBlob(blob).withBytes(body)
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
