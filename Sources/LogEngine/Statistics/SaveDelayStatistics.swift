/// The write stalls since the store was opened: delays of commits while compaction was behind.
public struct SaveDelayStatistics: Hashable, Sendable {
  /// How many commits waited.
  public internal(set) var count = 0
  /// How long they did, together.
  public internal(set) var total = Duration.zero
  /// The bytes of the log per second that commits are held to; `nil` if they are not.
  public internal(set) var bytesPerSecond: Int?
}
