import LogEngine
import LogFormat
import RowFormat

extension Salvage {
  /// Adds a row to what is written, its values in files of their own with it: each in a new file, for the
  /// new store's files have another store's mark.
  ///
  /// A value that cannot be read is left out and reported; the rest of its row is saved.
  mutating func insert(
    _ reference: RowReference,
    _ number: LayoutNumber,
    _ row: RawSpan,
    into batch: inout CommitBatch,
    of engine: StorageEngine
  ) throws {
    guard let layout = state.tables[Int(reference.table)]?.layouts[Int(number.rawValue)] else {
      return batch.insert(reference, layout: number, row: row)
    }
    renumbered.recordRanks(of: row, reference, number, layout)
    if layout.blobColumns.isEmpty { return batch.insert(reference, layout: number, row: row) }
    let columns = engine.catalogue.table(reference.table)?.layout(number)?.columns ?? []
    var writer = RowWriter(capacity: row.byteCount + 64)
    writer.begin(layout)
    for column in 0..<layout.count {
      guard let blob = layout.blob(column, in: row)?.reference else {
        writer.copy(column, from: row, column: column, layout: layout)
        continue
      }
      if let copy = try copy(blob, into: &batch) {
        writer.append(column, blob: copy)
      } else {
        let number = columns.indices.contains(column) ? columns[column] : 0
        report.lostBlobs.append(OwnedBlob(reference: blob, owner: reference, column: number))
      }
    }
    _ = writer.finish()
    batch.insert(reference, layout: number, row: writer.bytes)
  }

  /// Copies a blob, or returns `nil` if it cannot be read.
  private mutating func copy(
    _ reference: BlobReference,
    into batch: inout CommitBatch
  ) throws -> BlobReference? {
    let blob: Blob
    do {
      blob = try state.openBlob(reference, of: manifest?.store, reads: .copied)
      try blob.check()
    } catch let error as StorageError {
      try recordDamage(error)
      return nil
    }
    var offset = 0
    return try batch.addBlob(byteCount: blob.byteCount) { room in
      let count = try blob.read(into: &room, at: offset)
      offset += count
      return count
    }
  }
}
