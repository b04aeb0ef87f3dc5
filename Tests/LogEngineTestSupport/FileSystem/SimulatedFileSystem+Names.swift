package import LogEngine

// Files and directories, by name.
extension SimulatedFileSystem {
  package func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    let number = try call(.open, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.open, path) { throw error }
      if mode == .create { return state.disk.create(path) }
      guard let number = state.disk.file(at: path) else {
        throw StorageError.missingFile(path: path)
      }
      return number
    }
    return SimulatedFile(path: path, number: number, fileSystem: self)
  }

  package func size(of path: String) throws(StorageError) -> Int? {
    try call(.size, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.size, path) { throw error }
      return state.disk.image(of: path)?.size
    }
  }

  package func list(_ directory: String) throws(StorageError) -> [String]? {
    try call(.list, directory) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.list, directory) { throw error }
      // In an order that nobody may rely on, yet the same in every run.
      return state.disk.list(directory)?.sorted().shuffled(using: &state.random)
    }
  }

  package func makeDirectory(_ path: String) throws(StorageError) {
    try change(.makeDirectory, path) { $0.makeDirectory(path) }
  }

  package func rename(_ path: String, to newPath: String) throws(StorageError) {
    let found = try change(.rename, path) { $0.rename(path, to: newPath) }
    if !found { throw .missingFile(path: path) }
  }

  package func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    let found = try change(.link, path) { $0.link(path, as: newPath) }
    if !found { throw .missingFile(path: path) }
    return true
  }

  package func unlink(_ path: String) throws(StorageError) {
    try change(.unlink, path) { $0.unlink(path) }
  }

  package func synchronizeDirectory(_ path: String) throws(StorageError) {
    try call(.synchronizeDirectory, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(.synchronizeDirectory, path) { throw error }
      guard path == "/" || state.disk.names[path] == .directory else {
        throw StorageError.missingFile(path: path)
      }
      if !state.faults.lies.contains(.directorySync) { state.disk.synchronizeDirectory(path) }
    }
  }

  /// Changes names; a call that fails may have done so all the same.
  private func change<R: Sendable>(
    _ operation: FileOperation,
    _ path: String,
    _ body: (inout Disk) -> R
  ) throws(StorageError) -> R {
    try call(operation, path) { (state, fault) throws(StorageError) in
      if let error = fault?.error(operation, path) {
        if state.random.oneIn(2) { _ = body(&state.disk) }
        throw error
      }
      return body(&state.disk)
    }
  }
}
