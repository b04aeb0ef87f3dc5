/// The purpose of a frame; raw values are on disk, so add, never renumber.
///
/// Zero marks space that was not written yet.
public enum FrameKind: UInt8, Sendable, Hashable, CaseIterable {
  /// A whole commit.
  case commit = 1
  /// The first frame of a commit in several frames.
  case first = 2
  /// A frame between the first and the last.
  case middle = 3
  /// The last frame of a commit in several frames: only now the commit counts.
  case last = 4
  /// Witnesses that the log is on disk up to here; has no contents.
  case sync = 5
  /// Ends a segment; the log continues in the next.
  case seal = 6
  /// Ends the log at a clean close.
  case close = 7
  /// The body of a manifest.
  case manifest = 8

  /// Whether the frame carries records.
  @inlinable package var hasRecords: Bool { rawValue <= FrameKind.last.rawValue }
  /// Whether the frame completes a commit.
  @inlinable package var completesCommit: Bool { self == .commit || self == .last }
}
