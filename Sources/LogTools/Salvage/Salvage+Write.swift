import LogEngine
import LogFormat
import RowFormat
import Synchronization

// Writing the new store.
extension Salvage {
  /// Number of bytes of rows in a commit.
  private static let batchByteCount = 1 << 20

  mutating func write(_ catalogue: Catalogue, _ files: [SegmentFile]) throws {
    var options = EngineOptions()
    options.application = Manifest.unfinishedSalvage
    options.permissions = permissions
    options.durability = .relaxed(interval: .seconds(1))
    options.background = .caller
    let engine = try StorageEngine.open(at: destination, options: options, fileSystem: fileSystem)
    try engine.apply(catalogue.changesFromEmpty())
    renumbered = RenumberedStore(catalogue)
    var broken: Set<RowReference> = []
    for definition in catalogue.tables { try saveRows(of: definition, to: engine, &broken) }
    if !report.isCatalogueComplete { reportUnknownTables(catalogue) }
    if !broken.isEmpty { try saveEarlierRows(broken, files, to: engine) }
    for definition in catalogue.tables { try keepKeys(of: definition, from: engine) }
    try engine.apply(renumbered.changes(after: engine.lastCommit))
    try engine.close()
    try finish()
  }

  /// Writes each row of a table that can be put together from its newest record.
  private mutating func saveRows(
    of definition: TableDefinition,
    to engine: StorageEngine,
    _ broken: inout Set<RowReference>
  ) throws {
    var result = SalvagedTable(number: definition.number, name: definition.name)
    defer { report.tables.append(result) }
    guard let table = state.tables[Int(definition.number)] else { return }
    _ = engine.reserveKeys(Int(table.nextKey.load(ordering: .relaxed) - 1), in: table.number)
    var batch = engine.makeBatch()
    var scratch = FoldScratch()
    var key: UInt64 = 0
    var nextUnseen: UInt64 = 1
    while let entry = table.pages.next(from: key, to: table.pages.keyLimit) {
      key = entry.key + 1
      result.unseenKeyCount += Int(entry.key - nextUnseen)
      nextUnseen = entry.key + 1
      if entry.location.isDelete { continue }
      let reference = RowReference(table: definition.number, key: entry.key)
      guard let layout = fold(entry.location.place, reference, into: &scratch) else {
        broken.insert(reference)
        continue
      }
      try insert(reference, layout, scratch.row, into: &batch, of: engine)
      result.rowCount += 1
      if batch.buffer.count >= Self.batchByteCount { try commit(&batch, to: engine) }
    }
    try commit(&batch, to: engine)
  }

  /// Reports the rows of tables that the catalogue does not name, because the change that made them is
  /// lost.
  private mutating func reportUnknownTables(_ catalogue: Catalogue) {
    for index in state.tables.indices where catalogue.table(UInt16(index)) == nil {
      guard let table = state.tables[index] else { continue }
      var result = SalvagedTable(number: UInt16(index), name: "")
      var key: UInt64 = 0
      while let entry = table.pages.next(from: key, to: table.pages.keyLimit) {
        key = entry.key + 1
        if entry.location.isRow {
          result.lost.append(RowReference(table: result.number, key: entry.key))
        }
      }
      report.tables.append(result)
    }
  }

  /// Writes the newest earlier version of rows whose newest one is of no use.
  private mutating func saveEarlierRows(
    _ broken: Set<RowReference>,
    _ files: [SegmentFile],
    to engine: StorageEngine
  ) throws {
    var places: [RowReference: [RecordPlace]] = [:]
    var scan = SalvageScan(files)
    try scan.run { found, _ in
      guard found.header.kind != .catalogue, broken.contains(found.header.reference) else { return }
      places[found.header.reference, default: []].append(found.place)
    }
    var batch = engine.makeBatch()
    var scratch = FoldScratch()
    for reference in broken.sorted() {
      guard let index = report.tables.firstIndex(where: { $0.number == reference.table }) else {
        continue
      }
      var layout: LayoutNumber?
      for place in places[reference, default: []].reversed() where layout == nil {
        layout = fold(place, reference, into: &scratch)
      }
      layout = layout ?? foldPacked(reference, into: &scratch)
      guard let layout else {
        report.tables[index].lost.append(reference)
        continue
      }
      report.tables[index].stale.append(reference)
      report.tables[index].rowCount += 1
      try insert(reference, layout, scratch.row, into: &batch, of: engine)
      if batch.buffer.count >= Self.batchByteCount { try commit(&batch, to: engine) }
    }
    try commit(&batch, to: engine)
  }

  /// Puts a row together, or returns `nil` if that is not possible.
  private func fold(
    _ place: RecordPlace,
    _ reference: RowReference,
    into scratch: inout FoldScratch
  ) -> LayoutNumber? {
    try? state.fold(place, reference, into: &scratch)
  }

  /// Takes a row from the newest pack that has a version of it that can be read.
  private func foldPacked(
    _ reference: RowReference,
    into scratch: inout FoldScratch
  ) -> LayoutNumber? {
    for pack in packs.reversed() {
      guard let address = try? pack.address(of: reference) else { continue }
      let place = RecordPlace(pack: pack.id, address)
      if let layout = fold(place, reference, into: &scratch) { return layout }
    }
    return nil
  }

  private func commit(_ batch: inout CommitBatch, to engine: StorageEngine) throws(StorageError) {
    guard !batch.isEmpty else { return }
    batch.author = "salvage"
    try engine.commit(&batch)
    engine.performBackgroundWork()
    progress(
      MaintenanceProgress(
        phase: .writing,
        completed: report.tables.reduce(0) { $0 + $1.rowCount },
        total: 0
      )
    )
  }

  /// Uses up the greatest key that was found: other rows may refer to it, and would find a new one.
  private func keepKeys(
    of definition: TableDefinition,
    from engine: StorageEngine
  ) throws(StorageError) {
    guard let next = state.tables[Int(definition.number)]?.nextKey.load(ordering: .relaxed),
      next > 1, let layout = definition.layouts.last
    else { return }
    let reference = RowReference(table: definition.number, key: next - 1)
    guard let table = engine.state.tables[Int(definition.number)],
      table.pages.location(of: reference.key).isNone
    else { return }
    var row = RowWriter()
    row.begin(layout.layout)
    _ = row.finish()
    var batch = engine.makeBatch()
    batch.insert(reference, layout: layout.number, row: row.bytes)
    try engine.commit(&batch)
    batch.delete(reference)
    try engine.commit(&batch)
  }

  /// Makes the new store the program's own.
  private func finish() throws(StorageError) {
    let files = ManifestFiles(
      paths: StorePaths(root: destination),
      fileSystem: fileSystem,
      synchronizes: true
    )
    guard var manifest = try files.readNewest() else {
      throw .missingStore(path: destination)
    }
    manifest.number += 1
    manifest.application = self.manifest?.application ?? ""
    try files.publish(manifest)
  }
}
