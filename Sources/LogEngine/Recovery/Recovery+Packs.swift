import Locking
import LogFormat
import RowFormat
import Synchronization

extension Recovery.End {
  /// The beginning of the log.
  init(_ base: LogBase?) {
    self.init()
    guard let base else { return }
    hasBase = true
    offset = base.end
    chain = base.chain
    sequence = base.sequence
    logPosition = base.logPosition
    durableEnd = base.logPosition
  }
}

extension Recovery {
  /// Opens the packs named in the manifest.
  func openPacks() throws(StorageError) {
    guard let base = manifest.base else { return }
    for entry in base.packs {
      let path = state.paths.pack(entry.id)
      guard let size = try state.fileSystem.size(of: path) else {
        throw .corruption(Corruption(path: path, offset: 0, problem: .missing(.pack)))
      }
      guard size == entry.byteCount else {
        let problem = Corruption.Problem.truncated(
          .pack,
          needed: entry.byteCount,
          available: size
        )
        throw .corruption(Corruption(path: path, offset: size, problem: problem))
      }
      state.files.add(try state.openPack(path, entry.id))
    }
    state.files.base.withLock { $0 = base }
    state.visibility.lowWaterMark.store(base.lowWaterMark, ordering: .relaxed)
    state.files.baseSegment.store(base.segment.rawValue, ordering: .releasing)
  }

  /// Fills the index from the packs: its state at the start of the log's first segment.
  mutating func takeIndexFromPacks() throws {
    guard let base = manifest.base else { return }
    state.adopt(base.catalogue)
    replay.catalogue = base.catalogue
    for entry in base.tables {
      guard let table = state.tables[Int(entry.number)] else { continue }
      table.nextKey.store(entry.nextKey, ordering: .relaxed)
      table.liveRowCount.store(entry.rowCount, ordering: .relaxed)
    }
    for pack in state.files.packList.withLock({ $0 }) { try takeIndex(from: pack) }
  }

  /// Enters a pack's rows, and the deletions recorded in it, into the index, in place of older packs' rows.
  private mutating func takeIndex(from pack: PackReader) throws {
    let file = SegmentID(rawValue: pack.id.rawValue)
    for table in pack.footer.tables where state.tables[Int(table.table)] != nil {
      replay.usages.add(table.recordByteCount, of: table.table, to: file)
    }
    try pack.forEachAddress { reference, address in
      guard let table = state.tables[Int(reference.table)] else { return }
      guard 1...IndexPages.maximumKey ~= reference.key else {
        throw state.inconsistency(at: RecordPlace(pack: pack.id, address), reference)
      }
      try replay.supersedePacked(reference, in: table)
      let location = RecordLocation(pack: pack.id, address)
      table.pages.store(location, for: reference.key, sequence: pack.footer.lastSequence)
    }
    for entry in pack.footer.tables {
      guard let table = state.tables[Int(entry.table)] else { continue }
      for key in entry.deletedKeys.joined() where key <= IndexPages.maximumKey {
        try replay.supersedePacked(RowReference(table: entry.table, key: key), in: table)
        let location = RecordLocation(endNotedIn: pack.id)
        table.pages.store(location, for: key, sequence: pack.footer.lastSequence)
      }
    }
  }
}

extension Replay {
  /// Counts the row of an older pack as dead.
  fileprivate mutating func supersedePacked(_ reference: RowReference, in table: Table) throws {
    let location = table.pages.location(of: reference.key)
    guard location.isPacked, location.isRow else { return }
    var superseded = SupersededBytes()
    try state.withRecord(at: location.place, of: reference) { header, _ in
      superseded.add(header.totalByteCount, of: header.table, in: location.segment)
    }
    usages.release(superseded)
  }
}

extension PackID {
  /// Returns the numbers of the existing packs, ascending.
  package static func numbers(
    _ paths: StorePaths,
    _ fileSystem: any FileSystem
  ) throws(StorageError) -> [PackID] {
    let names = try fileSystem.list(paths.packs) ?? []
    return names.compactMap { name -> PackID? in
      guard let number = StorePaths.number(in: name, suffix: StorePaths.packSuffix),
        number <= UInt64(SegmentID.maximum.rawValue)
      else { return nil }
      return PackID(rawValue: UInt32(number))
    }
    .sorted()
  }
}

extension StoreState {
  /// Opens a pack's file.
  func openPack(_ path: String, _ id: PackID) throws(StorageError) -> PackReader {
    let pack = try PackReader.open(
      path,
      on: fileSystem,
      pack: id,
      of: store,
      reads: options.reads,
      cache: files.blockCache
    )
    if files.isLargerThanMemory.load(ordering: .relaxed) { pack.expect(.random) }
    return pack
  }
}
