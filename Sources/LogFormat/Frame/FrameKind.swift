/// What a frame is for; raw values are on disk, so add, never renumber.
///
/// Zero is the space that was not written yet.
public enum FrameKind: UInt8, Sendable, Hashable, CaseIterable {
  /// A whole commit.
  case commit = 1
  /// The first frame of a commit in several.
  case first = 2
  /// One between the first and the last.
  case middle = 3
  /// The last frame of a commit in several: only now the commit counts.
  case last = 4
  /// Says that the log is on disk up to here; holds nothing.
  case sync = 5
  /// Ends a segment; the log goes on in the next.
  case seal = 6
  /// Ends the log at a clean close.
  case close = 7
  /// The body of a manifest.
  case manifest = 8

  /// Whether the frame carries records.
  @inlinable package var hasRecords: Bool { rawValue <= FrameKind.last.rawValue }
  /// Whether a commit is complete with this frame.
  @inlinable package var completesCommit: Bool { self == .commit || self == .last }
}
