import LibC
import Locking
import LogFormat
import Synchronization

/// A process's turns at writing a store that several processes write.
///
/// A turn is the process's: while it lasts, all its threads may write, as if it had the store alone. So their commits
/// group themselves as ever. Beside others, a turn that has lasted for ``burst`` takes nobody in any more, and ends with
/// the last thread that is in it; the next one begins when the lock of `TURN` comes round again.
///
/// A process that is the only member does not end its turn: it keeps it as a lease, and its saves cost what they cost a
/// process that has the store alone; they go on while the background has the turn for a checkpoint, say. Who joins asks for the turn in `TURN`, which wakes the thread that watches the file; a
/// process that saves nothing for a while ends its lease by itself.
///
/// ``LogWriter`` begins and ends turns; see there for the steps.
final class Turns: @unchecked Sendable {
  let file: TurnFile
  let membership: Membership
  /// How many turns there were when this process last was ready to append.
  let known: Atomic<UInt64>
  /// How many turns there were when this process last read the log.
  let read: Atomic<UInt64>
  /// How long threads may join a turn, in microseconds.
  static let burst = 5000

  /// How long a thread waits for the turn of its process, in microseconds; without end if `nil`.
  private let timeout: Int?
  private let gate = Monitor()
  @safe @exclusivity(unchecked) private var phase = Phase.between
  /// How many threads are in the turn.
  @safe @exclusivity(unchecked) private var count = 0
  @safe @exclusivity(unchecked) private var start = 0
  /// By thread, how often it entered the turn, and what it waits for afterwards.
  @safe @exclusivity(unchecked) private var threads: [UInt: Stay] = [:]
  /// How members synchronize the log for each other; `nil` if they do it in their turns.
  let shared: SharedSynchronization?

  /// Keys that this process may give out, by table; also has the threads of a turn take numbers one after the other.
  private let reserved = Lock<[UInt16: Range<UInt64>]>([:], .commitMarks)

  /// Whether the turn may be kept: there are no other members, and who joins is heard.
  @safe @exclusivity(unchecked) private var mayLease = false
  /// Whether another process waits for the turn.
  @safe @exclusivity(unchecked) private var isWanted = false
  /// When it was last found out whether there are other members.
  @safe @exclusivity(unchecked) private var lookedAt = 0
  /// What was in `TURN` when the last one who waited was heard.
  private let heard = Atomic<UInt64>(0)
  /// Whether who waits is heard.
  let hears = Atomic<Bool>(false)

  /// A thread's time in a turn.
  private struct Stay {
    var depth = 1
    /// Up to where the log has to be on disk before the thread tells that its commits are there.
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

  /// Enters the turn of this process, or has one begin; waits for the turns of others.
  ///
  /// A thread may enter again while it is in a turn.
  ///
  /// - Parameter begin: Begins the turn: takes the lock of `TURN`, which it waits for until the deadline that it is given.
  /// - Throws: What `begin` throws, or ``StorageError/turnTimeout(path:waited:holder:)``; then the thread is in no turn.
  func enter(_ begin: (_ deadline: Int?) throws(StorageError) -> Void) throws(StorageError) {
    let thread = Self.thread
    let deadline = timeout.map { Self.deadline(in: $0) }
    let entry = gate.withMutex { () -> Entry in
      if threads[thread] != nil {
        threads[thread]?.depth += 1
        return .entered
      }
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
          start = Monitor.now()
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

  /// How a thread came to a turn.
  private enum Entry {
    /// It is to begin it.
    case first
    /// Others began it.
    case entered
    /// It did not: the time was over.
    case late
  }

  /// When a wait ends that begins now.
  static func deadline(in timeout: Int) -> Int {
    let (deadline, overflows) = Monitor.now().addingReportingOverflow(timeout)
    return overflows ? .max : deadline
  }

  /// Says who keeps the turn from this process.
  var timeoutError: StorageError {
    .turnTimeout(
      path: membership.members.paths.root,
      waited: .microseconds(timeout ?? 0),
      holder: file.describeHolder(membership.members)
    )
  }

  /// Leaves the turn; the last thread ends it.
  ///
  /// - Returns: How the thread has left.
  func leave(_ end: () -> Void) -> Departure {
    let thread = Self.thread
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
      phase = .changing
      return (true, Departure(owed: stay.owed))
    }
    if isLast { finish(end) }
    return departure
  }

  /// How a thread has left a turn.
  struct Departure {
    /// Up to where the log has to be on disk before the thread tells that its commits are there; see ``owe(_:)``.
    var owed: UInt64?
    /// Whether the process keeps the turn, with no thread in it.
    var keepsTurn = false
  }

  /// Has the calling thread wait, after its turn, until the log is on disk up to a position.
  func owe(_ end: UInt64) {
    gate.withMutex {
      assert(threads[Self.thread] != nil, "a thread owes a commit that it made in no turn")
      threads[Self.thread]?.owed = max(threads[Self.thread]?.owed ?? 0, end)
    }
  }

  private func finish(_ end: () -> Void) {
    end()
    gate.withMutex {
      phase = .between
      isWanted = false
      gate.broadcast(.end)
    }
  }

  // MARK: Leases

  /// How often a process that is not alone looks whether it is, in microseconds.
  private static let lookInterval = 100_000

  /// Finds out whether a turn may be kept; by the thread that begins it.
  ///
  /// Nobody joins while it lasts.
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
  /// Who waits for no other process without end waits for the lock of a synchronization before it writes.
  var synchronizesLater: Bool { shared != nil && timeout == nil }

  /// Whether there are no other members, as far as is known.
  var isAlone: Bool { gate.withMutex { mayLease } }

  /// Whether the process keeps its turn, with no thread in it.
  var isLeased: Bool { gate.withMutex { phase == .leased } }

  /// Keeps no turn from now on.
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
  ///   - microseconds: For how long.
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

  // MARK: Numbers

  /// How many keys a process gets at least when it asks for some.
  private static let keyReserve = 64

  /// Gives out keys that this process got earlier; `nil` if there are too few.
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

  /// Gives out keys of a table, in a turn, and keeps some for later; those that were left are never given out.
  ///
  /// The turn keeps other processes from `TURN`, and the lock the other threads that are in it.
  ///
  /// - Parameters:
  ///   - count: How many.
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
      // Another thread may have got some meanwhile.
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

  /// Gives out ranks, in a turn.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - known: The lowest one that may be given out.
  /// - Returns: The ranks.
  /// - Throws: ``StorageError`` if `TURN` cannot be read or written.
  func takeRanks(_ count: Int, from known: Int64) throws(StorageError) -> Range<Int64> {
    try reserved.withLock { (_) throws(StorageError) in
      try file.takeRanks(count, from: known, shared?.copies)
    }
  }

  /// Whether the calling thread is in a turn.
  var isEntered: Bool { gate.withMutex { threads[Self.thread] != nil } }

  private static var thread: UInt {
    #if canImport(Darwin) || canImport(Musl)
    return UInt(bitPattern: pthread_self())
    #else
    return UInt(pthread_self())
    #endif
  }
}
