import LogFormat

/// Opening a store whose manifest is damaged.
extension Opening {
  /// Returns the store's manifest; if the store is opened up to its damage, one with the store's identity from the log itself.
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
  /// Whether the error means that a file is damaged, missing or unreadable, rather than that it must not be read.
  var isDamage: Bool {
    switch self {
    case .corruption, .inputOutput, .missingFile: true
    default: false
    }
  }
}
