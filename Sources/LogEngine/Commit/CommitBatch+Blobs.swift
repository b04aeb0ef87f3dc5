import Locking
import LogFormat
public import RowFormat
import Synchronization

// A value too large for the log is written to a side file first; the row then contains its reference, written by
// `RowWriter.append(_:blob:)`.
//
//     let photo = try batch.addBlob(bytes)
//     writer.append(3, blob: photo)

extension CommitBatch {
  /// Writes a value to a side file, for one column of one row of this batch.
  ///
  /// The file is synchronized and gets its name when the batch is committed, before the commit is written; it is removed if no
  /// row of the batch owns it, or the batch is not committed.
  ///
  /// - Returns: The reference for the row.
  /// - Throws: ``/LogFormat/StorageError/noSpace(path:needed:)`` and other failures to write; the batch is unchanged and can
  ///   still be committed.
  public mutating func addBlob(_ bytes: RawSpan) throws(StorageError) -> BlobReference {
    let size = bytes.byteCount
    do {
      return try addBlob(byteCount: size) { try $0.append(bytes) }
    } catch let error as StorageError {
      throw error
    } catch {
      preconditionFailure("writing a blob threw \(error)")
    }
  }

  /// Writes a value to a side file, piece by piece, so that it is never in memory as a whole.
  ///
  /// - Parameters:
  ///   - byteCount: The length of the value, if known: a full device is then detected before the first piece.
  ///   - chunk: The room offered to `next` at a time, in bytes.
  ///   - next: Fills the memory it is given from the start, and returns the number of bytes filled; 0 ends the value.
  /// - Returns: The reference for the row.
  /// - Throws: Any error that `next` throws, and failures to write.
  public mutating func addBlob(
    byteCount: Int? = nil,
    chunk: Int = 256 << 10,
    from next: (inout MutableRawSpan) throws -> Int
  ) throws -> BlobReference {
    precondition(chunk > 0, "pieces of \(chunk) bytes")
    var buffer = ByteBuffer(capacity: chunk)
    return try addBlob(byteCount: byteCount) { writer in
      while true {
        buffer.removeAll()
        guard try buffer.append(upTo: chunk, { room in try next(&room) }) > 0 else { return }
        try writer.append(buffer.bytes)
      }
    }
  }

  private mutating func addBlob(
    byteCount: Int?,
    _ body: (inout BlobWriter) throws -> Void
  ) throws -> BlobReference {
    guard state.options.mode == .readWrite else {
      throw StorageError.readOnly(path: state.paths.root)
    }
    guard state.files.blobs.isOpen.load(ordering: .acquiring) else {
      throw StorageError.closed(path: state.paths.root)
    }
    if newBlobs == nil { newBlobs = NewBlobs(state.files.blobs) }
    do {
      guard let reference = try newBlobs?.add(byteCount: byteCount, body) else {
        preconditionFailure("the list of new blobs was just made")
      }
      return reference
    } catch {
      if let error = error as? StorageError { state.reportFailure(error) }
      throw error
    }
  }
}

// MARK: Owners

extension CommitBatch {
  /// Gives a new row its blobs.
  mutating func ownBlobs(of row: RawSpan, _ layout: RowLayout, _ reference: RowReference) {
    layout.forEachBlob(in: row) { _, blob in
      if newBlobs?.own(blob) != true { fail(.foreignBlob(reference, blob)) }
    }
  }

