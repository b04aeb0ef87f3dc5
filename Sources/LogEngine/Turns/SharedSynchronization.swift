import LogFormat
import RowFormat
import Synchronization

/// The file `members/SYNC`: one member synchronizes the log for all that wait, between their turns.
///
///     0     8   "SDLGSYNC"
///     8     8   the number that `TURN` has for it (``TurnFile/synchronizationOffset``): it is not of earlier members
///     16    8   the log position up to which the log is on disk
///     24    4   the member that synchronizes, or whose synchronization failed; 0 if none
///     28    4   the CRC-32C of 16 ..< 40, with 0 here
///     32    8   how many turns there were when the synchronization began that `16` tells of
///     40    8   where the last turn ended: the segment << 32 | the offset in it
///     48    8   the same, each bit reversed: it is read while somebody writes it
///     512       copies of the numbers that `TURN` gives out; see ``NumberCopies``
///
/// Integers are little-endian. All but the end of the last turn and the copies is written by the member that holds the lock of the file.
///
/// A commit is written in a turn, and synchronized after it: the turn of the next member need not wait for the disk, and
/// what that one writes meanwhile is synchronized together. The steps; the numbers are those of the model
/// (`Tools/ModelCheck/SharedSync.pml`):
///
/// S1. Take the lock. Where the disk is slow, a member that waits for it shares it with all others that wait, and reads: so
///     nobody waits for the next synchronization to be told of the last one.
/// S2. Read. What is on disk needs no more.
/// S3. If the number of a member is there, its synchronization failed, or it died in one. The system reports a failed
///     write-back to some of those that have the file open, and forgets what it owed the disk. So a member takes a turn,
///     if it has none, and writes again what may be in the system's memory only. A record that is damaged is read as one
///     of a member that failed, by which nothing is on disk.
/// S4. Write the own number.
/// S5. Read where the last turn ended.
/// S6. Synchronize.
/// S7. Write down up to where, and take the own number out.
/// S8. Let go of the lock.
///
/// Segments are sealed in turns, and synchronized before the next one begins: so all that is not on disk is in one segment.
/// Each synchronization of a log that several processes write is made here, those in turns, too.
final class SharedSynchronization: @unchecked Sendable {
  let path: String
  private let file: any OpenFile
  private let lock: TurnLock
  /// The file that ``lock`` locks, to share it.
  private let sharedLock: any LockableFile
  private let member: UInt16
  /// What `TURN` has, too.
  let number: UInt64
  /// The copies of numbers that `TURN` gives out.
  var copies: NumberCopies { NumberCopies(file: file, members: number) }
  private let turns: TurnFile
  let gathering = CommitGathering()
  /// The newest commit that was synchronized while there was no other member.
  @safe @exclusivity(unchecked) private var coveredCommit: UInt64 = 0
  /// Whether this process has the lock for as long as its turn.
  @safe @exclusivity(unchecked) private var isHeld = false

  private static let magic: UInt64 = 0x434E_5953_474C_4453
  private static let byteCount = 56
  /// What is there from the beginning, so that a full device keeps no row out that there is a segment for.
  private static let fileByteCount = 4096
  private static let durableEndOffset = 16
  private static let turnEndOffset = 40

  /// What the file says.
  private struct Record {
    var durableEnd: UInt64 = 0
    var member: UInt16 = 0
    var turns: UInt64 = 0
    /// Where the last turn ended; `nil` if that cannot be told.
    var turnEnd: UInt64?

    /// The bytes from ``durableEndOffset`` to ``turnEndOffset``.
    func encode() -> ByteBuffer {
      var bytes = ByteBuffer(capacity: 24)
      bytes.append(durableEnd)
      bytes.append(UInt64(member) | UInt64(checksum) << 32)
      bytes.append(turns)
      return bytes
    }

    /// The CRC-32C of all but where the last turn ended.
    var checksum: UInt32 {
      CRC32C.extend(
        CRC32C.extend(CRC32C.extend(0, over: durableEnd), over: UInt64(member)),
        over: turns
      )
    }

    /// Where the last turn ended, if that was in a segment.
    func end(in segment: Segment) -> UInt64? {
      guard let turnEnd, turnEnd >> 32 == UInt64(segment.id.rawValue) else { return nil }
      let offset = Int(turnEnd & 0xFFFF_FFFF)
      guard SegmentHeader.byteCount...segment.capacity ~= offset else { return nil }
      return segment.logPosition(of: offset)
    }
  }

  /// What became of a synchronization.
  enum Outcome {
    /// The log is on disk up to here.
    case synchronized(UInt64)
    /// The log was there already.
    case known(UInt64)
    /// Something has to be written again, in a turn.
    case needsTurn
    /// Another member is at it, and the caller does not wait.
    case busy
  }

  /// Opens the file of members that are there.
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

