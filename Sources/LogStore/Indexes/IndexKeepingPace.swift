/// The times at which the background writes indexes to their files: once no commit has come for a while, or once the log has
/// grown by as much as is then written.
///
/// So indexes cost no more writing than the log while commits continue. In a pause a growth of a quarter of that is enough.
struct IndexKeepingPace: Sendable {
  /// The pause between commits that is long enough to write, and the interval between two looks, in microseconds.
  static let quietMicroseconds = 5_000_000
  /// The least growth of the log while commits continue, in bytes: as far as a checkpoint may be behind.
  static let leastGrowth: UInt64 = 64 << 20

  /// The end of the log when indexes were last written, or when the store was opened.
  private var keptEnd: UInt64
  /// The size of what was written then, in bytes.
  private var keptByteCount = 0
  /// Whether files are of no use, or missing, however little the log has grown.
  private var isOutdated = false
  /// The newest commit at the last look.
  private var lastSeen: UInt64?

  init(logEnd: UInt64) { keptEnd = logEnd }

  /// Takes in that an index was made, or that commits which files name were packed.
  mutating func noteOutdated() { isOutdated = true }

  /// Whether no commit has come since the last look: then nothing becomes due before one comes.
  func isQuiet(at newest: UInt64) -> Bool { newest == lastSeen }

  /// Whether it is time to write.
  ///
  /// - Parameters:
  ///   - newest: The newest commit.
  ///   - logEnd: The end of the log.
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
