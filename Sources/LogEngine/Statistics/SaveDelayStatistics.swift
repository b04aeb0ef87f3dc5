/// The write stalls since the store was opened: delays of commits while compaction was behind.
public struct SaveDelayStatistics: Hashable, Sendable {
  /// The number of commits that waited.
  public internal(set) var count = 0
  /// Their total wait.
  public internal(set) var total = Duration.zero
  /// The rate to which commits are held, in bytes of the log per second; `nil` if they are not.
  public internal(set) var bytesPerSecond: Int?
}
