import LogFormat
import RowFormat
import Synchronization

// The new packs: each is written, synchronized, and read back before it gets its name.
extension Compactor {
  /// A pack being written.
  struct Output: ~Copyable {
    let id: PackID
    var writer: PackWriter
    private(set) var tables: [Part] = []
    private(set) var rowCount = 0
    /// The size of its rows as records of the log, in bytes.
    private(set) var byteCount = 0
    /// The synchronized part of the file, in bytes.
    private var synchronizedEnd = 0

    /// Limit of the unsynchronized bytes: so few that a commit's own synchronization waits briefly.
    private static let unsynchronizedLimit = 4 << 20

    init(_ id: PackID, _ writer: consuming PackWriter) {
      self.id = id
      self.writer = writer
    }

    /// Whether the written part should be synchronized now.
    var isBehind: Bool {
      mutating get {
        guard writer.outputStart - synchronizedEnd >= Self.unsynchronizedLimit else { return false }
        synchronizedEnd = writer.outputStart
        return true
      }
    }

    mutating func append(
      _ row: RawSpan,
      _ reference: RowReference,
      _ layout: LayoutDefinition,
      nextKey: UInt64
    ) throws(StorageError) {
      try writer.append(row, key: reference.key, table: reference.table, layout: layout)
      let header = RecordHeader(packed: reference, layout.number, byteCount: row.byteCount)
      let part = part(of: reference.table, nextKey)
      tables[part].recordByteCount += header.totalByteCount
      byteCount += header.totalByteCount
      rowCount += 1
    }

    mutating func recordEnd(of reference: RowReference, nextKey: UInt64) {
      let part = part(of: reference.table, nextKey)
      tables[part].addEnd(reference.key)
    }

    private mutating func part(of table: UInt16, _ nextKey: UInt64) -> Int {
      if tables.last?.table != table { tables.append(Part(table: table, nextKey: nextKey)) }
      return tables.count - 1
    }

    /// Writes the rest of the pack and synchronizes it.
    mutating func end(at sequence: UInt64, synchronizes: Bool) throws(StorageError) {
      for part in tables {
        writer.setTable(
          part.table,
          nextKey: max(part.nextKey, part.endedKeys.last?.upperBound ?? 1),
          recordByteCount: part.recordByteCount,
          deletedKeys: part.endedKeys
        )
      }
      writer.setSequences(first: CommitSequence(1), last: CommitSequence(sequence))
      _ = try writer.finish()
      if synchronizes { try writer.synchronize() }
    }
  }

  /// The contents of a pack for one table.
  struct Part {
    let table: UInt16
    let nextKey: UInt64
    var recordByteCount = 0
    /// The keys whose rows have ended, as runs.
    var endedKeys: [Range<UInt64>] = []

    mutating func addEnd(_ key: UInt64) {
      if let last = endedKeys.indices.last, endedKeys[last].upperBound == key {
        endedKeys[last] = endedKeys[last].lowerBound..<(key + 1)
      } else {
        endedKeys.append(key..<(key + 1))
      }
    }
  }

  /// A pack that is being read back, under its temporary name.
  struct Unverified {
    var reader: PackReader
    var tables: [Part]
    var rowCount: Int
    /// The next block to read, and the number of rows in those before it.
    var block = 0
    var foundRowCount = 0
    let vector = ColumnVector()
  }

  /// A verified pack under its final name.
  struct FoldedPack {
    var reader: PackReader
    var tables: [Part]
  }

  /// Whether the pack being written has reached its planned size.
  var isPackFull: Bool { (output?.byteCount ?? 0) >= plan.packByteCount }

  func beginPackIfNeeded() throws(StorageError) {
    if output != nil { return }
    let id = PackID(rawValue: try log.takeFileNumber())
    let pack = try PackWriter(
      path: state.paths.temporary("pack"),
      on: state.fileSystem,
      pack: id,
      of: state.store,
      options: state.options.packs
    )
    output = Output(id, pack)
  }

  /// Ends the pack that is being written.
  func endPack() throws(StorageError) {
    guard var output = output.take() else { return }
    try output.end(at: plan.base.sequence, synchronizes: log.synchronizes)
    let reader = try state.openPack(state.paths.temporary("pack"), output.id)
    // The pack is opened again afterwards, and then read at random.
    if state.files.isLargerThanMemory.load(ordering: .relaxed) { reader.expect(.sequential) }
    unverified = Unverified(
      reader: reader,
      tables: output.tables,
      rowCount: output.rowCount
    )
  }

  /// Reads back some blocks; after the last, gives the pack its name.
  ///
  /// - Returns: The number of bytes read.
  func verify(upTo byteCount: Int) throws -> Int {
    guard var pack = unverified else { return 0 }
    var done = 0
    while pack.block < pack.reader.footer.blocks.count, done < byteCount {
      let block = pack.reader.footer.blocks[pack.block]
      try pack.reader.verify(block: pack.block, with: pack.vector)
      pack.foundRowCount += block.rowCount
      pack.block += 1
      done += block.byteCount
    }
    unverified = pack
    if pack.block < pack.reader.footer.blocks.count { return done }
    guard pack.foundRowCount == pack.rowCount else {
      let problem = Corruption.Problem.invalidField(
        of: .packFooter,
        name: "rowCount",
        expected: UInt64(pack.rowCount),
        found: UInt64(pack.foundRowCount)
      )
      throw StorageError.corruption(
        Corruption(path: pack.reader.path, offset: 0, problem: problem)
      )
    }
    let path = state.paths.pack(pack.reader.id)
    do throws(StorageError) {
      try state.fileSystem.rename(pack.reader.path, to: path)
      unverified = nil
      packs.append(
        FoldedPack(reader: try state.openPack(path, pack.reader.id), tables: pack.tables)
      )
    } catch {
      // Giving up removes only verified packs, and this one may be as large as all of them.
      try? state.fileSystem.unlink(path)
      throw error
    }
    return done
  }
}
