extension StorePermissions {
  /// The permissions of a store's newest manifest and of its log; `nil` if there is no store, or no permissions are known.
  package init?(of paths: StorePaths, on fileSystem: any FileSystem) throws(StorageError) {
    let manifests = ManifestFiles(paths: paths, fileSystem: fileSystem, synchronizes: false)
    guard let newest = try manifests.numbers().last,
      let file = try fileSystem.status(of: paths.manifest(newest))?.mode,
      let directory = try fileSystem.status(of: paths.log)?.mode
    else { return nil }
    self.init(file: file, directory: directory)
  }
}
