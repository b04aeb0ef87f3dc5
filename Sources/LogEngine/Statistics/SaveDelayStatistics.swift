/// How commits were held back since the store was opened, because compaction was late.
public struct SaveDelayStatistics: Hashable, Sendable {
  /// How many commits waited.
  public internal(set) var count = 0
  /// How long they did, together.
  public internal(set) var total = Duration.zero
  /// The bytes of the log per second that commits are held to; `nil` if they are not.
  public internal(set) var bytesPerSecond: Int?
}
