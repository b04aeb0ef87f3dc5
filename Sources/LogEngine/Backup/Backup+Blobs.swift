import LogFormat
import RowFormat

extension Backup {
  /// Gives every blob that a row of the copy owns a second name there, or copies it.
  ///
  /// A blob's file is never written to again. Those of rows that change meanwhile are held by the pin of
  /// the view that the caller keeps.
  ///
  /// - Throws: ``StorageError/corruption(_:)`` if one is missing; a follower's writer may have removed it.
  func copyBlobs() throws(StorageError) {
    var directories: Set<UInt8> = []
    do {
      try state.forEachBlob(asOf: cut.sequence.rawValue, in: cut.catalogue) { blob in
        let directory = StorePaths.directory(of: blob.reference.id)
        if directories.isEmpty { try fileSystem.makeDirectory(destination.blobs) }
        if directories.insert(directory).inserted {
          try fileSystem.makeDirectory(destination.blobs(in: directory))
        }
        try copy(blob.reference.id)
        return .proceed
      }
    } catch let error as StorageError {
      throw error
    } catch {
      preconditionFailure("copying blobs threw \(error)")
    }
    for directory in directories.sorted() {
      try fileSystem.synchronizeDirectory(destination.blobs(in: directory))
    }
    if !directories.isEmpty { try fileSystem.synchronizeDirectory(destination.blobs) }
  }

  private func copy(_ id: BlobID) throws(StorageError) {
    let path = state.paths.blob(id)
    do throws(StorageError) {
      if try fileSystem.link(path, as: destination.blob(id)) { return }
      let source = try fileSystem.open(path, .read)
      let copy = try fileSystem.open(destination.blob(id), .create)
      let end = try source.size()
      var offset = 0
      while offset < end {
        let bytes = try source.readBytes(min(1 << 20, end - offset), at: offset)
        guard bytes.count > 0 else {
          let problem = Corruption.Problem.truncated(.blob, needed: end, available: offset)
          throw .corruption(Corruption(path: path, offset: offset, problem: problem))
        }
        try bytes.write(to: copy, at: offset)
        offset += bytes.count
      }
      try copy.synchronize()
    } catch .missingFile(let missing) where missing == path {
      throw .corruption(Corruption(path: path, offset: 0, problem: .missing(.blob)))
    }
  }
}
