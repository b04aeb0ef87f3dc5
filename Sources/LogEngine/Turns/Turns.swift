import LibC
import Locking
import LogFormat
import Synchronization

/// A process's turns at writing a store that several processes write.
///
/// A turn belongs to the process: while it lasts, all its threads may write, as if the process had the store to itself. So
/// their commits group themselves as usual. Beside other processes, a turn that has lasted for ``burst`` admits no further
/// threads, and ends with the last thread in it; the next begins when the process gets the lock of `TURN` again.
///
/// A process that is the only member does not end its turn: it keeps it as a lease, so its saves cost no more than those of a
/// process that has the store to itself; they continue while the background uses the turn, for instance for a checkpoint. A
/// process that joins asks for the turn in `TURN`, which wakes the thread that watches the file; a process that saves nothing
/// for a while ends its lease by itself.
///
/// Beside other members, a process whose saves follow one another at once keeps its turn between them, too, for a moment: see
/// ``SaveStreak``.
///
/// ``LogWriter`` begins and ends turns; it lists the steps.
final class Turns: @unchecked Sendable {
  let file: TurnFile
  let membership: Membership
  /// The number of turns when this process was last ready to append.
  let known: Atomic<UInt64>
  /// The number of turns when this process last read the log.
  let read: Atomic<UInt64>
  /// The time for which threads may join a turn, in microseconds.
  static let burst = 5000

  /// The longest wait of a thread for the turn of its process, in microseconds; `nil` waits without end.
  private let timeout: Int?
  private let gate = Monitor()
  @safe @exclusivity(unchecked) private var phase = Phase.between
  /// The number of threads in the turn.
  @safe @exclusivity(unchecked) private var count = 0
  @safe @exclusivity(unchecked) private var start = 0
  /// The number of entries of each thread, and its durable end to wait for afterwards.
  @safe @exclusivity(unchecked) private var threads: [UInt: Stay] = [:]
  /// The file through which members synchronize the log for each other; `nil` if they do so in their turns.
  let shared: SharedSynchronization?

  /// Keys reserved for this process, by table; the lock also makes the threads of a turn take numbers one after the other.
  private let reserved = Lock<[UInt16: Range<UInt64>]>([:], .commitMarks)

  /// Whether the turn may be kept: there are no other members, and a joining process can be heard.
  @safe @exclusivity(unchecked) private var mayLease = false
  /// Whether another process waits for the turn.
  @safe @exclusivity(unchecked) private var isWanted = false
  /// The time of the last check for other members.
  @safe @exclusivity(unchecked) private var lookedAt = 0
  /// The last request in `TURN` from a waiting process.
  private let heard = Atomic<UInt64>(0)
  /// Whether requests of waiting processes can be heard.
  let hears = Atomic<Bool>(false)

  @safe @exclusivity(unchecked) private var streak = SaveStreak()
  /// Ends a turn that is kept during a streak of saves, if its threads do not come back; `nil` if no turn is.
  @safe @exclusivity(unchecked) private var timer: Worker?
  /// Whether the timer is running.
  @safe @exclusivity(unchecked) private var isTimed = false
  /// Whether the last turn was kept during a streak, so that others may have waited for it.
  @safe @exclusivity(unchecked) private var wasKept = false
  /// The last mark of a waiting process for which this one has let others begin.
  @safe @exclusivity(unchecked) private var answered: TurnFile.WaitingMark?
  /// The number of turns kept since others were let begin.
  @safe @exclusivity(unchecked) private var keptCount = 0

  /// A thread's time in a turn.
  private struct Stay {
    var depth = 1
    /// The log position that must be on disk before the thread reports its commits as durable.
    var owed: UInt64?
  }

  private enum Phase {
    case between
    /// One thread begins or ends the turn.
    case changing
    case open
    /// No thread is in the turn, and it has not ended.
    case leased
  }

  init(
    _ file: TurnFile,
    _ membership: Membership,
    _ shared: SharedSynchronization?,
    known: UInt64,
    timeout: Duration?
  ) {
    self.file = file
    self.membership = membership
    self.shared = shared
    self.timeout = timeout.map { Int(clamping: $0.microseconds) }
    self.known = Atomic(known)
    read = Atomic(known)
  }

