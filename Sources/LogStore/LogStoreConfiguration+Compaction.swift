extension LogStoreConfiguration {
  /// How a store reclaims the space of replaced and deleted values, and how much of its history it keeps.
  ///
  ///     var configuration = LogStoreConfiguration(url: folder)
  ///     configuration.compaction = LogStoreConfiguration.Compaction(.automatic, historyByteCount: 256 << 20)
  ///
  /// What a save replaces or deletes stays in the log at first. Compaction moves what is left of its oldest
  /// part into compressed files, and removes it. Saves and fetches go on meanwhile; a model that is being
  /// fetched is what it was when the fetch began.
  public struct Compaction: Hashable, Sendable {
    /// When a store is compacted.
    public enum Timing: Hashable, Sendable {
      /// In the background, when it would make the store smaller by about a fifth, or by less once nothing
      /// was saved for ten seconds: the store takes some 1.4 times what is live in it, and its history.
      case automatic
      /// When ``LogStore/compact()`` is called, and only then: the store grows with every save until it is.
      case onDemand
    }

    /// When the store is compacted.
    public var timing: Timing
    /// How long a save stays in the log, where `logstore-inspect` shows what it changed; without a limit
    /// if `nil`.
    public var historyAge: Duration?
    /// How many bytes of the log stay for that, whatever their age; without a limit if `nil`.
    public var historyByteCount: Int?

    /// Describes how a store is compacted.
    ///
    /// - Parameters:
    ///   - timing: When the store is compacted.
    ///   - historyAge: For how long saves stay in the log; by default 30 days.
    ///   - historyByteCount: How many bytes of the log stay for that; by default 32 MiB.
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
    /// When it is asked for, with the same history.
    public static let onDemand = Compaction(.onDemand)
  }
}
