import Locking
import LogFormat
import Synchronization

/// Does what no caller waits for: makes segments ready, synchronizes, writes checkpoints, compacts, sweeps blobs.
///
/// It decides what is due, and asks the log's writer for what changes the log; see ``HousekeptLog``. The writer lets it
/// know that there is work, and passes itself along: so a writer that nobody else holds goes away, and with it this.
///
/// It has two workers, which the threads of a ``WorkerPool`` run. One does what must be done in time, since commits may
/// come to wait for it; the other compacts in steps, with pauses between them. In a store without background work the
/// caller's thread does both.
final class Housekeeper: Sendable {
  let state: StoreState
  /// The compaction that is under way.
  let compaction = Lock<Compactor?>(nil, .compaction)
  /// When background compactions are due, and their results.
  let compactionSchedule: Lock<CompactionSchedule>
  /// Whether commits wait because compaction is behind.
  let isStallingCommits = Atomic<Bool>(false)
  /// The search for files of blobs that no row owns, while there is one.
  let blobSweep = Lock<BlobSweep?>(nil, .blobSweep)
  /// Detects when the store is quiescent.
  let idleWatch: Lock<IdleWatch>
  /// Whether the worker was told that there is work.
  private let isAwake = Atomic<Bool>(false)
  /// After how many microseconds it is asked again whether other processes need what is to be removed; 0: nothing is.
  private let othersDelay = Atomic<Int>(0)
  /// The newest commit when a checkpoint that was missing could not be written.
  private let failedCheckpointCommit = Atomic<UInt64>(.max)
  /// Whether everything is to come to an end.
  private let hasStopped = Atomic<Bool>(false)
  /// Does all but compact; `nil` if the caller does.
  private let worker = Lock<Worker?>(nil, .housekeepingWorker)
  /// Compacts; made when there is something to do for the first time.
  private let compactionWorker = Lock<Worker?>(nil, .compactionWorker)

  init(_ state: StoreState) {
    self.state = state
    compactionSchedule = Lock(
      CompactionSchedule(longestSaveDelay: state.options.backPressure.longestDelay),
      .compactionSchedule
    )
    idleWatch = Lock(IdleWatch(delay: state.options.idleDelay), .idleWatch)
  }

  var isStopping: Bool { hasStopped.load(ordering: .relaxed) }

  /// Begins to do what no caller waits for.
  func start<Log: HousekeptLog>(for log: Log) {
    let worker = Worker(
      of: .lowest,
      delay: { [weak self] in self?.delay },
      work: { [weak log, weak self] in if let log { self?.run(for: log) } }
    )
    self.worker.withLock { $0 = worker }
    if isSweepingBlobs || state.hasRemains.load(ordering: .relaxed) { signalWork() }
  }

  /// Ends the workers, and waits for what they are doing.
  func stop() {
    hasStopped.store(true, ordering: .relaxed)
    compactionWorker.withLock { $0.take() }?.stop()
    worker.withLock { $0.take() }?.stop()
  }

  /// Lets the worker know that there is work, if it does not know yet.
  func signalWork() {
    // In one order with the commit that became visible before: the worker falls asleep, and then looks for one.
    if isAwake.load(ordering: .sequentiallyConsistent) { return }
    if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { wake() }
  }

  /// Wakes the worker before its time.
  func wake() { worker.withLock { $0 }?.signal() }

  /// Wakes the worker that compacts.
  ///
  /// Its priority is the usual one, since its pace throttles it: at the lowest, any load on the processors would let
  /// the store grow.
  func wakeCompaction<Log: HousekeptLog>(of log: Log) {
    compactionWorker.withLock { worker in
      if isStopping { return }
      if worker == nil {
        worker = Worker(
          of: .usual,
          delay: { [weak self] in self?.compactionDelay },
          work: { [weak log, weak self] in if let log { self?.stepCompaction(of: log) } }
        )
      }
      worker?.signal()
    }
  }
}

