import RowFormat

/// Writes a pack, row by row, in the order of table and key.
///
///     var writer = try PackWriter(path: path, on: fileSystem, pack: id, of: store)
///     try writer.append(row, key: 1, table: 1, layout: layout)
///     let summary = try writer.finish()
///
/// Its memory contains one block for each layout of the current table, the dictionaries, and up to a megabyte of output; so it
/// does not depend on the number of rows. Nothing is guaranteed to be on disk until ``synchronize()`` returns. An unfinished
/// pack is invalid: opening it fails.
public struct PackWriter: ~Copyable {
  package let file: any OpenFile
  package let header: FileHeader
  package let options: PackOptions
  package var footer = PackFooter()
  var encoder = ColumnEncoder()
  /// The output not written yet, and its offset in the file.
  package var output = ByteBuffer(capacity: PackWriter.outputLimit + (64 << 10))
  package var outputStart = 0
  /// The blocks being filled, all of one table.
  var fillings: [Filling] = []
  var dictionaries: [DictionaryKey: DictionaryBuilder] = [:]
  private var last = RowReference.none
  package var summary = PackSummary()

  static let outputLimit = 1 << 20
  /// Limit of the layouts whose blocks are filled at once; beyond it, the oldest block is closed.
  private static let fillingLimit = 8

  /// A block that is being filled.
  package final class Filling {
    let schema: Int
    @safe @exclusivity(unchecked) var rows = BlockRows()
    init(schema: Int) { self.schema = schema }
  }

  struct DictionaryKey: Hashable {
    var table: UInt16
    var column: UInt16
  }

  /// Begins a pack.
  ///
  /// - Parameters:
  ///   - path: The path of the new file; an existing file is replaced.
  ///   - fileSystem: The file system of the file.
  ///   - pack: The pack's number.
  ///   - store: The store that the pack belongs to.
  ///   - options: The options with which it is written.
  /// - Throws: Any error of the file system.
  public init(
    path: String,
    on fileSystem: some FileSystem,
    pack: PackID,
    of store: StoreIdentifier,
    options: PackOptions = .init()
  ) throws(StorageError) {
    file = try fileSystem.open(path, .create)
    self.options = options
    header = FileHeader(
      kind: .pack,
      store: store,
      number: UInt64(pack.rawValue),
      salt: fileSystem.randomBits(),
      created: fileSystem.microseconds()
    )
    header.encode(into: &output)
  }

  /// Sets the commits whose rows the pack contains.
  public mutating func setSequences(first: CommitSequence, last: CommitSequence) {
    footer.firstSequence = first.rawValue
    footer.lastSequence = last.rawValue
  }

  /// Sets a table's entry in the footer, beside its rows.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - nextKey: A key that is greater than those of all rows.
  ///   - recordByteCount: The size of the table's rows as records of the log, in bytes.
  ///   - deletedKeys: Runs of keys below `nextKey` whose rows were deleted for good, ascending.
  public mutating func setTable(
    _ table: UInt16,
    nextKey: UInt64,
    recordByteCount: Int = 0,
    deletedKeys: [Range<UInt64>]
  ) {
    footer.tables.append(
      PackTable(
        table: table,
        nextKey: nextKey,
        recordByteCount: recordByteCount,
        deletedKeys: deletedKeys
      )
    )
  }

  /// Appends a row.
  ///
  /// - Parameters:
  ///   - row: The row's bytes.
  ///   - key: The row's key; greater than that of the table's previous row.
  ///   - table: The row's table; not below that of the previous row.
  ///   - layout: The row's layout.
  /// - Throws: ``StorageError/invalidRow(_:layout:)`` if the bytes are not a row of the layout, and errors of the file system;
  ///   the pack must then be given up.
  public mutating func append(
    _ row: RawSpan,
    key: UInt64,
    table: UInt16,
    layout: LayoutDefinition
  ) throws(StorageError) {
    let reference = RowReference(table: table, key: key)
    precondition(last < reference, "row \(reference) after \(last)")
    guard layout.layout.isValid(row) else {
      throw .invalidRow(reference, layout: layout.number)
    }
    if table != last.table { try flushAll() }
    last = reference
    let filling = try filling(table, layout)
    let count = filling.rows.count
    if count > 0,
      filling.rows.bytes.count + row.byteCount
        > min(options.blockByteCount, PackFormat.blockByteLimit)
        || count >= min(options.blockRowCount, PackFormat.rowLimit)
    {
      try flush(filling)
    }
    filling.rows.append(row, key: key)
    summary.rowCount += 1
    summary.rowByteCount += row.byteCount
  }

  /// Synchronizes the written bytes.
  public func synchronize() throws(StorageError) { try file.synchronize() }

  private mutating func filling(
    _ table: UInt16,
    _ layout: LayoutDefinition
  ) throws(StorageError) -> Filling {
    for filling in fillings where footer.schemas[filling.schema].layout == layout.number {
      return filling
    }
    if fillings.count == PackWriter.fillingLimit { try flush(fillings.removeFirst()) }
    let known = footer.schemas.firstIndex { $0.table == table && $0.layout == layout.number }
    if known == nil {
      footer.schemas.append(
        PackSchema(
          table: table,
          layout: layout.number,
          columns: layout.columns,
          rowLayout: layout.layout
        )
      )
    }
    let filling = Filling(schema: known ?? footer.schemas.count - 1)
    fillings.append(filling)
    return filling
  }

  mutating func flushAll() throws(StorageError) {
    for filling in fillings where filling.rows.count > 0 { try flush(filling) }
    fillings.removeAll()
  }
}

/// The size of a pack.
public struct PackSummary: Sendable, Hashable {
  /// The number of rows in the pack.
  public internal(set) var rowCount = 0
  /// The number of blocks.
  public internal(set) var blockCount = 0
  /// The size of the rows as in the log, in bytes.
  public internal(set) var rowByteCount = 0
  /// The size of the file, in bytes.
  public internal(set) var byteCount = 0
}
