import LogFormat

/// What a store takes on its device, by kind of file, and how much of that it needs.
public struct SpaceUsage: Hashable, Sendable {
  /// What files are for.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Segments of the log.
    case log
    /// Rows that compaction has packed.
    case packs
    /// What makes opening and fetching fast: images of the index, and the files of secondary indexes.
    case checkpoints
    /// The files that name all others.
    case manifests
    /// Large values in files of their own.
    case blobs
    /// What is not part of the store yet, and is removed when it is opened.
    case temporary
  }

  /// The files of a kind.
  public struct Part: Hashable, Sendable {
    /// How many files there are.
    public internal(set) var fileCount = 0
    /// Their size, in bytes.
    public internal(set) var byteCount = 0
    /// What is needed for the rows there are.
    public internal(set) var liveByteCount = 0
    /// What is no longer needed: compaction reclaims it.
    public internal(set) var deadByteCount = 0
    /// What stays for the history alone.
    public internal(set) var historyByteCount = 0

    /// Headers, checksums, and space that was made ready and holds nothing yet.
    public var otherByteCount: Int {
      byteCount - liveByteCount - deadByteCount - historyByteCount
    }
  }

  /// The files, by kind; a kind without files may be absent.
  public internal(set) var parts: [Kind: Part] = [:]

  /// The files of a kind; none, if there are none.
  public subscript(kind: Kind) -> Part { parts[kind] ?? Part() }

  /// The size of all files, in bytes.
  public var byteCount: Int { parts.values.reduce(0) { $0 + $1.byteCount } }
  /// The bytes that the current rows need.
  public var liveByteCount: Int { parts.values.reduce(0) { $0 + $1.liveByteCount } }
  /// The bytes that compaction can reclaim.
  public var deadByteCount: Int { parts.values.reduce(0) { $0 + $1.deadByteCount } }
  /// The bytes that are kept for the history alone.
  public var historyByteCount: Int { parts.values.reduce(0) { $0 + $1.historyByteCount } }

  /// How many bytes there are, but for the history, for each that is needed; 1 for an empty store.
  public var amplification: Double {
    liveByteCount == 0 ? 1 : Double(byteCount - historyByteCount) / Double(liveByteCount)
  }
}
