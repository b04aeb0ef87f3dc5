import LogFormat

/// Opening a store whose manifest is damaged.
extension Opening {
  /// The store's manifest, or what the log itself can say in its place where the store is opened up to
  /// its damage: which store it is.
  func findManifestUpToDamage() throws(StorageError) -> (manifest: Manifest, damage: StorageError?)
  {
    do throws(StorageError) {
      return (try findManifest(), nil)
    } catch {
      guard options.mode == .readOnlyUpToDamage, error.isDamage else { throw error }
      let files = try LogFiles(paths: paths, fileSystem: fileSystem, mode: options.mode)
      let store = files.headers.first?.store ?? StoreIdentifier(low: 0, high: 0)
      return (Manifest(number: 0, store: store, lineage: store), error)
    }
  }
}

extension StorageError {
  /// Whether the error says that a file is damaged, gone or cannot be read, rather than that it should
  /// not be read.
  var isDamage: Bool {
    switch self {
    case .corruption, .inputOutput, .missingFile: true
    default: false
    }
  }
}
