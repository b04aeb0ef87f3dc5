import LogFormat
import RowFormat
import Synchronization

/// The file `members/SYNC`: one member synchronizes the log for all waiting members, between their turns.
///
///     0     8   "SDLGSYNC"
///     8     8   its number in `TURN` (``TurnFile/synchronizationOffset``): the file does not belong to earlier members
///     16    8   the log position up to which the log is on disk
///     24    4   the member that synchronizes, or whose synchronization failed; 0 if none
///     28    4   the CRC-32C of 16 ..< 40, with 0 here
///     32    8   the number of turns when the synchronization began whose result is at `16`
///     40    8   the end of the last turn: the segment << 32 | the offset in it
///     48    8   the same with each bit inverted: a member may read it during a write
///     56    8   the number of synchronizations, for those that wait for one; see ``SynchronizationWait``
///     512       copies of the next free numbers in `TURN`; see ``NumberCopies``
///
/// Integers are little-endian. The member that holds the lock of the file writes everything but the end of the last turn and
/// the copies.
///
/// A commit is written in a turn, and synchronized after it: the turn of the next member need not wait for the disk, and its
/// commits are synchronized together with these. The steps; the numbers are those of the model
/// (`Tools/ModelCheck/SharedSync.pml`):
///
/// S1. Take the lock. A member that finds it taken waits, with all others that wait, for the end of that synchronization, and
///     reads: so none waits for the next one to learn of the last.
/// S2. Read. If the log is already on disk, nothing is left to do.
/// S3. If there is a member's number, its synchronization failed, or it died in one. The system reports a failed
///     write-back to some of the processes that have the file open, and forgets the bytes it did not write. So a member
///     takes a turn, if it has none, and rewrites the part that may be only in the system's memory. A damaged record is
///     read as that of a member that failed, with nothing on disk.
/// S4. Write this member's number.
/// S5. Read the end of the last turn.
/// S6. Synchronize.
/// S7. Write the durable end, and remove this member's number.
/// S8. Release the lock.
///
/// Segments are sealed in turns, and synchronized before the next one begins: so everything that is not on disk is in one
/// segment. Each synchronization of a log that several processes write is made here, including those in turns.
final class SharedSynchronization: @unchecked Sendable {
  let path: String
  private let file: any OpenFile
  private let lock: TurnLock
  private let wait: SynchronizationWait
  private let member: UInt16
  /// The file's number, which `TURN` contains as well.
  let number: UInt64
  /// The copies of the next free numbers in `TURN`.
  var copies: NumberCopies { NumberCopies(file: file, members: number) }
  private let turns: TurnFile
  let gathering = CommitGathering()
  /// The newest commit that was synchronized while there was no other member.
  @safe @exclusivity(unchecked) private var coveredCommit: UInt64 = 0
  /// Whether this process has the lock for as long as its turn.
  @safe @exclusivity(unchecked) private var isHeld = false

  private static let magic: UInt64 = 0x434E_5953_474C_4453
  private static let byteCount = 64
  /// The initial size of the file, in bytes, so that a full device refuses no row that there is a segment for.
  private static let fileByteCount = 4096
  private static let durableEndOffset = 16
  private static let turnEndOffset = 40
  private static let countOffset = 56

  /// The contents of the file.
  private struct Record {
    var durableEnd: UInt64 = 0
    var member: UInt16 = 0
    var turns: UInt64 = 0
    /// The end of the last turn; `nil` if it is unknown.
    var turnEnd: UInt64?
    /// The number of synchronizations; no more than a hint.
    var count: UInt64 = 0

    /// Returns the bytes from ``durableEndOffset`` to ``turnEndOffset``.
    func encode() -> ByteBuffer {
      var bytes = ByteBuffer(capacity: 24)
      bytes.append(durableEnd)
      bytes.append(UInt64(member) | UInt64(checksum) << 32)
      bytes.append(turns)
      return bytes
    }