// MARK: What is done beside the commits

extension Housekeeper {
  /// After how many microseconds without a commit the log says that it is all on disk.
  static let witnessDelay = 100_000

  /// How long the worker sleeps, in microseconds, when it is not woken.
  var delay: Int? {
    if !isAwake.load(ordering: .acquiring) {
      let othersDelay = othersDelay.load(ordering: .relaxed)
      guard othersDelay > 0 else { return quiescenceDelay }
      return min(quiescenceDelay ?? othersDelay, othersDelay)
    }
    if isSweepingBlobs { return 1000 }
    switch state.options.durability {
    case .full, .memory: return Self.witnessDelay
    case .relaxed(let interval): return max(1000, interval.waitMicroseconds)
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
    packIfQuiescent(log)
    noteWaiting(forOthers: log.settleWithOthers())
    let isSweeping = sweepBlobs()
    removeRemains()
    // Asleep first, then a last look: a commit in between wakes the worker again, and what was done here may have taken a
    // turn.
    isAwake.store(false, ordering: .sequentiallyConsistent)
    if !isWitnessed || isSweeping || log.keepsTurn
      || state.visibility.visible.load(ordering: .sequentiallyConsistent) != before
    {
      isAwake.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Notes whether there is something to be removed once no other process needs it: nobody tells of that.
  private func noteWaiting(forOthers waits: Bool) {
    let delay = othersDelay.load(ordering: .relaxed)
    let next = min(max(2 * delay, Self.witnessDelay), Self.longestOthersDelay)
    othersDelay.store(waits ? next : 0, ordering: .relaxed)
  }

  private static let longestOthersDelay = 2_000_000

  /// Writes a checkpoint, or an increment of the last, if the log has grown enough since.
  ///
  /// Enough for a checkpoint is at least as much as the last one took, so that the checkpoints of a large store that
  /// changes little are not what it mostly writes. An increment takes what the changes do, an eighth of the log at the
  /// most, so that little of the log is left to be read after a crash. Without a checkpoint to continue, one is
  /// written where it is as small.
  private func checkpointIfDue(_ log: some HousekeptLog) {
    guard let distance = log.checkpointDistance else { return }
    let interval = state.options.checkpointInterval
    let limit = UInt64(max(interval, distance.lastByteCount))
    let step = UInt64(max(interval / Self.incrementsPerInterval, 1))
    // A failure costs the next opening some time; if it was the log's, the next commit says so.
    if distance.grownByteCount >= limit {
      try? log.checkpoint()
    } else if let continued = distance.continuedByteCount {
      if continued >= step { try? log.appendIncrement() }
    } else if distance.grownByteCount >= step,
      distance.grownByteCount / 8 >= UInt64(state.indexByteCount)
    {
      try? log.checkpoint()
    }
  }

  /// How many increments there are from one checkpoint to the next.
  private static let incrementsPerInterval = 16

  /// Writes a checkpoint if a compaction left none, since nothing else is to be done.
  ///
  /// Not at once after each: a store that is written to all the time would then mostly write checkpoints.
  private func checkpointIfMissing(_ log: some HousekeptLog) {
    let newest = state.visibility.visible.load(ordering: .relaxed)
    guard log.checkpointDistance?.isMissing == true,
      failedCheckpointCommit.load(ordering: .relaxed) != newest
    else { return }
    do {
      try log.checkpoint()
    } catch {
      // It costs the next opening some time; if it was the log's, the next commit says so. It is tried again behind the
      // next commit: on a full device each attempt takes what others have made free.
      failedCheckpointCommit.store(newest, ordering: .relaxed)
    }
  }
}

// MARK: What the opening left

extension Housekeeper {
  /// Removes what the opening found under construction and was too large for it to remove.
  ///
  /// A failure costs space until the next opening.
  private func removeRemains() {
    guard state.hasRemains.exchange(false, ordering: .relaxed) else { return }
    try? state.fileSystem.unlink(state.paths.remains)
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
