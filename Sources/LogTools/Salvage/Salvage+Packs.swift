import LogEngine
import LogFormat
import RowFormat
import Synchronization

// Reading the packs.
extension Salvage {
  /// Notes the places of the rows in packs.
  ///
  /// If no manifest that would name them can be read, all existing packs count, also one that no manifest
  /// named yet: its rows are in the log as well.
  mutating func readPacks() throws {
    let base = manifest?.base
    let found = try PackID.numbers(source, fileSystem)
    for id in base?.packs.map(\.id) ?? (manifest == nil ? found : []) { try readPack(id) }
    packedSequence = max(packedSequence, base?.sequence ?? 0)
    for entry in base?.tables ?? [] where entry.nextKey > 1 {
      table(entry.number)?.recordKey(entry.nextKey - 1)
    }
    guard packedSequence > 0 else { return }
    let first = try LogFiles.numbers(source, fileSystem).first?.rawValue ?? 1
    state.files.baseSegment.store(base?.segment.rawValue ?? first - 1, ordering: .releasing)
  }

  private mutating func readPack(_ id: PackID) throws {
    let pack: PackReader
    do throws(StorageError) {
      pack = try openPack(id)
    } catch {
      try recordDamage(error)
      report.lostPacks.append(source.pack(id))
      // The base of a record may be a row of this pack; the row of an older pack would be wrong.
      state.removeAllPacks()
      return
    }
    packs.append(pack)
    state.files.add(pack)
    packedSequence = max(packedSequence, pack.footer.lastSequence)
    try recordRows(of: pack)
    for entry in pack.footer.tables {
      guard let table = table(entry.table) else { continue }
      if entry.nextKey > 1 { table.recordKey(entry.nextKey - 1) }
      for key in entry.deletedKeys.joined() where 1...RowReference.maximumStoredKey ~= key {
        let location = RecordLocation(endNotedIn: id)
        table.pages.store(location, for: key, sequence: pack.footer.lastSequence)
      }
    }
  }

  private func openPack(_ id: PackID) throws(StorageError) -> PackReader {
    let path = source.pack(id)
    guard try fileSystem.size(of: path) != nil else {
      throw .corruption(Corruption(path: path, offset: 0, problem: .missing(.pack)))
    }
    let store = if let manifest { manifest.store } else { try storeNamed(by: path) }
    return try PackReader.open(
      path,
      on: fileSystem,
      pack: id,
      of: store,
      reads: state.options.reads,
      cache: state.files.blockCache
    )
  }

  /// The store a pack says it belongs to.
  private func storeNamed(by path: String) throws(StorageError) -> StoreIdentifier {
    let bytes = try fileSystem.open(path, .read).readBytes(FileHeader.byteCount, at: 0)
    return try FileHeader(decoding: bytes.bytes, .pack, path: path).store
  }

  private mutating func recordRows(of pack: PackReader) throws {
    let vector = ColumnVector()
    for (number, block) in pack.footer.blocks.enumerated() {
      do {
        try pack.forEachAddress(inBlock: number, decodingInto: vector) { reference, address in
          guard let table = table(reference.table),
            1...RowReference.maximumStoredKey ~= reference.key
          else { return }
          table.recordKey(reference.key)
          let location = RecordLocation(pack: pack.id, address)
          table.pages.store(location, for: reference.key, sequence: pack.footer.lastSequence)
        }
      } catch let error as StorageError {
        try recordDamage(error)
        report.lostBlocks.append(
          LostBlock(
            path: pack.path,
            table: pack.footer.schemas[block.schema].table,
            keys: block.firstKey...block.lastKey,
            rowCount: block.rowCount
          )
        )
      }
    }
  }
}