  /// Enters the turn of this process, or begins one; waits for the turns of others.
  ///
  /// A thread may enter again while it is in a turn.
  ///
  /// - Parameter begin: Begins the turn: takes the lock of `TURN`, waiting until the given deadline.
  /// - Throws: Any error that `begin` throws, or ``StorageError/turnTimeout(path:waited:holder:)``; then the thread is in no
  ///   turn.
  func enter(_ begin: (_ deadline: Int?) throws(StorageError) -> Void) throws(StorageError) {
    let thread = Thread.current
    let deadline = timeout.map { Self.deadline(in: $0) }
    let entry = gate.withMutex { () -> Entry in
      if threads[thread] != nil {
        threads[thread]?.depth += 1
        return .entered
      }
      if timer != nil, !mayLease { streak.noteEntry(at: Monitor.now()) }
      while true {
        switch phase {
        case .between:
          phase = .changing
          return .first
        case .open where count == 0 || mayLease && !isWanted || Monitor.now() - start < Self.burst:
          count += 1
          threads[thread] = Stay()
          return .entered
        case .leased where !isWanted:
          phase = .open
          count = 1
          threads[thread] = Stay()
          if mayLease { start = Monitor.now() }
          return .entered
        case .open, .leased, .changing:
          guard let deadline else {
            gate.wait(for: .end)
            continue
          }
          let rest = deadline - Monitor.now()
          if rest <= 0 { return .late }
          _ = gate.wait(for: .end, atMost: rest)
        }
      }
    }
    switch entry {
    case .entered: return
    case .late: throw timeoutError
    case .first: break
    }
    letWaitingBegin()
    do throws(StorageError) {
      try begin(deadline)
    } catch {
      gate.withMutex {
        phase = .between
        gate.broadcast(.end)
      }
      throw error
    }
    gate.withMutex {
      phase = .open
      count = 1
      threads[thread] = Stay()
      start = Monitor.now()
      gate.broadcast(.end)
    }
  }

  /// The way in which a thread enters a turn.
  private enum Entry {
    /// The thread must begin the turn.
    case first
    /// Another thread began it.
    case entered
    /// The thread did not enter: the wait has timed out.
    case late
  }

  /// Returns the deadline of a wait that begins now.
  static func deadline(in timeout: Int) -> Int {
    let (deadline, overflows) = Monitor.now().addingReportingOverflow(timeout)
    return overflows ? .max : deadline
  }

  /// The error that names the process with the turn, or the one that this process waits for in its own.
  var timeoutError: StorageError {
    .turnTimeout(
      path: membership.members.paths.root,
      waited: .microseconds(timeout ?? 0),
      holder: synchronizerName ?? file.describeHolder(membership.members)
    )
  }

  /// The name of a process that synchronizes the log, unless another one has the turn.
  private var synchronizerName: String? {
    let own = membership.number
    guard let holder = try? file.readHolder().member, holder == 0 || holder == own,
      let member = shared?.synchronizer, member != own
    else { return nil }
    return membership.members.name(of: member)
  }

  /// Leaves the turn; the last thread ends it.
  ///
  /// - Returns: The result of leaving.
  func leave(_ end: () -> Void) -> Departure {
    let thread = Thread.current
    var needsTimer = false
    let (isLast, departure) = gate.withMutex { () -> (Bool, Departure) in
      guard let stay = threads[thread] else {
        preconditionFailure("a thread leaves a turn that it is not in")
      }
      if stay.depth > 1 {
        threads[thread]?.depth -= 1
        return (false, Departure())
      }
      threads[thread] = nil
      count -= 1
      if count > 0 { return (false, Departure(owed: stay.owed)) }
      if mayLease, !isWanted {
        phase = .leased
        gate.broadcast(.end)
        return (false, Departure(owed: stay.owed, keepsTurn: true))
      }
      if timer != nil, !mayLease, keepsDuringStreak(owing: stay.owed) {
        phase = .leased
        wasKept = true
        needsTimer = !isTimed
        isTimed = true
        gate.broadcast(.end)
        return (false, Departure())
      }
      phase = .changing
      return (true, Departure(owed: stay.owed))
    }
    if needsTimer { timer?.signal() }
    if isLast { finish(end) }
    return departure
  }

  /// The result of leaving a turn.
  struct Departure {
    /// The log position that must be on disk before the thread reports its commits as durable; see ``owe(_:)``.
    var owed: UInt64?
    /// Whether the process keeps the turn, with no thread in it.
    var keepsTurn = false
  }

