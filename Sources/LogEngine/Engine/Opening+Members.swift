import Locking
import LogFormat
import RowFormat
import Synchronization

// Opening a store that several processes write.
//
// A process holds the turn while it joins, so there are no appends. The first member opens the store like a process that has it
// to itself: it recovers the log, and repairs it. Later members read the log as it is, and repair it only if a member died in
// its turn. See `Tools/ModelCheck/Members.pml`.
extension Opening {
  /// Opens the store beside the other members; called by only one thread of this process.
  mutating func join() throws(StorageError) -> StorageEngine {
    let start = fileSystem.microseconds()
    // Locks and notifications would not reach processes on other hosts, which are invisible here.
    if let type = try fileSystem.networkFileSystem(of: paths.root) {
      throw .networkFileSystem(path: paths.root, type: type)
    }
    try makeDirectories()
    try paths.checkDirectories(on: fileSystem)
    if try fileSystem.list(paths.members) == nil {
      try fileSystem.makeDirectory(paths.members)
      try fileSystem.synchronizeDirectory(paths.root)
    }
    let lock = try fileSystem.openLockable(paths.lock)
    guard try lock.take(.shared, waits: false) else {
      throw StoreHolders(paths, fileSystem).refusal()
    }
    hold(lock)
    let file = try TurnFile(paths, fileSystem)
    let members = Members(paths: paths, fileSystem: fileSystem)
    let joined = try joinInTurn(file, members)
    joined.recovery.report.duration = joined.state.duration(since: start)
    let engine = StorageEngine(
      state: joined.state,
      writer: joined.writer,
      follower: joined.follower,
      lock: lock,
      recovery: joined.recovery.report
    )
    joined.state.events.report(.opened(joined.recovery.report))
    // Not before the turn has ended: the lock is the file's, so the background would get the lock that this thread has, and
    // would lose it when this thread releases it.
    if options.background == .ownThread {
      joined.writer.housekeeper.start(for: joined.writer)
      if let turns = joined.writer.turns { engine.watch(turns) }
    }
    return engine
  }

  /// Recovers or reads the log, and becomes a member, in one turn.
  private mutating func joinInTurn(
    _ file: TurnFile,
    _ members: Members
  ) throws(StorageError) -> Joined {
    let timeout = options.turnTimeout.map { Turns.deadline(in: Int(clamping: $0.microseconds)) }
    guard try file.takeLockByAsking(until: timeout) else {
      throw .turnTimeout(
        path: paths.root,
        waited: options.turnTimeout ?? .zero,
        holder: file.describeHolder(members)
      )
    }
    defer { file.lock.release() }
    let others = try members.others()
    if !others.isEmpty {
      try file.checkName()
      try file.checkOrigin()
    }
    let record = others.isEmpty ? nil : try file.read()
    let number = try Self.freeNumber(beside: others)
    let joined =
      if let record, let found = try recoverBeside(record) {
        try begin(found, file, members, number, after: record)
      } else {
        try beginFirst(file, members, number)
      }
    members.makeSpare(beside: Set(others + [number]))
    return joined
  }

  private static func freeNumber(beside others: [UInt16]) throws(StorageError) -> UInt16 {
    let taken = Set(others)
    guard let number = (1...Members.limit).first(where: { !taken.contains($0) }) else {
      throw .tooLarge(byteCount: others.count + 1, limit: Int(Members.limit))
    }
    return number
  }

  private final class Joined {
    let state: StoreState
    let writer: LogWriter
    let follower: Follower
    var recovery: Recovery

    init(_ state: StoreState, _ writer: LogWriter, _ follower: Follower, _ recovery: Recovery) {
      self.state = state
      self.writer = writer
      self.follower = follower
      self.recovery = recovery
    }
  }

