public import LogFormat

/// A file of the log, as its first bytes describe it.
public struct SegmentDescription: Hashable, Sendable {
  /// The number of the segment.
  public let segment: SegmentID
  /// The segment's file.
  public let path: String
  /// The size of its file, in bytes, unused space included.
  public let fileByteCount: Int
  /// The store that owns the log, and the fields of the header; `nil` if the header cannot be read.
  public let header: Header?
  /// The reason why the header cannot be read; `nil` for a segment that was being made when its writer stopped.
  public let damage: StorageError?
  /// The segment's end according to its successor.
  public let declaredEnd: Int?

  /// The fields of a segment's header.
  public struct Header: Hashable, Sendable {
    /// The store that the segment belongs to.
    public let store: StoreIdentifier
    /// The first commit that may be in the segment.
    public let firstCommit: CommitSequence
    /// The log position of its first frame.
    public let logPosition: UInt64
    /// The segment before it; number 0 for the first.
    public let previousSegment: SegmentID
    /// The end of the log in that segment.
    public let previousEnd: Int
    /// Number of openings of the store for writing so far.
    public let epoch: UInt32
    /// The time at which the segment was begun, in microseconds since 1970-01-01T00:00:00Z.
    public let created: Int64

    init(_ header: SegmentHeader) {
      store = header.store
      firstCommit = header.firstSequence
      logPosition = header.logPosition
      previousSegment = header.previousSegment
      previousEnd = header.previousEnd
      epoch = header.epoch
      created = header.created
    }
  }
}
