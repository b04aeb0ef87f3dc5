import Locking
import LogFormat
import Synchronization

/// Does the work that no caller waits for: prepares segments, synchronizes, writes checkpoints, compacts, sweeps blobs.
///
/// It decides which work is due, and asks the log's writer to change the log; see ``HousekeptLog``. The writer signals work and
/// passes itself along: so a writer without other owners is released, and the housekeeper with it.
///
/// It has two workers, which the threads of a ``WorkerPool`` run. One does work with a deadline, since commits may come to wait
/// for it; the other compacts in steps, with pauses between them. In a store without background work the caller's thread does
/// both.
final class Housekeeper: Sendable {
  let state: StoreState
  /// The running compaction.
  let compaction = Lock<Compactor?>(nil, .compaction)
  /// The schedule of background compactions, and their results.
  let compactionSchedule: Lock<CompactionSchedule>
  /// Whether commits wait because compaction is behind.
  let isStallingCommits = Atomic<Bool>(false)
  /// The sweep for files of blobs that no row owns, while there is one.
  let blobSweep = Lock<BlobSweep?>(nil, .blobSweep)
  /// Moves the slots of an index from a checkpoint older than some packs, while there are any.
  private let slotMove = Lock<SlotMove?>(nil, .slotMove)
  /// Detects when the store is quiescent.
  let idleWatch: Lock<IdleWatch>
  /// Whether work was signalled to the worker.
  private let isAwake = Atomic<Bool>(false)
  /// The delay, in microseconds, before other processes are asked again about files to be removed; 0: there are none.
  private let othersDelay = Atomic<Int>(0)
  /// The newest commit when a missing checkpoint could not be written.
  private let failedCheckpointCommit = Atomic<UInt64>(.max)
  /// Whether all work must end.
  private let hasStopped = Atomic<Bool>(false)
  /// Does all work but compaction; `nil` if the caller does.
  private let worker = Lock<Worker?>(nil, .housekeepingWorker)
  /// Compacts; created when there is work for the first time.
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

  /// Starts the background work.
  func start<Log: HousekeptLog>(for log: Log) {
    let worker = Worker(
      of: .lowest,
      delay: { [weak self] in self?.delay },
      work: { [weak log, weak self] in if let log { self?.run(for: log) } }
    )
    self.worker.withLock { $0 = worker }
    if isSweepingBlobs || isMovingSlots || state.hasRemains.load(ordering: .relaxed) {
      signalWork()
    }
  }

  /// Ends the workers, and waits for their current work.
  func stop() {
    hasStopped.store(true, ordering: .relaxed)
    compactionWorker.withLock { $0.take() }?.stop()
    worker.withLock { $0.take() }?.stop()
  }

  /// Signals work to the worker, unless that was done already.
  func signalWork() {
    // In one order with the preceding publication of a commit: the worker falls asleep, and then looks for one.
    if isAwake.load(ordering: .sequentiallyConsistent) { return }
    if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { wake() }
  }

  /// Wakes the worker early.
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

// MARK: Moving slots

extension Housekeeper {
  private var isMovingSlots: Bool { slotMove.withLock { $0 != nil } }

  /// Begins to move the slots that name files which some packs have replaced.
  func beginMovingSlots(to packs: [PackID]) {
    if !packs.isEmpty { slotMove.withLock { $0 = SlotMove(to: packs, of: state) } }
  }

  /// Does one step of the move.
  ///
  /// - Returns: Whether there is more to do.
  private func moveSlots() -> Bool {
    slotMove.withLock { slot in
      guard var move = slot.take() else { return false }
      if move.step(state) { slot = move }
      return slot != nil
    }
  }

  /// Moves the slots that are left, so that a checkpoint names no file that is gone.
  func finishMovingSlots() { while moveSlots() {} }
}

// MARK: Work beside the commits

extension Housekeeper {
  /// The time without a commit, in microseconds, after which the log witnesses that all of it is on disk.
  static let witnessDelay = 100_000

  /// The time for which the worker sleeps unless it is woken, in microseconds.
  var delay: Int? {
    if !isAwake.load(ordering: .acquiring) {
      let othersDelay = othersDelay.load(ordering: .relaxed)
      guard othersDelay > 0 else { return quiescenceDelay }
      return min(quiescenceDelay ?? othersDelay, othersDelay)
    }
    if isSweepingBlobs || isMovingSlots { return 1000 }
    switch state.options.durability {
    case .full, .memory: return Self.witnessDelay
    case .relaxed(let interval): return max(1000, interval.waitMicroseconds)
    }
  }

