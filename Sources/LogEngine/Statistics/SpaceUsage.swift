/// What a store takes on its device, by kind of file, and how much of that it needs.
public struct SpaceUsage: Hashable, Sendable {
  /// What files are for.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case log, packs, checkpoints, manifests, blobs
    /// What is not part of the store yet, and is removed when it is opened.
    case temporary
  }

  /// The files of a kind.
  public struct Part: Hashable, Sendable {
    public internal(set) var fileCount = 0
    public internal(set) var byteCount = 0
    /// What is needed for the rows there are.
    public internal(set) var liveByteCount = 0
    /// What nobody needs: compaction is there to reclaim it.
    public internal(set) var deadByteCount = 0
    /// What stays for the history alone.
    public internal(set) var historyByteCount = 0

    /// Headers, checksums, and space that was made ready and holds nothing yet.
    public var otherByteCount: Int {
      byteCount - liveByteCount - deadByteCount - historyByteCount
    }
  }

  public internal(set) var parts: [Kind: Part] = [:]

  /// The files of a kind; none, if there are none.
  public subscript(kind: Kind) -> Part { parts[kind] ?? Part() }

  public var byteCount: Int { parts.values.reduce(0) { $0 + $1.byteCount } }
  public var liveByteCount: Int { parts.values.reduce(0) { $0 + $1.liveByteCount } }
  public var deadByteCount: Int { parts.values.reduce(0) { $0 + $1.deadByteCount } }
  public var historyByteCount: Int { parts.values.reduce(0) { $0 + $1.historyByteCount } }

  /// How many bytes there are, but for the history, for each that is needed; 1 for an empty store.
  public var amplification: Double {
    liveByteCount == 0 ? 1 : Double(byteCount - historyByteCount) / Double(liveByteCount)
  }
}

extension StorageEngine {
  /// Measures what the store takes.
  ///
  /// What of a pack is live is told from its rows, as if all were alike. Side files count as live: those
  /// that wait to be removed are told by ``blobUsage()``.
  ///
  /// - Throws: ``StorageError`` if a directory cannot be read.
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
      // It may have been removed since.
      guard let size = try state.fileSystem.size(of: directory + "/" + name) else { continue }
      part.fileCount += 1
      part.byteCount += size
    }
    return part
  }
}