    /// The CRC-32C of all fields but the end of the last turn.
    var checksum: UInt32 {
      CRC32C.extend(
        CRC32C.extend(CRC32C.extend(0, over: durableEnd), over: UInt64(member)),
        over: turns
      )
    }

    /// Returns the end of the last turn, if it was in a segment.
    func end(in segment: Segment) -> UInt64? {
      guard let turnEnd, turnEnd >> 32 == UInt64(segment.id.rawValue) else { return nil }
      let offset = Int(turnEnd & 0xFFFF_FFFF)
      guard SegmentHeader.byteCount...segment.capacity ~= offset else { return nil }
      return segment.logPosition(of: offset)
    }
  }

  /// The result of a synchronization.
  enum Outcome {
    /// The log is on disk up to here.
    case synchronized(UInt64)
    /// The log was on disk up to here already.
    case known(UInt64)
    /// A part of the log must be rewritten, in a turn.
    case needsTurn
    /// Another member is synchronizing, and the caller does not wait.
    case busy
  }

  /// Opens the file of the existing members.
  ///
  /// - Returns: `nil` if they have none: the first of them was of a version that synchronizes in turns.
  static func join(
    _ turns: TurnFile,
    _ membership: Membership
  ) throws(StorageError) -> SharedSynchronization? {
    let number = try turns.readSynchronizationNumber()
    let members = membership.members
    let path = members.paths.synchronization
    guard number != 0, try members.fileSystem.size(of: path) != nil else { return nil }
    let shared = try SharedSynchronization(turns, membership, number)
    let bytes = try shared.file.readBytes(byteCount, at: 0)
    guard bytes.count == byteCount, bytes.load(UInt64.self, at: 0) == magic,
      bytes.load(UInt64.self, at: 8) == number
    else { return nil }
    return shared
  }

  /// Creates the file; called by the first member.
  ///
  /// - Parameters:
  ///   - turns: The file `TURN`, which records the number of the new file.
  ///   - membership: The member.
  ///   - durableEnd: The durable end of the log.
  /// - Returns: The file.
  /// - Throws: ``StorageError`` if one of the files cannot be written.
  static func begin(
    _ turns: TurnFile,
    _ membership: Membership,
    durableEnd: UInt64
  ) throws(StorageError) -> SharedSynchronization {
    let number = membership.members.fileSystem.randomBits() | 1
    let shared = try SharedSynchronization(turns, membership, number)
    try shared.writeAll(Record(durableEnd: durableEnd), byteCount: fileByteCount)
    // Written last: a member that finds the number finds the file.
    try turns.write(synchronizationNumber: number)
    return shared
  }

  private init(
    _ turns: TurnFile,
    _ membership: Membership,
    _ number: UInt64
  ) throws(StorageError) {
    let members = membership.members
    self.number = number
    path = members.paths.synchronization
    lock = TurnLock(try members.fileSystem.openLockable(path))
    wait = try SynchronizationWait(members)
    file = try members.fileSystem.open(path, .write)
    member = membership.number
    self.turns = turns
  }

  // MARK: Synchronizing

  /// Synchronizes the log at least up to a position; called by one thread of the process at a time.
  ///
  /// - Parameters:
  ///   - segment: The segment that the position is in, or a later one.
  ///   - end: The position, which is written.
  ///   - isInTurn: Whether the process has the turn, and `end` is the log's.
  ///   - waits: Whether to wait for a member that synchronizes.
  ///   - newest: The newest commit, while there are no other members; `nil` beside others.
  /// - Returns: ``Outcome/needsTurn`` only outside a turn.
  /// - Throws: ``StorageError``; then the next member rewrites the part that may be lost.
  func run(
    _ segment: Segment,
    through end: UInt64,
    isInTurn: Bool,
    waits: Bool,
    newest: (() -> UInt64)?
  ) throws(StorageError) -> Outcome {
    if waits, !isInTurn, newest == nil {
      if let durableEnd = try awaitOthers(through: end) { return .known(durableEnd) }
      defer { lock.release() }
      return try runLocked(segment, through: end, isInTurn: isInTurn, newest)
    }
    let outcome = try withLock(waiting: waits) { () throws(StorageError) in
      try runLocked(segment, through: end, isInTurn: isInTurn, newest)
    }
    return outcome ?? .busy
  }

