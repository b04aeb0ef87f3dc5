/// The progress of a long operation on a store.
public struct MaintenanceProgress: Hashable, Sendable {
  /// The current phase.
  public let phase: Phase
  /// The completed part of the phase, in bytes; of ``Phase-swift.enum/checkingRows``, in rows.
  public let completed: Int
  /// The size of the whole phase, in the same unit.
  public let total: Int

  package init(phase: Phase, completed: Int, total: Int) {
    self.phase = phase
    self.completed = completed
    self.total = total
  }

  /// The steps of a backup, a verification or a salvage.
  public enum Phase: String, Hashable, Sendable {
    /// Reading every frame and record.
    case readingLog
    /// Building the index anew.
    case replaying
    /// Reading every row and comparing it with its index entry.
    case checkingRows
    /// Linking or copying files.
    case copying
    /// Writing the rows that could be saved.
    case writing
  }
}
