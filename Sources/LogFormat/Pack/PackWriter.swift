import RowFormat

/// Writes a pack, row by row, in the order of table and key.
///
///     var writer = try PackWriter(path: path, on: fileSystem, pack: id, of: store)
///     try writer.append(row, key: 1, table: 1, layout: layout)
///     let summary = try writer.finish()
///
/// It holds one block for each layout of the table it is at, the dictionaries, and a megabyte that waits to
/// be written; so how much memory it takes does not depend on how many rows there are. Nothing is on disk
/// for sure until ``synchronize()`` returns. A pack that was not finished is none: opening it fails.
public struct PackWriter: ~Copyable {
  package let file: any OpenFile
  package let header: FileHeader
  package let options: PackOptions
  package var footer = PackFooter()
  var encoder = ColumnEncoder()
  /// What was not written yet, and where in the file it goes.
  package var output = ByteBuffer(capacity: PackWriter.outputLimit + (64 << 10))
  package var outputStart = 0
  /// The blocks being filled, all of one table.
  var fillings: [Filling] = []
  var dictionaries: [DictionaryKey: DictionaryBuilder] = [:]
  private var last = RowReference.none
  package var summary = PackSummary()

  static let outputLimit = 1 << 20
  /// How many layouts' blocks are filled at once; of more, the oldest is closed.
  private static let fillingLimit = 8

  /// A block that is being filled.
  package final class Filling {
    let schema: Int
    var rows = BlockRows()
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
  ///   - fileSystem: Where that is.
  ///   - pack: Its number.
  ///   - store: The store it belongs to.
  ///   - options: How it is written.
  /// - Throws: What the file system throws.
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

  /// Says which commits' rows the pack holds.
  public mutating func setSequences(first: CommitSequence, last: CommitSequence) {
    footer.firstSequence = first.rawValue
    footer.lastSequence = last.rawValue
  }

  /// Says what is to be known of a table beside its rows.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - nextKey: A key that no row has, nor a greater one.
  ///   - recordByteCount: What its rows would take in the log.
  ///   - deletedKeys: Runs of keys below it whose rows are gone for good, ascending.
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
  ///   - row: Its bytes.
  ///   - key: Greater than that of the table's row before.
  ///   - table: No less than that of the row before.
  ///   - layout: The row's layout.
  /// - Throws: ``StorageError/invalidRow(_:layout:)`` if the bytes are no such row, and what the file system
  ///   throws; the pack is then to be given up.
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

  /// Sees what was written to the disk.
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

/// What a pack came to.
public struct PackSummary: Sendable, Hashable {
  /// How many rows the pack holds.
  public internal(set) var rowCount = 0
  /// How many blocks they are in.
  public internal(set) var blockCount = 0
  /// The bytes of the rows, as they were in the log.
  public internal(set) var rowByteCount = 0
  /// The bytes of the file.
  public internal(set) var byteCount = 0
}