  /// Begins the file, by the first member.
  ///
  /// - Parameters:
  ///   - turns: The file `TURN`, which says from then on that there is one.
  ///   - membership: The member.
  ///   - durableEnd: Up to where the log is on disk.
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
    // Only now: who finds the number finds the file.
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
    sharedLock = try members.fileSystem.openLockable(path)
    lock = TurnLock(sharedLock)
    file = try members.fileSystem.open(path, .write)
    member = membership.number
    self.turns = turns
  }

  // MARK: Synchronizing

  /// Sees the log to the disk up to a position at least; one thread of the process at a time.
  ///
  /// - Parameters:
  ///   - segment: The segment that the position is in, or a later one.
  ///   - end: The position, which is written.
  ///   - isInTurn: Whether the process has the turn, and `end` is the log's.
  ///   - waits: Whether to wait for a member that synchronizes.
  ///   - newest: The newest commit, while there are no other members; `nil` beside others.
  /// - Returns: ``Outcome/needsTurn`` only out of a turn.
  /// - Throws: ``StorageError``; then the next member writes again what may be lost.
  func run(
    _ segment: Segment,
    through end: UInt64,
    isInTurn: Bool,
    waits: Bool,
    newest: (() -> UInt64)?
  ) throws(StorageError) -> Outcome {
    if waits, !isInTurn, gathering.takesLong {
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

  /// Waits while other members synchronize, with all that wait.
  ///
  /// - Returns: Up to where the log is on disk, if that is enough; `nil` once nobody synchronizes, with the lock taken.
  private func awaitOthers(through end: UInt64) throws(StorageError) -> UInt64? {
    var (known, looks) = (UInt64.max, 0)
    while try !lock.takeAtOnce() {
      let record = try readShared()
      if record.member == 0, record.durableEnd >= end { return record.durableEnd }
      looks = record.durableEnd == known ? looks + 1 : 0
      known = record.durableEnd
      // Those who look keep each other from the lock. Each looks so often, and then waits for it alone.
      if looks >= Self.lookLimit {
        _ = try lock.take(until: nil)
        return nil
      }
    }
    return nil
  }

  /// How often a member looks that waits, while nothing is synchronized.
  private static let lookLimit = 16

  private func readShared() throws(StorageError) -> Record {
    _ = try sharedLock.take(.shared, waits: true)
    defer { sharedLock.release() }
    return try read()
  }

  /// Steps 5 to 7, once those have written whose commits are expected.
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

  /// Runs what synchronizes all of the log by itself, in a turn that repairs.
  ///
  /// - Parameters:
  ///   - end: Up to where the log is on disk afterwards.
  ///   - body: Writes again, and synchronizes.
  /// - Throws: What `body` throws; then the next member does all of it again.
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

  /// Says where the turn of this process ends, which has it still: who synchronizes next need not leave out its commits.
  func record(turnEnd segment: SegmentID, _ offset: Int) {
    guard let offset = UInt32(exactly: offset) else { return }
    let end = UInt64(segment.rawValue) << 32 | UInt64(offset)
    var bytes = ByteBuffer(capacity: 16)
    bytes.append(end)
    bytes.append(~end)
    // Otherwise they are synchronized by those who made them.
    try? bytes.write(to: file, at: Self.turnEndOffset)
  }

  // MARK: The lock

  /// Takes the lock for a whole turn, by a process that waits no longer than it is configured to: once it has written, it
  /// could not give up any more.
  ///
  /// - Returns: Whether it was taken before the deadline.
  func hold(until deadline: Int) throws(StorageError) -> Bool {
    isHeld = try lock.take(until: deadline)
    return isHeld
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
    let bytes = try file.readBytes(Self.byteCount, at: 0)
    guard bytes.count == Self.byteCount else { return try restore() }
    let member = bytes.load(UInt64.self, at: Self.durableEndOffset + 8)
    var record = Record(
      durableEnd: bytes.load(UInt64.self, at: Self.durableEndOffset),
      member: UInt16(truncatingIfNeeded: member),
      turns: bytes.load(UInt64.self, at: 32)
    )
    guard UInt64(record.member) | UInt64(record.checksum) << 32 == member else {
      return try restore()
    }
    let turnEnd = bytes.load(UInt64.self, at: Self.turnEndOffset)
    if bytes.load(UInt64.self, at: Self.turnEndOffset + 8) == ~turnEnd { record.turnEnd = turnEnd }
    return record
  }

  /// Makes the file one of members again.
  private func restore() throws(StorageError) -> Record {
    let record = Record(member: .max)
    try writeAll(record, byteCount: Self.byteCount)
    return record
  }

  /// Writes all but where the last turn ended; with the lock.
  private func write(_ record: Record) throws(StorageError) {
    try record.encode().write(to: file, at: Self.durableEndOffset)
  }

  /// Writes the file from its beginning, by which it is not known where the last turn ended.
  private func writeAll(_ record: Record, byteCount: Int) throws(StorageError) {
    var bytes = ByteBuffer(capacity: byteCount)
    bytes.append(Self.magic)
    bytes.append(number)
    bytes.append(record.encode().bytes)
    bytes.appendZeros(byteCount - bytes.count)
    try bytes.write(to: file, at: 0)
  }

  /// Writes again what may be in the system's memory only, of the segment that is the last; in a turn.
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