  /// Does the work that is due.
  ///
  /// Errors that put commits at risk end writing, and show there. After other errors the same call is repeated when its result
  /// is needed, and then throws.
  func run(for log: some HousekeptLog) {
    defer { state.events.deliver() }
    let before = state.visibility.visible.load(ordering: .acquiring)
    log.prepareIfNeeded()
    log.synchronizeBehind()
    log.leaveOutgrownSegment()
    checkpointIfDue(log)
    let isMovingSlots = moveSlots()
    let isWitnessed = log.witnessIfIdle()
    if isWitnessed, !isMovingSlots { checkpointIfMissing(log) }
    compactIfDue(isWitnessed ? .idle : .due, log)
    packIfQuiescent(log)
    noteWaiting(forOthers: log.settleWithOthers())
    let isSweeping = sweepBlobs()
    removeRemains()
    // The worker falls asleep first, then takes a last look: a commit in between wakes it again, and the work done here may
    // have taken a turn.
    isAwake.store(false, ordering: .sequentiallyConsistent)
    if !isWitnessed || isSweeping || isMovingSlots || log.keepsTurn
      || state.visibility.visible.load(ordering: .sequentiallyConsistent) != before
    {
      isAwake.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Records whether files wait for other processes before they can be removed, which nothing signals.
  private func noteWaiting(forOthers waits: Bool) {
    let delay = othersDelay.load(ordering: .relaxed)
    let next = min(max(2 * delay, Self.witnessDelay), Self.longestOthersDelay)
    othersDelay.store(waits ? next : 0, ordering: .relaxed)
  }

  private static let longestOthersDelay = 2_000_000

  /// Writes a checkpoint, or an increment of the last, if the log has grown enough since.
  ///
  /// The growth for a checkpoint is at least the size of the last one, so that a large store with few changes does not mostly
  /// write checkpoints. An increment takes as much as the changes do, at most an eighth of the log, so that little of the log
  /// has to be read after a crash. Without a checkpoint to continue, one is written if it is as small.
  private func checkpointIfDue(_ log: some HousekeptLog) {
    guard let distance = log.checkpointDistance else { return }
    let interval = state.options.checkpointInterval
    let limit = UInt64(max(interval, distance.lastByteCount))
    let step = UInt64(max(interval / Self.incrementsPerInterval, 1))
    // A failure costs the next opening some time; if the log failed, the next commit throws.
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

  /// The number of increments between two checkpoints.
  private static let incrementsPerInterval = 16

  /// Writes a checkpoint if a compaction left none and there is no other work.
  ///
  /// Not done right after each compaction: a store under constant load would then mostly write checkpoints.
  private func checkpointIfMissing(_ log: some HousekeptLog) {
    let newest = state.visibility.visible.load(ordering: .relaxed)
    guard log.checkpointDistance?.isMissing == true,
      failedCheckpointCommit.load(ordering: .relaxed) != newest
    else { return }
    do {
      try log.checkpoint()
    } catch {
      // This costs the next opening some time; if the log failed, the next commit throws. It is tried again after the next
      // commit: on a full device each attempt takes space that others have freed.
      failedCheckpointCommit.store(newest, ordering: .relaxed)
    }
  }
}

// MARK: Remains of the opening

extension Housekeeper {
  /// Removes files that the opening found under construction, which were too large for it to remove.
  ///
  /// A failure costs space until the next opening.
  private func removeRemains() {
    guard state.hasRemains.exchange(false, ordering: .relaxed) else { return }
    try? state.fileSystem.unlink(state.paths.remains)
  }
}

// MARK: Blobs

extension Housekeeper {
  /// Whether a sweep for files without an owner is running.
  var isSweepingBlobs: Bool { blobSweep.withLock { $0 != nil } }

  /// Begins a sweep; called before the first commit.
  func beginBlobSweep() {
    state.files.blobs.isUnswept.store(true, ordering: .relaxed)
    let sweep = BlobSweep(state)
    blobSweep.withLock { $0 = sweep }
  }

  /// Does one slice of the running sweep.
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