  /// Steps 2 to 7.
  private func runLocked(
    _ segment: Segment,
    through end: UInt64,
    isInTurn: Bool,
    _ newest: (() -> UInt64)?
  ) throws(StorageError) -> Outcome {
    var record = try read()
    if record.member == 0, record.durableEnd >= end { return .known(record.durableEnd) }
    let hasFailed = record.member != 0
    if hasFailed, !isInTurn { return .needsTurn }
    // A process that joins meanwhile waits for the lock alone.
    if newest == nil {
      record.count &+= 1
      if wait.begin(record.count) { try write(count: record.count) }
    }
    defer { wait.end() }
    record.member = member
    try write(record)
    if hasFailed { try writeAgain(segment, from: record.durableEnd, to: end) }
    if isInTurn {
      try segment.file.synchronize()
      try write(Record(durableEnd: end, turns: record.turns))
      return .synchronized(end)
    }
    return try gather(segment, through: end, record, newest)
  }

  /// Waits while other members synchronize, together with all that wait.
  ///
  /// What was on disk once stays there, whether the member that synchronizes now succeeds or not: so the lock is not needed
  /// to read how far that is.
  ///
  /// - Returns: The durable end of the log, once it is far enough; `nil` once no member synchronizes, with the lock taken.
  private func awaitOthers(through end: UInt64) throws(StorageError) -> UInt64? {
    var (known, looks) = (UInt64.max, 0)
    while try !lock.takeAtOnce() {
      let record = try readIntact()
      if let record, record.durableEnd >= end { return record.durableEnd }
      looks = record?.durableEnd == known ? looks + 1 : 0
      known = record?.durableEnd ?? known
      // For one that is of an earlier version, or has just begun, there is nothing to wait for but the lock.
      if looks >= Self.lookLimit {
        _ = try lock.take(until: nil)
        return nil
      }
      try wait.waitForEnd(of: record?.count ?? 0)
    }
    return nil
  }

  /// The maximum number of looks by a waiting member while nothing is synchronized.
  private static let lookLimit = 16

  /// Steps 5 to 7, once the members whose commits are expected have written them.
  private func gather(
    _ segment: Segment,
    through end: UInt64,
    _ record: Record,
    _ newestCommit: (() -> UInt64)?
  ) throws(StorageError) -> Outcome {
    let newest = newestCommit ?? { (try? self.turns.readHolder().turns) ?? record.turns }
    var covered = newestCommit == nil ? record.turns : coveredCommit
    var target = end
    try gathering.run(newest: newest, visible: { covered }, pause: { Thread.yield() }) {
      () throws(StorageError) in
      covered = newest()
      target = max(end, try read().end(in: segment) ?? end)
      try segment.file.synchronize()
    }
    if newestCommit != nil { coveredCommit = covered }
    try write(Record(durableEnd: target, turns: newestCommit == nil ? covered : record.turns))
    return .synchronized(target)
  }

  /// Runs `body`, which synchronizes the whole log by itself, in a turn that repairs.
  ///
  /// - Parameters:
  ///   - end: The durable end of the log afterwards.
  ///   - body: Rewrites and synchronizes the log.
  /// - Throws: Any error that `body` throws; then the next member repeats all of it.
  func repair(
    end: UInt64,
    _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    _ = try withLock { () throws(StorageError) in
      var record = try read()
      record.member = member
      try write(record)
      try body()
      try write(Record(durableEnd: max(end, record.durableEnd), turns: record.turns))
    }
  }

  /// Records the end of this process's turn before it is over: the next member that synchronizes can include its commits.
  func record(turnEnd segment: SegmentID, _ offset: Int) {
    guard let offset = UInt32(exactly: offset) else { return }
    let end = UInt64(segment.rawValue) << 32 | UInt64(offset)
    var bytes = ByteBuffer(capacity: 16)
    bytes.append(end)
    bytes.append(~end)
    // If this fails, the members that made the commits synchronize them.
    try? bytes.write(to: file, at: Self.turnEndOffset)
  }

