import LogFormat
import RowFormat

/// The files of a store's staged copy, with the steps that make them the store's.
///
/// A copy is published if the store's manifest has the copy's lineage, which no other store has.
struct StagedFiles {
  private let store: StorePaths
  private let staged: StorePaths
  private let fileSystem: any FileSystem

  init(_ store: StorePaths, _ fileSystem: any FileSystem) {
    self.store = store
    self.fileSystem = fileSystem
    staged = StorePaths(root: store.staged)
  }

  /// Completes an interrupted publication or removal; call it with the store's lock, before the store is read.
  ///
  /// - Throws: ``StorageError``; a further call continues the work.
  func settle() throws(StorageError) {
    guard try fileSystem.list(staged.root) != nil else { return }
    if try isPublished() { try linkAll() }
    try removeAll()
  }

  /// Whether the copy is the store, and not all of its files may have their names there yet.
  var areBeingPublished: Bool {
    do throws(StorageError) {
      guard try fileSystem.list(staged.root) != nil else { return false }
      return try isPublished()
    } catch {
      return false
    }
  }

  private func isPublished() throws(StorageError) -> Bool {
    guard let copy = try manifests(of: staged).readNewest() else { return false }
    return try manifests(of: store).readNewest()?.lineage == copy.lineage
  }

  /// Writes the store's next manifest, which makes the copy the store.
  func publishManifest() throws(StorageError) {
    guard var manifest = try manifests(of: staged).readNewest(),
      let current = try manifests(of: store).readNewest()
    else { throw .missingStore(path: staged.root) }
    // A segment that was prepared and removed must not reappear among those of the copy.
    try fileSystem.synchronizeDirectory(store.log)
    manifest.number = current.number + 1
    // Files that the copy's rows no longer own still have their names in the store.
    manifest.mayHaveOrphanedBlobs = true
    try manifests(of: store).publish(manifest)
  }

  /// Removes the copy, its manifests last: they show whether it is published.
  func removeAll() throws(StorageError) { try removal.run(includesRoot: true) }

  private var removal: StoreRemoval { StoreRemoval(paths: staged, fileSystem: fileSystem) }
}

// MARK: Second names

extension StagedFiles {
  /// Gives every file of the copy its name in the store.
  ///
  /// An existing file of that name is the same file, or a blob that no row owns; either is replaced.
  private func linkAll() throws(StorageError) {
    try link(namesIn: staged.packs, to: store.packs)
    let directories = try removal.directoriesOfBlobs()
    if !directories.isEmpty { try fileSystem.makeDirectory(store.blobs) }
    for directory in directories {
      try fileSystem.makeDirectory(store.blobs(in: directory))
      try link(namesIn: staged.blobs(in: directory), to: store.blobs(in: directory))
    }
    if !directories.isEmpty { try fileSystem.synchronizeDirectory(store.blobs) }
    try link(namesIn: staged.log, to: store.log)
    // The store's own checkpoints belong to another end of the log.
    for name in try fileSystem.list(store.index) ?? []
    where store.isOwnName(name, in: store.index) {
      try fileSystem.unlink(store.index + "/" + name)
    }
    try link(namesIn: staged.index, to: store.index)
    try fileSystem.synchronizeDirectory(store.root)
  }

  private func link(namesIn source: String, to target: String) throws(StorageError) {
    let temporary = store.temporary("staged")
    for name in try fileSystem.list(source) ?? [] where staged.isOwnName(name, in: source) {
      try fileSystem.unlink(temporary)
      if try !fileSystem.link(source + "/" + name, as: temporary) {
        try copy(source + "/" + name, to: temporary)
      }
      // Done in one step: a reader finds one file or the other. (If they are the same file, nothing happens.)
      try fileSystem.rename(temporary, to: target + "/" + name)
    }
    try fileSystem.unlink(temporary)
    try fileSystem.synchronizeDirectory(target)
  }

  /// Copies a file, on file systems where a file has only one name.
  private func copy(_ path: String, to target: String) throws(StorageError) {
    let source = try fileSystem.open(path, .read)
    let copy = try fileSystem.open(target, .create)
    try source.copy(0..<source.size(), to: copy, .segment)
    try copy.synchronize()
  }

  private func manifests(of paths: StorePaths) -> ManifestFiles {
    ManifestFiles(paths: paths, fileSystem: fileSystem, synchronizes: true)
  }
}