  /// Gives a changed row its blobs, and releases those it no longer has.
  ///
  /// An unchanged column keeps the newest row's blob even if the given row still has an earlier one, which another commit has
  /// replaced. `body` receives the row as it is to be written.
  mutating func replaceBlobs(
    of reference: RowReference,
    _ table: Table,
    layout number: LayoutNumber,
    changed: ColumnSet,
    row: RawSpan,
    _ body: (inout CommitBatch, RawSpan) throws -> Void
  ) throws {
    guard let layout = table.layouts[Int(number.rawValue)] else { return }
    let location = table.pages.location(of: reference.key)
    guard location.isRow else { return fail(.rowNotFound(reference)) }
    var scratch = FoldScratch()
    let oldNumber = try state.fold(location.place, reference, into: &scratch)
    guard let oldLayout = table.layouts[Int(oldNumber.rawValue)] else { return }
    var isStale = false
    for column in layout.blobColumns where oldNumber == number && !changed.contains(column) {
      let kept = layout.blob(column, in: scratch.row)?.reference
      if layout.blob(column, in: row)?.reference != kept { isStale = true }
    }
    if isStale {
      var writer = RowWriter(capacity: row.byteCount + 256)
      writer.begin(layout)
      for column in 0..<layout.count {
        if layout.types[column] == .blob && !changed.contains(column) {
          writer.copy(column, from: scratch.row, column: column, layout: layout)
        } else {
          writer.copy(column, from: row, column: column, layout: layout)
        }
      }
      _ = writer.finish()
      exchangeBlobs(of: reference, scratch.row, oldLayout, for: writer.bytes, layout)
      try body(&self, writer.bytes)
    } else {
      exchangeBlobs(of: reference, scratch.row, oldLayout, for: row, layout)
      try body(&self, row)
    }
  }

  /// Releases the blobs of a row that ends.
  mutating func releaseBlobs(of reference: RowReference, at location: RecordLocation) throws {
    var scratch = FoldScratch()
    let number = try state.fold(location.place, reference, into: &scratch)
    guard let layout = state.tables[Int(reference.table)]?.layouts[Int(number.rawValue)] else {
      return
    }
    layout.forEachBlob(in: scratch.row) { _, blob in releasedBlobs.append(blob.id) }
  }

  private mutating func exchangeBlobs(
    of reference: RowReference,
    _ oldRow: RawSpan,
    _ oldLayout: RowLayout,
    for row: RawSpan,
    _ layout: RowLayout
  ) {
    var old: [BlobReference] = []
    oldLayout.forEachBlob(in: oldRow) { _, blob in old.append(blob) }
    layout.forEachBlob(in: row) { _, blob in
      if let index = old.firstIndex(of: blob) {
        old.remove(at: index)
      } else if newBlobs?.own(blob) != true {
        fail(.foreignBlob(reference, blob))
      }
    }
    releasedBlobs += old.map(\.id)
  }
}

// MARK: Committing

extension CommitBatch {
  /// Whether the commit adds blobs to rows or releases some.
  var touchesBlobs: Bool { newBlobs != nil || !releasedBlobs.isEmpty }
}

extension LogWriter {
  /// Publishes the blobs of a batch: synchronizes the files and gives them their names.
  ///
  /// Nothing refers to them yet. Still, a device that fails to synchronize is not written to again.
  func publishBlobs(of batch: inout CommitBatch) throws(StorageError) {
    guard batch.newBlobs != nil else { return }
    try endCleanState()
    do throws(StorageError) {
      try batch.newBlobs?.publish()
    } catch {
      guard case .inputOutput(_, let operation, _) = error,
        operation == .synchronize || operation == .synchronizeDirectory
      else { throw error }
      throw lead.withLock { poison(error, &$0) }
    }
  }

  /// Makes the log on disk longer than when the store was closed.
  ///
  /// Otherwise a crash between now and the commit would leave a store that looks closed, and no opening would look for the
  /// blobs that the crash leaves behind.
  private func endCleanState() throws(StorageError) {
    while true {
      let needsRoom = try lead.withLock { (lead) throws(StorageError) -> Bool in
        try check(lead)
        guard let cleanEnd = lead.manifest.cleanEnd else { return false }
        let durableEnd = state.log.durableEnd.load(ordering: .relaxed)
        if durableEnd > cleanEnd { return false }
        let work = state.log.tail.withLock { tail -> LogTail.Work? in
          if tail.logEnd > cleanEnd { return tail.take() }
          guard tail.hasRoom(for: FrameHeader.byteCount) else { return nil }
          tail.appendMark(.sync, durableEnd: durableEnd)
          return tail.take()
        }
        guard let work else { return true }
        try write(work, synchronizing: true, &lead)
        publish(work)
        return false
      }
      if !needsRoom { return }
      try makeRoom(for: FrameHeader.byteCount, .least)
    }
  }
}
