import LogFormat

extension StoreState {
  /// Removes the files that an unfinished compaction left behind; no compaction may be running.
  ///
  /// - Parameter base: The beginning of the log according to the newest manifest.
  /// - Throws: ``StorageError`` if the folders cannot be read, or a file cannot be removed.
  func removeRetiredFiles(behind base: LogBase?) throws(StorageError) {
    var retired: [String] = []
    for id in try LogFiles.numbers(paths, fileSystem)
    where id <= base?.segment ?? .none {
      retired.append(paths.segment(id))
    }
    let known = Set((base?.packs ?? []).map(\.id))
    for id in try PackID.numbers(paths, fileSystem) where !known.contains(id) {
      retired.append(paths.pack(id))
    }
    if retired.isEmpty { return }
    // The process that put the manifest in place may have died before synchronizing its name: after a power cut the previous
    // manifest would count again, and these files with it.
    try fileSystem.synchronizeDirectory(paths.root)
    for path in retired { try fileSystem.unlink(path) }
  }
}
