import LogFormat

/// The schedule of background compactions, and their results.
///
/// Invariant: after a compaction, the next one takes no packs until all views that existed at its end are gone. The rows they
/// see count as dead and cannot be left out; so a compaction that took those packs again would gain nothing, and be due again
/// at once.
struct CompactionSchedule: Sendable {
  var pace = CompactionPace()
  /// The write stalls of commits.
  private var saves: SavePace
  /// The rate to which commits are held; `nil` if they are not.
  private var saveRate: Double?
  /// The least gain that makes a compaction worthwhile.
  private(set) var urgency = CompactionUrgency.due
  /// Whether there is work to do, as far as is known.
  private(set) var isDue = false
  /// The reason that the work cannot be done.
  private(set) var obstacle: CompactionOutcome?
  /// The newest commit when the last compaction ended.
  private(set) var lastEnd: UInt64 = 0
  /// The time before which no attempt is made after a failure, in microseconds.
  private(set) var retryAt: Int64 = .min
  private var failureCount = 0
  /// The maximum number of files that a compaction takes: lowered after one that ran out of space.
  private(set) var fileLimit = Int.max
  var statistics = CompactionStatistics()

  init(longestSaveDelay: Duration = .zero) { saves = SavePace(longestDelay: longestSaveDelay) }

  /// The wait for a reader before the next attempt, in microseconds.
  static let readerDelay = 1_000_000
  private static let firstRetryDelay: Int64 = 1_000_000
  private static let longestRetryDelay: Int64 = 64_000_000

  /// Records that a compaction may be due.
  mutating func ask(_ urgency: CompactionUrgency) {
    self.urgency = urgency
    isDue = true
  }

  /// Whether a compaction may be attempted now.
  ///
  /// - Parameters:
  ///   - candidates: The files that it might take.
  ///   - now: The time.
  /// - Returns: `false` if it would gain nothing, or the last attempt failed a moment ago.
  func allowsAttempt(_ candidates: Compactor.Candidates, _ now: Int64) -> Bool {
    // A clock that jumped back must not delay the attempt.
    let isBackingOff = now < retryAt && retryAt - now <= Self.longestRetryDelay
    if isBackingOff { return false }
    // Segments left over by the last compaction can be taken under the same view if it allows that: each is taken only once.
    return candidates.lowWaterMark >= lastEnd || !candidates.segments.isEmpty
  }

  /// Records the reason that nothing was done.
  mutating func record(_ outcome: CompactionOutcome) {
    isDue = false
    obstacle = outcome
  }

  mutating func begin() {
    obstacle = nil
    statistics.isRunning = true
  }

  /// Records a completed compaction.
  mutating func record(_ report: CompactionReport, through sequence: UInt64) {
    lastEnd = sequence
    failureCount = 0
    // The removed files may have made room for more at once.
    fileLimit = Self.raise(fileLimit)
    isDue = false
    end()
    statistics.record(report)
  }

  /// Returns the limit of files after a compaction that observed it and succeeded.
  static func raise(_ fileLimit: Int) -> Int { fileLimit < 1 << 16 ? fileLimit * 2 : .max }

  /// Records how far compaction is behind.
  ///
  /// Commits wait only while a compaction is running: where a view or a failure keeps it from starting, waiting would
  /// not help.
  ///
  /// - Returns: Whether commits wait.
  mutating func recordBackPressure(_ backPressure: Double) -> Bool {
    saveRate = statistics.isRunning ? saves.rate(at: backPressure) : nil
    statistics.saveDelays.bytesPerSecond = saveRate.map { Int($0) }
    return saveRate != nil
  }

  /// Returns the wait of a commit, in microseconds.
  mutating func delay(of byteCount: Int, _ now: Int64) -> Int {
    guard let saveRate else { return 0 }
    let delay = saves.delay(of: byteCount, at: saveRate, now)
    if delay > 0 {
      statistics.saveDelays.count += 1
      statistics.saveDelays.total += .microseconds(delay)
    }
    return delay
  }

  mutating func record(_ progress: CompactionProgress, rate: Double?) {
    statistics.progress = progress
    statistics.bytesPerSecond = rate.map { Int($0) }
  }

  /// Records a compaction that was given up.
  ///
  /// - Parameters:
  ///   - failure: The error, if it failed.
  ///   - fileCount: The number of files it took; 0 if it had not selected any.
  ///   - now: The time.
  mutating func recordEnd(failure: StorageError?, fileCount: Int = 0, _ now: Int64) {
    isDue = false
    end()
    guard let failure else { return }
    statistics.failureCount += 1
    statistics.lastFailure = failure
    if case .noSpace = failure, fileCount > 1 {
      // Waiting changes nothing, but a smaller compaction may find room, and makes some.
      fileLimit = fileCount / 2
      return
    }
    failureCount = min(failureCount + 1, 7)
    retryAt = now + Self.firstRetryDelay << Int64(failureCount - 1)
  }

  private mutating func end() {
    statistics.isRunning = false
    statistics.progress = CompactionProgress()
    _ = recordBackPressure(0)
  }
}
