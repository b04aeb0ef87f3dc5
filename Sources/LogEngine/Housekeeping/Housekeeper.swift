import Locking
import LogFormat
import Synchronization

/// Does what no caller waits for: makes segments ready, synchronizes, writes checkpoints, compacts, sweeps blobs.
///
/// It decides what is due, and asks the log's writer for what changes the log; see ``HousekeptLog``. The writer lets it
/// know that there is work, and passes itself along: so a writer that nobody else holds goes away, and with it this.
///
/// There are two threads. One does what must be done in time, since commits may come to wait for it; the other compacts
/// in steps, and sleeps between them. In a store without background work the caller's thread does both.
final class Housekeeper: Sendable {
  let state: StoreState
  /// The compaction that is under way.
  let compaction = Lock<Compactor?>(nil, .compaction)
  /// When compactions in the background are due, and what came of them.
  let compactionSchedule: Lock<CompactionSchedule>
  /// Whether commits are held back because compaction is late.
  let isHoldingBack = Atomic<Bool>(false)
  /// The search for files of blobs that no row owns, while there is one.
  let blobSweep = Lock<BlobSweep?>(nil, .blobSweep)
  /// When the store comes to rest.
  let idleWatch: Lock<IdleWatch>
  /// Whether the thread was told that there is work.
  private let isAwake = Atomic<Bool>(false)
  /// Whether everything is to come to an end.
  private let hasStopped = Atomic<Bool>(false)
  /// The thread that does all but compact, if the engine has one.
  private let thread = Lock<WorkerThread?>(nil, .backgroundThread)
  /// The thread that compacts; started when there is something to do for the first time.
  private let compactionThread = Lock<WorkerThread?>(nil, .compactionThread)

  init(_ state: StoreState) {
    self.state = state
    compactionSchedule = Lock(
      CompactionSchedule(longestSaveDelay: state.options.backPressure.longestDelay),
      .compactionSchedule
    )
    idleWatch = Lock(IdleWatch(delay: state.options.idleDelay), .idleWatch)
  }

  var isStopping: Bool { hasStopped.load(ordering: .relaxed) }

  /// Starts the thread that does what no caller waits for.
  func start<Log: HousekeptLog>(for log: Log) {
    let thread = WorkerThread(
      priority: .lowest,
      timeout: { [weak self] in self?.delay },
      work: { [weak log, weak self] in if let log { self?.run(for: log) } }
    )
    self.thread.withLock { $0 = thread }
    if isSweepingBlobs { signalWork() }
  }

  /// Ends the threads, and waits for them.
  func stop() {
    hasStopped.store(true, ordering: .relaxed)
    compactionThread.withLock { $0.take() }?.stop()
    thread.withLock { $0.take() }?.stop()
  }

  /// Lets the thread know that there is work, if it does not know yet.
  func signalWork() {
    if isAwake.load(ordering: .relaxed) { return }
    if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { wake() }
  }

  /// Wakes the thread before its time.
  func wake() { thread.withLock { $0 }?.signal() }

  /// Wakes the thread that compacts.
  ///
  /// Its priority is the usual one, for it is held back by its pace: with the lowest, whatever keeps the
  /// processors busy would let the store grow.
  func wakeCompaction<Log: HousekeptLog>(of log: Log) {
    compactionThread.withLock { thread in
      if isStopping { return }
      if thread == nil {
        thread = WorkerThread(
          priority: .usual,
          timeout: { [weak self] in self?.compactionDelay },
          work: { [weak log, weak self] in if let log { self?.stepCompaction(of: log) } }
        )
      }
      thread?.signal()
    }
  }
}

// MARK: What is done beside the commits

extension Housekeeper {
  /// After how many microseconds without a commit the log says that it is all on disk.
  static let witnessDelay = 100_000

  /// How long the thread sleeps, in microseconds, when it is not woken.
  var delay: Int? {
    if !isAwake.load(ordering: .acquiring) { return restDelay }
    if isSweepingBlobs { return 1000 }
    switch state.options.durability {
    case .full, .memory: return Self.witnessDelay
    case .relaxed(let interval):
      let (seconds, attoseconds) = interval.components
      return max(1000, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
    }
  }

  /// Does what is due.
  ///
  /// Errors end writing where they put commits at risk, and show there. Where they do not, the same
  /// call is made again when its result is needed, and then throws.
  func run(for log: some HousekeptLog) {
    defer { state.events.deliver() }
    let before = state.visibility.visible.load(ordering: .acquiring)
    log.prepareIfNeeded()
    log.synchronizeBehind()
    log.leaveOutgrownSegment()
    checkpointIfDue(log)
    let isWitnessed = log.witnessIfIdle()
    if isWitnessed { checkpointIfMissing(log) }
    compactIfDue(isWitnessed ? .idle : .due, log)
    packIfAtRest(log)
    state.collectBlobs()
    let isSweeping = sweepBlobs()
    // Asleep first, then a last look: a commit in between wakes the thread again.
    isAwake.store(false, ordering: .sequentiallyConsistent)
    if !isWitnessed || isSweeping
      || state.visibility.visible.load(ordering: .sequentiallyConsistent) != before
    {
      isAwake.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Writes a checkpoint if the log has grown enough since the last.
  ///
  /// Enough is at least as much as the last one took, so that the checkpoints of a large store that
  /// changes little are not what it mostly writes.
  private func checkpointIfDue(_ log: some HousekeptLog) {
    guard let distance = log.checkpointDistance else { return }
    let limit = UInt64(max(state.options.checkpointInterval, distance.lastByteCount))
    // A failure costs the next opening some time; if it was the log's, the next commit says so.
    if distance.grownByteCount >= limit { try? log.checkpoint() }
  }

  /// Writes a checkpoint if a compaction left none, since nothing else is to be done.
  ///
  /// Not at once after each: a store that is written to all the time would then mostly write checkpoints.
  private func checkpointIfMissing(_ log: some HousekeptLog) {
    // A failure costs the next opening some time; if it was the log's, the next commit says so.
    if log.checkpointDistance?.isMissing == true { try? log.checkpoint() }
  }
}

// MARK: Blobs

extension Housekeeper {
  /// Whether files without an owner are being looked for.
  var isSweepingBlobs: Bool { blobSweep.withLock { $0 != nil } }

  /// Begins a sweep; before the first commit.
  func beginBlobSweep() {
    state.files.blobs.isUnswept.store(true, ordering: .relaxed)
    let sweep = BlobSweep(state)
    blobSweep.withLock { $0 = sweep }
  }

  /// Does a slice of the sweep that is under way.
  ///
  /// - Returns: Whether there is more to do.
  private func sweepBlobs() -> Bool {
    blobSweep.withLock { slot in
      guard var sweep = slot.take() else { return false }
      switch sweep.step(state) {
      case .goesOn:
        slot = sweep
        return true
      case .finished: state.files.blobs.isUnswept.store(false, ordering: .relaxed)
      case .abandoned: break
      }
      sweep.end(state)
      return false
    }
  }
}
