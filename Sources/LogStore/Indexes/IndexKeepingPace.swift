/// When the background writes indexes to their files: once no commit has come for a while, or once the log has grown by as
/// much as is written then.
///
/// So indexes cost no more writing than the log while commits go on. In a pause a growth of a quarter of that is enough.
struct IndexKeepingPace: Sendable {
  /// How long no commit must have come, in microseconds; also how often somebody looks while there is something to write.
  static let quietMicroseconds = 5_000_000
  /// By how much the log has to grow at least while commits go on, in bytes: as far as a checkpoint may be behind.
  static let leastGrowth: UInt64 = 64 << 20

  /// Where the log ended when indexes were last written, or when the store was opened.
  private var keptEnd: UInt64
  /// How much was written then, in bytes.
  private var keptByteCount = 0
  /// Whether files are of no use, or missing, however little the log has grown.
  private var isOutdated = false
  /// The newest commit at the last look.
  private var lastSeen: UInt64?

  init(logEnd: UInt64) { keptEnd = logEnd }

  /// Takes in that an index was made, or that commits which files name were packed.
  mutating func noteOutdated() { isOutdated = true }

  /// Whether no commit has come since the last look: then what is not due now is not before one comes.
  func isQuiet(at newest: UInt64) -> Bool { newest == lastSeen }

  /// Whether it is time to write.
  ///
  /// - Parameters:
  ///   - newest: The newest commit.
  ///   - logEnd: Where the log ends.
  /// - Returns: `false` if it is better to wait.
  mutating func isDue(newest: UInt64, logEnd: UInt64) -> Bool {
    defer { lastSeen = newest }
    let growth = logEnd - min(keptEnd, logEnd)
    if isQuiet(at: newest) { return isOutdated || growth >= UInt64(keptByteCount / 4) }
    return growth >= max(IndexKeepingPace.leastGrowth, UInt64(keptByteCount))
  }

  /// Takes in that indexes were written.
  mutating func noteKept(_ byteCount: Int, logEnd: UInt64) {
    (keptEnd, keptByteCount, isOutdated) = (logEnd, byteCount, false)
  }
}
