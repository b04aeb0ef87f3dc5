import LogFormat
import RowFormat

extension Backup {
  /// Copies the newest checkpoint that holds nothing after the cut, under the copy's own lineage.
  ///
  /// Without a checkpoint the first opening of the copy reads the whole log, and nothing else is different. So a checkpoint
  /// that cannot be read, or is replaced meanwhile, is skipped.
  ///
  /// - Throws: ``StorageError`` if the copy cannot be written.
  func copyCheckpoint() throws(StorageError) {
    let files = CheckpointFiles(state)
    for number in ((try? files.numbers()) ?? []).reversed() {
      guard let source = try? CheckpointFile(reading: number, files),
        let pages = try? fileSystem.open(files.paths.checkpoint(number), .read)
      else { continue }
      let checkpoint = source.checkpoint
      guard checkpoint.store == state.store, checkpoint.lineage == cut.lineage,
        checkpoint.durableEnd <= cut.logPosition, cut.isCounted(in: checkpoint)
      else { continue }
      return try write(checkpoint, pages)
    }
  }

  private func write(_ checkpoint: Checkpoint, _ pages: any OpenFile) throws(StorageError) {
    let copies = CheckpointFiles(paths: destination, fileSystem: fileSystem, synchronizes: true)
    let file = try copies.makeFile()
    do throws(StorageError) {
      let range = FileHeader.byteCount..<checkpoint.pagesEnd
      try pages.copy(range, to: file, .checkpoint)
    } catch .corruption {
      return copies.discardFile()
    }
    var copy = checkpoint
    copy.lineage = lineage
    var buffer = ByteBuffer(capacity: 4096)
    copy.encodeMetadata(into: &buffer)
    let extent = CheckpointExtent(of: buffer.bytes, at: checkpoint.pagesEnd)
    try buffer.write(to: file, at: checkpoint.pagesEnd)
    let header = FileHeader(
      kind: .checkpoint,
      store: copy.store,
      number: copy.number,
      salt: fileSystem.randomBits(),
      created: fileSystem.microseconds()
    )
    buffer.removeAll()
    header.encode(into: &buffer) { extent.encode(into: &$0) }
    try buffer.write(to: file, at: 0)
    try copies.publish(file, number: copy.number)
  }
}

extension LogCut {
  /// Whether a checkpoint counts the records of all files that the copy has up to the checkpoint's place.
  ///
  /// A compaction since the cut was made may have taken some out of the store, of which the checkpoint then knows nothing.
  /// (A segment without any record is not counted either: then the log is read.)
  fileprivate func isCounted(in checkpoint: Checkpoint) -> Bool {
    let counted = Set(checkpoint.usages.entries.map(\.segment))
    return segments.allSatisfy { segment, _ in
      segment.id >= checkpoint.place.segment || counted.contains(segment.id)
    }
      && packs.allSatisfy { pack in
        pack.summary.rowCount == 0 || counted.contains(SegmentID(rawValue: pack.id.rawValue))
      }
  }
}
