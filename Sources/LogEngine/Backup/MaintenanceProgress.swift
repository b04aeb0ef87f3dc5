/// How far a long piece of work on a store has come.
public struct MaintenanceProgress: Hashable, Sendable {
  /// What is being done.
  public let phase: Phase
  /// How much of the phase is done, in bytes; of ``Phase-swift.enum/checkingRows``, in rows.
  public let completed: Int
  /// How much there is to be done in it.
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
    /// Reading every row, and comparing where it was found.
    case checkingRows
    /// Linking or copying files.
    case copying
    /// Writing what could be saved.
    case writing
  }
}
