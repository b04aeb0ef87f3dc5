public import LogEngine
public import LogFormat
public import RowFormat

/// The result of a verification: everything that is wrong with a store's files, not only the first thing.
public struct VerificationReport: Hashable, Sendable {
  /// Number of files that were read.
  public internal(set) var fileCount = 0
  /// The size of these files, in bytes.
  public internal(set) var byteCount = 0
  /// Number of segments of the log among them.
  public internal(set) var segmentCount = 0
  /// Number of frames in the segments.
  public internal(set) var frameCount = 0
  /// Number of commits in the log.
  public internal(set) var commitCount = 0
  /// Number of records in the commits.
  public internal(set) var recordCount = 0
  /// Number of rows that exist and were read.
  public internal(set) var rowCount = 0
  /// Number of values in files of their own that were read.
  public internal(set) var blobCount = 0
  /// The newest commit that was found.
  public internal(set) var lastCommit = CommitSequence.zero
  /// The problems, in the order of the log.
  public internal(set) var problems: [VerificationProblem] = []

  /// Whether nothing was found that costs data.
  public var isSound: Bool { !problems.contains { $0.severity == .damage } }
}

/// One thing that is not as it should be.
public struct VerificationProblem: Hashable, Sendable {
  /// The file.
  public let path: String
  /// The offset in the file, if the problem has one.
  public let offset: Int?
  /// The kind of problem.
  public let kind: Kind

  /// The cost of a problem.
  public enum Severity: Hashable, Sendable {
    /// Nothing is lost: a crash leaves such remains, and the next writer clears them away.
    case harmless
    /// Data is lost, or may not be what it was.
    case damage
  }

  /// The problems that a verification finds.
  public enum Kind: Hashable, Sendable {
    /// A checksum or a field contradicts its neighbours.
    case damaged(Corruption.Problem)
    /// A file cannot be read at all.
    case unreadable(StorageError)
    /// So many bytes are no frame, and something was once there.
    case skipped(byteCount: Int)
    /// A frame does not name the one before it as its predecessor, or has another number than follows.
    case brokenChain(CommitSequence)
    /// So many bytes are left of a commit that was never acknowledged.
    case torn(byteCount: Int)
    /// A segment was being made when the writer stopped.
    case unfinished
    /// A checkpoint of the index cannot be used; the next one takes its place.
    case damagedCheckpoint(StorageError)
    /// The keys or words of a secondary index cannot be used; the index is made from the rows.
    case damagedSecondaryIndex(StorageError)
    /// A file belongs to nothing.
    case orphan
    /// The index in memory has a row at another place than the log.
    case wrongLocation(RowReference)
    /// A row cannot be put together.
    case unreadableRow(RowReference, StorageError)
    /// A value in a file of its own is missing or not what was written; the rest of its row can be read.
    case unreadableBlob(OwnedBlob, StorageError)
    /// A table counts other rows than it has.
    case wrongRowCount(table: UInt16, counted: Int, found: Int)
    /// A segment counts other live bytes of a table than it has; table 0 is the catalogue.
    case wrongLiveByteCount(SegmentID, table: UInt16, counted: Int, found: Int)
    /// The catalogue in memory is not the log's.
    case wrongCatalogue
  }

  /// The cost of the problem.
  public var severity: Severity {
    switch kind {
    case .torn, .unfinished, .orphan, .damagedCheckpoint, .damagedSecondaryIndex: .harmless
    default: .damage
    }
  }

  init(_ path: String, at offset: Int? = nil, _ kind: Kind) {
    self.path = path
    self.offset = offset
    self.kind = kind
  }

  /// A problem that was met as an error.
  init(_ error: StorageError, path: String) {
    if case .corruption(let corruption) = error {
      self.init(corruption.path, at: corruption.offset, .damaged(corruption.problem))
    } else if case .unexpectedFile(let found, _, _) = error {
      self.init(found, .unreadable(error))
    } else {
      self.init(path, .unreadable(error))
    }
  }
}
