/// Removes the files of a store that is no longer needed: those with names of the engine, and no others.
///
/// Files with other names stay, and so do their directories.
package struct StoreRemoval {
  package let paths: StorePaths
  package let fileSystem: any FileSystem

  package init(paths: StorePaths, fileSystem: any FileSystem) {
    self.paths = paths
    self.fileSystem = fileSystem
  }

  /// Removes the store's files and the directories that are then empty; the store's own directory only if `includesRoot`.
  ///
  /// The manifests are removed last: until then they identify the files.
  ///
  /// - Throws: ``StorageError``; a further call continues the work.
  package func run(includesRoot: Bool) throws(StorageError) {
    guard try fileSystem.list(paths.root) != nil else { return }
    try fileSystem.synchronizeDirectory(paths.root)
    let blobDirectories = try directoriesOfBlobs().map(paths.blobs(in:))
    for directory in paths.directories + [paths.members] + blobDirectories {
      guard let names = try fileSystem.list(directory) else { continue }
      for name in names where paths.isOwnName(name, in: directory) {
        try fileSystem.unlink(directory + "/" + name)
      }
      try fileSystem.synchronizeDirectory(directory)
    }
    for directory in blobDirectories + paths.directories + [paths.members, paths.blobs] {
      try fileSystem.removeDirectory(directory)
    }
    for name in try fileSystem.list(paths.root) ?? [] where paths.isOwnName(name, in: paths.root) {
      try fileSystem.unlink(paths.root + "/" + name)
    }
    if includesRoot { try fileSystem.removeDirectory(paths.root) }
  }

  /// Returns the existing directories of blobs.
  package func directoriesOfBlobs() throws(StorageError) -> [UInt8] {
    (try fileSystem.list(paths.blobs) ?? []).compactMap { name in
      name.utf8.count == 2 ? UInt8(name, radix: 16) : nil
    }
    .sorted()
  }
}

extension StorePaths {
  /// Whether a name in one of the store's directories is a name of the engine.
  package func isOwnName(_ name: String, in directory: String) -> Bool {
    switch directory {
    case root:
      StorePaths.lockNames.contains(name)
        || StorePaths.number(in: name, prefix: StorePaths.manifestPrefix) != nil
    case log: StorePaths.number(in: name, suffix: StorePaths.segmentSuffix) != nil
    case packs: StorePaths.number(in: name, suffix: StorePaths.packSuffix) != nil
    case index:
      StorePaths.indexSuffixes.contains { StorePaths.number(in: name, suffix: $0) != nil }
    case members:
      name == StorePaths.synchronizationName || StorePaths.waitNames.contains(name)
        || name.utf8.count == 4 && UInt16(name, radix: 16) != nil
    case temporary: isTemporary(name)
    default: StorePaths.number(in: name, suffix: StorePaths.blobSuffix) != nil
    }
  }

  /// Whether a file in `tmp/` of this name is being written by the store's writer, or was when the writer ended.
  package func isInProgress(_ name: String) -> Bool {
    if ["manifest", "checkpoint", "segment", "pack", "staged", "removed"].contains(name) {
      return true
    }
    return ["blob-", "keys-", "words-"].contains { Self.number(in: name, prefix: $0) != nil }
  }

  /// Whether a name in `tmp/` is a name of the engine.
  private func isTemporary(_ name: String) -> Bool {
    if isInProgress(name) { return true }
    // The torn end of a segment, with its offset: `torn-<segment>-<offset>`.
    guard let dash = name.lastIndex(of: "-"),
      Self.number(in: String(name[..<dash]), prefix: "torn-") != nil
    else { return false }
    let offset = name[name.index(after: dash)...].utf8
    return !offset.isEmpty && offset.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }
}