  /// Makes the calling thread wait, after its turn, until the log is on disk up to a position.
  func owe(_ end: UInt64) {
    gate.withMutex {
      assert(threads[Thread.current] != nil, "a thread owes a commit that it made in no turn")
      threads[Thread.current]?.owed = max(threads[Thread.current]?.owed ?? 0, end)
    }
  }

  private func finish(_ end: () -> Void) {
    end()
    gate.withMutex {
      if isWanted { letOthersBegin() }
      phase = .between
      isWanted = false
      gate.broadcast(.end)
    }
  }

  /// The time that a process which has asked for the turn has to take it, in microseconds.
  private static let handOver = 1000

  /// Leaves the lock alone for a moment: the process that has asked for it sleeps, and this one would take it again before that
  /// wakes.
  private func letOthersBegin() {
    let end = Monitor.now() + Self.handOver
    // The other process becomes a member only in its turn: until then, no turn is kept.
    lookedAt = end
    var rest = Self.handOver
    while rest > 0 {
      _ = gate.wait(for: .end, atMost: rest)
      rest = end - Monitor.now()
    }
  }

  // MARK: Leases

  /// The interval at which a process with other members checks whether they are gone, in microseconds.
  private static let lookInterval = 100_000

  /// Determines whether a turn may be kept; called by the thread that begins it.
  ///
  /// No process joins during the turn.
  func decideOnLease() {
    let now = Monitor.now()
    guard hears.load(ordering: .acquiring), now - lookedAt >= Self.lookInterval else {
      return gate.withMutex { mayLease = false }
    }
    lookedAt = now
    let isAlone = (try? membership.members.others(than: membership.number).isEmpty) ?? false
    gate.withMutex { mayLease = isAlone }
  }

  /// Whether commits wait for the disk after the turn, and not in it.
  ///
  /// With a timeout, a process takes the lock of a synchronization before it writes.
  var synchronizesLater: Bool { shared != nil && timeout == nil }

  /// Whether there are no other members, as far as is known.
  var isAlone: Bool { gate.withMutex { mayLease } }

  /// Whether the process keeps its turn, with no thread in it.
  var isLeased: Bool { gate.withMutex { phase == .leased } }

  /// Stops keeping turns.
  func stopLeasing() {
    hears.store(false, ordering: .releasing)
    gate.withMutex { mayLease = false }
  }

  /// Ends the lease if another process has asked for the turn.
  func yieldIfWanted(_ end: () -> Void) {
    guard let asked = try? file.readAsked(), heard.exchange(asked, ordering: .relaxed) != asked
    else { return }
    endLease(isWanted: true, end)
  }

  /// Ends the lease if no thread has used it for a while.
  ///
  /// - Parameters:
  ///   - microseconds: The time for which the lease was unused.
  ///   - end: Ends the turn.
  /// - Returns: Whether there is no lease.
  func endLease(unusedFor microseconds: Int, _ end: () -> Void) -> Bool {
    let isUnused = gate.withMutex { Monitor.now() - start >= microseconds }
    if isUnused { endLease(isWanted: false, end) }
    return gate.withMutex { phase == .between }
  }

  private func endLease(isWanted: Bool, _ end: () -> Void) {
    let isLeased = gate.withMutex { () -> Bool in
      if isWanted { self.isWanted = true }
      guard phase == .leased else { return false }
      phase = .changing
      return true
    }
    if isLeased { finish(end) }
  }

  // MARK: Streaks

  /// Begins to keep turns during streaks of saves.
  ///
  /// - Parameter timer: Calls ``endKept(_:)`` after ``timerDelay``.
  func keepDuringStreaks(_ timer: Worker) { gate.withMutex { self.timer = timer } }

  /// Whether the turn is kept, although there are other members; called when no thread is in it any more.
  private func keepsDuringStreak(owing end: UInt64?) -> Bool {
    let now = Monitor.now()
    streak.noteExit(at: now)
    // A save that waits for the disk has nothing to do until then, and others have.
    return end == nil && !isWanted && hears.load(ordering: .relaxed)
      && streak.isLong && now - start < SaveStreak.longestTurn
  }

  /// Whether the turn is kept during a streak.
  private var isKept: Bool { phase == .leased && !mayLease }

