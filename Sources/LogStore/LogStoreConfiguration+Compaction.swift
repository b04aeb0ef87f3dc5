extension LogStoreConfiguration {
  /// The rules by which a store reclaims the space of replaced and deleted values, and keeps its history.
  ///
  ///     var configuration = LogStoreConfiguration(url: folder)
  ///     configuration.compaction = LogStoreConfiguration.Compaction(.automatic, historyByteCount: 256 << 20)
  ///
  /// Values that a save replaces or deletes stay in the log at first. Compaction moves the live rest of the oldest
  /// part into compressed files, and removes that part. Saves and fetches continue meanwhile; a model that is being
  /// fetched is what it was when the fetch began.
  public struct Compaction: Hashable, Sendable {
    /// The time at which a store is compacted.
    public enum Timing: Hashable, Sendable {
      /// In the background, when it would make the store smaller by about a fifth, or by less once nothing
      /// was saved for ten seconds: the store takes some 1.4 times what is live in it, and its history.
      case automatic
      /// Only during a call of ``LogStore/compact()``: the store grows with every save until then.
      case onDemand
    }

    /// The time at which the store is compacted.
    public var timing: Timing
    /// The age up to which a save stays in the log, where `logstore-inspect` shows what it changed; without a limit
    /// if `nil`.
    public var historyAge: Duration?
    /// Limit, in bytes, of the log that stays for that, whatever its age; without a limit if `nil`.
    public var historyByteCount: Int?

    /// Describes how a store is compacted.
    ///
    /// - Parameters:
    ///   - timing: The time at which the store is compacted.
    ///   - historyAge: The age up to which saves stay in the log; by default 30 days.
    ///   - historyByteCount: Limit, in bytes, of the log that stays for that; by default 32 MiB.
    public init(
      _ timing: Timing,
      historyAge: Duration? = .seconds(30 * 86_400),
      historyByteCount: Int? = 32 << 20
    ) {
      self.timing = timing
      self.historyAge = historyAge
      self.historyByteCount = historyByteCount
    }

    /// In the background, with a history of 30 days and not more than 32 MiB.
    public static let automatic = Compaction(.automatic)
    /// On demand, with the same history.
    public static let onDemand = Compaction(.onDemand)
  }
}