  /// Gives back the file; called between turns, by a process that synchronizes nothing any more.
  func close() {
    lock.close()
    wait.close()
    file.close()
  }

  // MARK: The lock

  /// Takes the lock for a whole turn, in a process whose wait has a limit: once it has written, it could not give up any more.
  ///
  /// - Returns: Whether it was taken before the deadline.
  func hold(until deadline: Int) throws(StorageError) -> Bool {
    isHeld = try lock.take(until: deadline)
    return isHeld
  }

  /// The member that synchronizes, or whose synchronization failed; `nil` if there is none.
  var synchronizer: UInt16? {
    guard let record = try? readIntact(), record.member != 0 else { return nil }
    return record.member
  }

  /// Undoes ``hold(until:)``, if it was called.
  func letGo() {
    guard isHeld else { return }
    isHeld = false
    lock.release()
  }

  /// - Returns: `nil` if others have the lock, and the caller does not wait for it.
  private func withLock<R>(
    waiting: Bool = true,
    _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    if isHeld { return try body() }
    guard try waiting ? lock.take(until: nil) : lock.takeAtOnce() else { return nil }
    defer { lock.release() }
    return try body()
  }

  // MARK: The file

  /// - Returns: The record; if it is damaged, one by which a member has failed and nothing is on disk.
  private func read() throws(StorageError) -> Record {
    if let record = try readIntact() { return record }
    return try restore()
  }

  /// - Returns: `nil` if the record is damaged, or, for a caller without the lock, just being written.
  private func readIntact() throws(StorageError) -> Record? {
    let bytes = try file.readBytes(Self.byteCount, at: 0)
    guard bytes.count == Self.byteCount else { return nil }
    let member = bytes.load(UInt64.self, at: Self.durableEndOffset + 8)
    var record = Record(
      durableEnd: bytes.load(UInt64.self, at: Self.durableEndOffset),
      member: UInt16(truncatingIfNeeded: member),
      turns: bytes.load(UInt64.self, at: 32)
    )
    guard UInt64(record.member) | UInt64(record.checksum) << 32 == member else { return nil }
    let turnEnd = bytes.load(UInt64.self, at: Self.turnEndOffset)
    if bytes.load(UInt64.self, at: Self.turnEndOffset + 8) == ~turnEnd { record.turnEnd = turnEnd }
    record.count = bytes.load(UInt64.self, at: Self.countOffset)
    return record
  }

  /// Restores the file as one of these members.
  private func restore() throws(StorageError) -> Record {
    let record = Record(member: .max)
    try writeAll(record, byteCount: Self.byteCount)
    return record
  }

  /// Writes everything but the end of the last turn; call it with the lock.
  private func write(_ record: Record) throws(StorageError) {
    try record.encode().write(to: file, at: Self.durableEndOffset)
  }

  private func write(count: UInt64) throws(StorageError) {
    var bytes = ByteBuffer(capacity: 8)
    bytes.append(count)
    try bytes.write(to: file, at: Self.countOffset)
  }

  /// Writes the file from its beginning, after which the end of the last turn is unknown.
  private func writeAll(_ record: Record, byteCount: Int) throws(StorageError) {
    var bytes = ByteBuffer(capacity: byteCount)
    bytes.append(Self.magic)
    bytes.append(number)
    bytes.append(record.encode().bytes)
    bytes.appendZeros(byteCount - bytes.count)
    try bytes.write(to: file, at: 0)
  }

  /// Rewrites the part of the last segment that may be only in the system's memory; in a turn.
  private func writeAgain(
    _ segment: Segment,
    from durableEnd: UInt64,
    to end: UInt64
  ) throws(StorageError) {
    let start = segment.header.logPosition
    try segment.writeAgain(
      from: durableEnd > start ? segment.offset(of: durableEnd) : 0,
      to: segment.offset(of: end),
      in: segment.file
    )
  }
}
