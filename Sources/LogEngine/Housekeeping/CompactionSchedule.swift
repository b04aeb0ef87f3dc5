import LogFormat

/// When background compactions are due, and their results.
///
/// Invariant: after a compaction, the next one takes no packs until all views that were there at its end are gone.
/// What they see counts as dead and cannot be left out; so a compaction that took it again would gain
/// nothing, and be due at once again.
struct CompactionSchedule: Sendable {
  var pace = CompactionPace()
  /// The write stalls of commits.
  private var saves: SavePace
  /// The rate they are held to; `nil` if they are not.
  private var saveRate: Double?
  /// How much is asked for.
  private(set) var urgency = CompactionUrgency.due
  /// Whether there is something to do, as far as is known.
  private(set) var isDue = false
  /// What keeps it from being done.
  private(set) var obstacle: CompactionOutcome?
  /// The newest commit when the last compaction ended.
  private(set) var lastEnd: UInt64 = 0
  /// No attempt is made before this time, in microseconds, after one that failed.
  private(set) var retryAt: Int64 = .min
  private var failureCount = 0
  /// How many files a compaction takes at most: fewer after one that found no room for what it writes.
  private(set) var fileLimit = Int.max
  var statistics = CompactionStatistics()

  init(longestSaveDelay: Duration = .zero) { saves = SavePace(longestDelay: longestSaveDelay) }

  /// How long to wait for a reader before asking again, in microseconds.
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
  ///   - candidates: What it might take.
  ///   - now: The time.
  /// - Returns: `false` if it would gain nothing, or the last attempt failed a moment ago.
  func allowsAttempt(_ candidates: Compactor.Candidates, _ now: Int64) -> Bool {
    // A clock that jumped back must not delay the attempt.
    let isBackingOff = now < retryAt && retryAt - now <= Self.longestRetryDelay
    if isBackingOff { return false }
    // What was left of segments that a view allows to be packed can be taken under the same view: each is only once.
    return candidates.lowWaterMark >= lastEnd || !candidates.segments.isEmpty
  }

  /// Records why nothing was done.
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
    // What was removed may be room for more at once.
    fileLimit = Self.raise(fileLimit)
    isDue = false
    end()
    statistics.record(report)
  }

  /// A limit of files after a compaction that kept it and succeeded.
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

  /// The wait of a commit, in microseconds.
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
  ///   - failure: Why, if it failed.
  ///   - fileCount: How many files it took; 0 if it did not come to that.
  ///   - now: The time.
  mutating func recordEnd(failure: StorageError?, fileCount: Int = 0, _ now: Int64) {
    isDue = false
    end()
    guard let failure else { return }
    statistics.failureCount += 1
    statistics.lastFailure = failure
    if case .noSpace = failure, fileCount > 1 {
      // Nothing changes by waiting, but a smaller compaction may find room, and makes some.
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
