import LogFormat

extension StorageEngine {
  /// Measures the space that the store takes.
  ///
  /// The live part of a pack is estimated from its rows, as if all had the same size. Side files count as live; ``blobUsage()``
  /// reports those waiting to be removed.
  ///
  /// - Throws: ``/LogFormat/StorageError`` if a directory cannot be read.
  /// - Complexity: O(files): asks the file system for each.
  public func spaceUsage() throws -> SpaceUsage {
    let statistics = statistics()
    var usage = SpaceUsage()
    usage.parts[.log] = try measure(state.paths.log)
    for segment in statistics.segments {
      let dead = segment.usage.deadByteCount
      usage.parts[.log]?.liveByteCount += segment.usage.liveByteCount
      usage.parts[.log]?.deadByteCount += segment.isHistory ? 0 : dead
      usage.parts[.log]?.historyByteCount += segment.isHistory ? dead : 0
    }
    usage.parts[.packs] = try measure(state.paths.packs)
    for pack in statistics.packs {
      usage.parts[.packs]?.liveByteCount += pack.liveFileByteCount
      usage.parts[.packs]?.deadByteCount += pack.fileByteCount - pack.liveFileByteCount
    }
    usage.parts[.checkpoints] = try measure(state.paths.index)
    usage.parts[.manifests] = try measure(state.paths.root) {
      $0.hasPrefix(StorePaths.manifestPrefix)
    }
    usage.parts[.temporary] = try measure(state.paths.temporary)
    let blobs = try blobUsage()
    usage.parts[.blobs] = SpaceUsage.Part(
      fileCount: blobs.fileCount,
      byteCount: blobs.byteCount,
      liveByteCount: blobs.byteCount
    )
    return usage
  }

  private func measure(
    _ directory: String,
    where isCounted: (String) -> Bool = { _ in true }
  ) throws(StorageError) -> SpaceUsage.Part {
    var part = SpaceUsage.Part()
    for name in try state.fileSystem.list(directory) ?? [] where isCounted(name) {
      // The file may have been removed since.
      guard let size = try state.fileSystem.size(of: directory + "/" + name) else { continue }
      part.fileCount += 1
      part.byteCount += size
    }
    return part
  }
}