  /// Ends a turn that was kept for its longest time.
  func endKept(_ end: () -> Void) {
    let isOver = gate.withMutex { () -> Bool in
      guard isKept, Monitor.now() - start >= SaveStreak.longestTurn else { return false }
      phase = .changing
      return true
    }
    if isOver { finish(end) }
  }

  /// The time until a kept turn may have to be ended, in microseconds; `nil` if the streak is over.
  var timerDelay: Int? {
    gate.withMutex {
      let now = Monitor.now()
      if isKept { return max(start + SaveStreak.longestTurn - now, 1) }
      if streak.goesOn(at: now) { return SaveStreak.longestTurn }
      isTimed = false
      return nil
    }
  }

  /// Leaves the lock alone after a turn that was kept, until a process that waits for it has begun its turn.
  ///
  /// Such a process sleeps, and this one would take the lock again before that wakes.
  private func letWaitingBegin() {
    guard wasKept else { return }
    wasKept = false
    keptCount += 1
    // Members of earlier versions leave no mark.
    let isDue = keptCount >= Self.mostKept
    guard let mark = try? file.readWaitingMark(),
      isDue || mark != answered && mark.member != membership.number
    else { return }
    answered = mark
    keptCount = 0
    let end = Monitor.now() + Self.wakeTime
    let known = known.load(ordering: .relaxed)
    repeat {
      file.pause(microseconds: 10)
    } while Monitor.now() < end && (try? file.readHolder()) == TurnFile.Holder(turns: known)
  }

  /// The maximum number of turns that are kept one after the other without letting others begin.
  private static let mostKept = 16
  /// The time that a process which waits for the lock has to wake, in microseconds.
  private static let wakeTime = 200

  // MARK: Leaving

  /// Leaves the members, and gives back all files, by a process that has ended its last turn.
  func close() {
    gate.withMutex { timer.take() }?.stop()
    membership.leave()
    file.close()
    shared?.close()
  }

  // MARK: Numbers

  /// The minimum number of keys that a process gets at a request.
  private static let keyReserve = 64

  /// Takes keys that were reserved for this process earlier; `nil` if there are too few.
  func takeReserved(_ count: Int, of table: UInt16) -> Range<UInt64>? {
    reserved.withLock { Self.take(count, of: table, from: &$0) }
  }

  private static func take(
    _ count: Int,
    of table: UInt16,
    from reserved: inout [UInt16: Range<UInt64>]
  ) -> Range<UInt64>? {
    guard let keys = reserved[table], keys.count >= count else { return nil }
    let end = keys.lowerBound + UInt64(count)
    reserved[table] = end..<keys.upperBound
    return keys.lowerBound..<end
  }

  /// Allocates keys of a table, in a turn, and keeps some for later; those left over from before are never used.
  ///
  /// The turn excludes other processes from `TURN`, and the lock excludes the other threads in the turn.
  ///
  /// - Parameters:
  ///   - count: The number of keys.
  ///   - table: The table.
  ///   - known: The lowest key that no row has.
  /// - Returns: The keys.
  /// - Throws: ``StorageError`` if `TURN` cannot be read or written.
  func takeKeys(
    _ count: Int,
    of table: UInt16,
    from known: UInt64
  ) throws(StorageError) -> Range<UInt64> {
    try reserved.withLock { (reserved) throws(StorageError) in
      // Another thread may have reserved some meanwhile.
      if let keys = Self.take(count, of: table, from: &reserved) { return keys }
      let keys = try file.takeKeys(
        max(count, Self.keyReserve),
        of: table,
        from: known,
        shared?.copies
      )
      let end = keys.lowerBound + UInt64(count)
      reserved[table] = end..<keys.upperBound
      return keys.lowerBound..<end
    }
  }

  /// Allocates ranks, in a turn.
  ///
  /// - Parameters:
  ///   - count: The number of ranks.
  ///   - known: The lowest free rank.
  /// - Returns: The ranks.
  /// - Throws: ``StorageError`` if `TURN` cannot be read or written.
  func takeRanks(_ count: Int, from known: Int64) throws(StorageError) -> Range<Int64> {
    try reserved.withLock { (_) throws(StorageError) in
      try file.takeRanks(count, from: known, shared?.copies)
    }
  }

  /// Whether the calling thread is in a turn.
  var isEntered: Bool { gate.withMutex { threads[Thread.current] != nil } }
}
