import LogFormat

/// The space that a store takes on its device, by kind of file, and the part of it that is needed.
public struct SpaceUsage: Hashable, Sendable {
  /// The purpose of a file.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Segments of the log.
    case log
    /// Packs: rows that compaction has moved out of the log.
    case packs
    /// Files that make opening and fetching fast: images of the index, and secondary indexes.
    case checkpoints
    /// Manifests, which name all other files.
    case manifests
    /// Large values in files of their own.
    case blobs
    /// Files that do not belong to the store yet, and are removed when it is opened.
    case temporary
  }

  /// The files of a kind.
  public struct Part: Hashable, Sendable {
    /// The number of files.
    public internal(set) var fileCount = 0
    /// Their size, in bytes.
    public internal(set) var byteCount = 0
    /// The bytes that the current rows need.
    public internal(set) var liveByteCount = 0
    /// The bytes that are no longer needed: compaction reclaims them.
    public internal(set) var deadByteCount = 0
    /// The bytes that stay for the history alone.
    public internal(set) var historyByteCount = 0

    /// The bytes of headers, checksums and preallocated space that is still empty.
    public var otherByteCount: Int {
      byteCount - liveByteCount - deadByteCount - historyByteCount
    }
  }

  /// The files, by kind; a kind without files may be absent.
  public internal(set) var parts: [Kind: Part] = [:]

  /// The files of a kind; empty if there are none.
  public subscript(kind: Kind) -> Part { parts[kind] ?? Part() }

  /// The size of all files, in bytes.
  public var byteCount: Int { parts.values.reduce(0) { $0 + $1.byteCount } }
  /// The bytes that the current rows need.
  public var liveByteCount: Int { parts.values.reduce(0) { $0 + $1.liveByteCount } }
  /// The bytes that compaction can reclaim.
  public var deadByteCount: Int { parts.values.reduce(0) { $0 + $1.deadByteCount } }
  /// The bytes that are kept for the history alone.
  public var historyByteCount: Int { parts.values.reduce(0) { $0 + $1.historyByteCount } }

  /// The number of bytes, without the history, for each byte that is needed; 1 for an empty store.
  public var amplification: Double {
    liveByteCount == 0 ? 1 : Double(byteCount - historyByteCount) / Double(liveByteCount)
  }
}
