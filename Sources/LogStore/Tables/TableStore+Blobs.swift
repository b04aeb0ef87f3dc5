import Foundation
import LogEngine
import ModelRuntime
import RowFormat

extension TableStore {
  /// Reads a value that is in a side file.
  ///
  /// Between the reading of its row and now another save may have given the row another value: then that value
  /// is read. A process that only reads learns of that save here: the writer does not know of this reader, and removes the
  /// file of the former value.
  ///
  /// - Returns: `nil` if the row, or its value, is gone.
  /// - Throws: ``LogStoreError/unreadableValue(entity:property:key:_:)`` if the file is missing or damaged;
  ///   `SwiftDataError.historyTokenExpired` in an earlier state whose value the store has removed since.
  func readBlob(_ blob: BlobReference, of row: RowReference, column: Int) throws -> Data? {
    var wanted = blob
    while true {
      do {
        return try Data(engine.openBlob(wanted))
      } catch let error as StorageError {
        // The next fetch, or the watch of the log, tells observers of the save.
        if isFollower { try perform(.fetching) { _ = try engine.refresh() } }
        switch try storedBlob(of: row, column: column) {
        case nil: return nil
        case .inRow(let bytes): return bytes
        case .external(let newest):
          guard newest != wanted else {
            try checkIsKept(wanted, of: row, column: column)
            throw table(numbered: row.table)?.unreadable(column, row.key, error) ?? error
          }
          wanted = newest
        }
      }
    }
  }

  /// - Throws: `SwiftDataError.historyTokenExpired` if the value is one of an earlier state, and the row has another now, or is
  ///   gone: the file went then.
  private func checkIsKept(_ blob: BlobReference, of row: RowReference, column: Int) throws {
    guard let past else { return }
    let origin = try past.origin.openTables()
    // The process that has removed the file has saved before that.
    if origin.isFollower { try perform(.fetching) { _ = try engine.refresh() } }
    let present = try origin.storedBlob(of: row, column: column)
    if present == .external(blob) { return }
    let table = table(numbered: row.table)
    let property = table.map { "\($0.descriptor.entityName).\($0.descriptor.columnName(column))" }
    throw SwiftDataError.historyTokenExpired.explained(
      "\(property ?? "a value") was in a file of its own, which \(path) removed when the value was replaced or deleted: a "
        + "container of the earlier state that is held from before on keeps it"
    )
  }

  private enum StoredBlob: Equatable {
    case inRow(Data)
    case external(BlobReference)
  }

  /// The newest value of a column.
  private func storedBlob(of reference: RowReference, column: Int) throws -> StoredBlob? {
    guard let layout = table(numbered: reference.table)?.layout else { return nil }
    return try perform(.fetching) {
      try withRow(at: reference) { row -> StoredBlob? in
        switch layout.blob(column, in: row) {
        case nil: nil
        case .inline(let range):
          unsafe .inRow(row.extracting(range).withUnsafeBytes { unsafe Data($0) })
        case .external(let blob): .external(blob)
        }
      } ?? nil
    }
  }
}

extension Data {
  /// The bytes of a blob, checked; from its mapping, without a copy, if it has one.
  fileprivate init(_ blob: Blob) throws {
    self = try blob.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { buffer in
        guard blob.isMapped, let base = buffer.baseAddress, buffer.count > 0 else {
          return unsafe Data(buffer)
        }
        // The mapping lives as long as the blob, and the blob as long as the data.
        return unsafe Data(
          bytesNoCopy: UnsafeMutableRawPointer(mutating: base),
          count: buffer.count,
          deallocator: .custom { _, _ in withExtendedLifetime(blob) {} }
        )
      }
    }
  }
}