  /// Opens the store as the first member.
  private func beginFirst(
    _ file: TurnFile,
    _ members: Members,
    _ number: UInt16
  ) throws(StorageError) -> Joined {
    try StagedFiles(paths, fileSystem).settle()
    var (recovery, end) = try recover()
    if let mark = recovery.cutCloseMark {
      try mark.restore(at: end)
      (recovery, end) = try recover()
    }
    try recovery.repair(end)
    // From here on, no process finds a record of another log.
    let before = try file.readHolder()
    try file.begin(.init(turns: before.turns + 1, member: number))
    let joined = try make((recovery, end), file, members, number, known: before.turns + 2)
    let isEnded = !end.isClean
    joined.state.log.tail.withLock { $0.isEnded = isEnded && $0.segment != nil }
    if sweepsBlobs(recovery.manifest, end) {
      // No file that exists now has a number that this session, or one that joins it, mints.
      joined.state.files.blobs.record(try joined.writer.highestBlob())
      joined.writer.housekeeper.beginBlobSweep()
    }
    try joined.writer.witnessRecovery()
    if isEnded, end.segment != nil {
      // The bytes behind the end may look like a frame to other readers.
      try joined.writer.leaveTornSegment()
    }
    try finish(joined, file, turns: before.turns + 2)
    return joined
  }

  /// Reads a log that other processes write.
  ///
  /// - Returns: `nil` if the record does not belong to this log: a process that ignores members has had the store meanwhile.
  private func recoverBeside(_ record: TurnRecord) throws(StorageError) -> Found? {
    let found = try recoverBesideWriter()
    let end = found.end
    if record.holder.member == 0,
      record.segment != end.segment?.id ?? .none
        || end.segment != nil && record.end != end.offset
    {
      return nil
    }
    return found
  }

  private func begin(
    _ found: Found,
    _ file: TurnFile,
    _ members: Members,
    _ number: UInt16,
    after record: TurnRecord
  ) throws(StorageError) -> Joined {
    let joined = try make(found, file, members, number, known: .max)
    try joined.writer.takeOver(record)
    try finish(joined, file, turns: record.holder.turns + 1)
    return joined
  }

  private func make(
    _ found: Found,
    _ file: TurnFile,
    _ members: Members,
    _ number: UInt16,
    known: UInt64
  ) throws(StorageError) -> Joined {
    let (recovery, end) = found
    let state = recovery.state
    state.begin(at: end, recovery.replay)
    let isFirst = known != .max
    // The log of other members may be only in the system's memory: the durable end is the one that the log itself witnesses.
    if !isFirst { state.log.durableEnd.store(end.durableEnd, ordering: .relaxed) }
    state.adviseByMemory()
    let membership = try Membership(members, number)
    let shared: SharedSynchronization? =
      if options.durability == .memory {
        nil
      } else if isFirst {
        try beginSynchronization(file, membership, durableEnd: end.logPosition)
      } else {
        try SharedSynchronization.join(file, membership)
      }
    let turns = Turns(file, membership, shared, known: known, timeout: options.turnTimeout)
    let follower = Follower(
      state: state,
      manifest: recovery.manifest.number,
      end: end,
      replay: recovery.replay
    )
    let writer = makeWriter(state, recovery, end, turns, follower)
    return Joined(state, writer, follower, recovery)
  }

  /// - Returns: `nil` on a full device: then members synchronize in their turns.
  private func beginSynchronization(
    _ file: TurnFile,
    _ membership: Membership,
    durableEnd: UInt64
  ) throws(StorageError) -> SharedSynchronization? {
    do throws(StorageError) {
      return try SharedSynchronization.begin(file, membership, durableEnd: durableEnd)
    } catch {
      guard case .noSpace = error else { throw error }
      return nil
    }
  }

  /// Writes the record, and becomes a member.
  private func finish(
    _ joined: Joined,
    _ file: TurnFile,
    turns: UInt64
  ) throws(StorageError) {
    try joined.writer.flushAndHandOver()
    try file.writeBody(joined.writer.makeRecord(startingAt: nil), turns: turns)
    try file.write(.init(turns: turns))
    joined.writer.turns?.known.store(turns, ordering: .relaxed)
    joined.writer.turns?.read.store(turns, ordering: .relaxed)
    let bound = joined.state.visibility.visible.load(ordering: .relaxed)
    try joined.writer.turns?.membership.join(bound: bound)
  }
}
