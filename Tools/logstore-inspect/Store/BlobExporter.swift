import LogEngine
import RowFormat
import Terminal

/// Copies values that are in files of their own to files that other programs read.
struct BlobExporter {
  private let folder: String
  private let fileSystem: any FileSystem

  /// Makes the folder, if it is not there.
  init(to path: String, on fileSystem: any FileSystem) throws {
    folder = StorePath.normalized(path)
    self.fileSystem = fileSystem
    try UserFile(path: folder, on: fileSystem).createFolder()
  }

  /// Copies a value to `Entity-key.column`.
  ///
  /// - Returns: Why it could not be read; `nil` if it was.
  /// - Throws: What keeps the copy from being written.
  func export(_ blob: StoredValue, of store: InspectedStore) throws -> StorageError? {
    let path = folder + "/" + fileName(of: blob, in: store)
    guard try fileSystem.status(of: path) == nil else {
      throw ToolError(.destinationExists(path: path), writing: path)
    }
    let opened: Blob
    do {
      opened = try store.view.openUnmappedBlob(blob.reference)
      try opened.check()
    } catch let error as StorageError {
      return error
    }
    do throws(StorageError) {
      try write(opened, to: path)
    } catch {
      try? fileSystem.unlink(path)
      // Not as an error of the store, whose rows are read meanwhile: theirs are damage.
      throw ToolError(error, writing: path)
    }
    return nil
  }

  private func write(_ opened: Blob, to path: String) throws(StorageError) {
    let copy = try fileSystem.open(path, .create)
    var piece = [UInt8](repeating: 0, count: min(max(opened.byteCount, 1), 1 << 20))
    var offset = 0
    while offset < opened.byteCount {
      let count: Int
      do {
        var span = piece.mutableSpan
        var room = span.mutableBytes
        count = try opened.read(into: &room, at: offset)
      }
      guard count > 0 else { break }
      var done = 0
      while done < count {
        done += try copy.write(piece.span.bytes.extracting(done..<count), at: offset + done)
      }
      offset += count
    }
  }

  /// The name of the file that a value is copied to.
  func fileName(of blob: StoredValue, in store: InspectedStore) -> String {
    let entity = store.name(ofTable: blob.owner.table)
    return Self.fileName("\(entity)-\(blob.owner.key).\(column(of: blob, store))")
  }

  private func column(of blob: StoredValue, _ store: InspectedStore) -> String {
    let definition = store.catalogue.table(blob.owner.table)?.column(blob.column)
    return definition?.name ?? "column \(blob.column)"
  }

  /// A name that leads nowhere else and that every file system takes.
  static func fileName(_ name: String) -> String {
    let characters = name.unicodeScalars.map { scalar -> String in
      let isPlain =
        scalar.properties.isAlphabetic || "0123456789-._".unicodeScalars.contains(scalar)
      return isPlain ? String(scalar) : "_"
    }
    let plain = characters.joined()
    return plain.hasPrefix(".") ? "_" + plain.dropFirst() : plain
  }
}
