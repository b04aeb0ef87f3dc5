import LogFormat
import RowFormat

/// The file `TURN`: a lock, and the information that its holder gets from the one before.
///
///     0     8   "SDLGTURN"
///     8     8   the number of turns << 16 | the number of the member that has the turn; 0 between turns
///     16    4   the lowest unused file number
///     20    4   the segment in which the log ends; 0 without one
///     24    8   the end of the log in that segment
///     32    8   the durable end of the log, as far as is known
///     40    8   the number of the newest manifest
///     48    8   the lowest unused blob number
///     56    8   1 if the segment can take no more, although it has room
///     64    40  the checkpoints: highest, newest (0: none), its log position, its bytes, the last attempt
///     104   4   the lowest 32 bits of the number of turns once the turn that wrote this has ended
///     108   4   the CRC-32C of 16 ..< 104; it counts only if the number before it fits
///     1024  8   changes when a process that joins waits for the turn
///     1032  8   a time << 16 | the number of the member that began to wait for the turn then, the last one
///     2048  8   the lowest rank not allocated
///     3072  8   a random number, also in `members/SYNC`; 0: members synchronize in their turns
///     4096      by table, 8 bytes each: the lowest key not allocated
///
/// The lowest rank and the lowest keys have copies with checksums (``NumberCopies``).
///
/// Integers are little-endian. The file is written by the member that has the turn, and not synchronized: it contains nothing
/// that the log does not, except for the numbers, which matter only to live processes. The first member writes it anew.
///
/// A process that holds the lock and finds a member's number there knows that this member has died in its turn: so a member
/// writes its number before anything else, and removes it after everything else. A member that finds a damaged record proceeds
/// as if another had died in its turn, and reads the record's information from the log.
struct TurnFile: Sendable {
  let path: String
  let lock: TurnLock
  private let file: any OpenFile
  private let fileSystem: any FileSystem

  private static let magic: UInt64 = 0x4E52_5554_474C_4453
  private static let bodyOffset = 16
  private static let checksumOffset = 104
  private static let byteCount = 112
  private static let askedOffset = 1024
  private static let waitingOffset = 1032
  private static let rankOffset = 2048
  private static let synchronizationOffset = 3072
  private static let keyOffset = 4096
  /// The initial room for keys, in bytes, so that a full device refuses no row that there is a segment for.
  private static let keyByteCount = 4096
  private static let maximumByteCount = keyOffset + 8 * (Int(UInt16.max) + 1)

  /// Opens the file, creating it if needed.
  init(_ paths: StorePaths, _ fileSystem: any FileSystem) throws(StorageError) {
    path = paths.turn
    self.fileSystem = fileSystem
    lock = TurnLock(try fileSystem.openLockable(path))
    file = try fileSystem.open(path, .write)
  }

  /// Gives back the file; called between turns, by a process that begins none any more.
  func close() {
    lock.close()
    file.close()
  }

  /// The member that has the turn, and the number of turns so far.
  struct Holder: Hashable, Sendable {
    var turns: UInt64 = 0
    /// The member; 0 between turns.
    var member: UInt16 = 0
  }

  /// Takes the turn for a process that joins: a member that keeps it as a lease is asked for it.
  ///
  /// - Parameter deadline: The deadline of the wait; see ``TurnLock/take(until:)``.
  /// - Returns: Whether it was taken before the deadline.
  /// - Throws: ``StorageError`` if the file cannot be locked or written.
  func takeLockByAsking(until deadline: Int?) throws(StorageError) -> Bool {
    if try lock.takeAtOnce() { return true }
    while true {
      let now = Monitor.now()
      try writeNumber(UInt64(now), at: Self.askedOffset)
      // The member may take it again before this process wakes, so it is asked again.
      let end = min(deadline ?? .max, now + Self.askInterval)
      if try lock.take(until: end) { return true }
      if end == deadline { return false }
    }
  }

  /// The interval at which a process that joins asks for the turn, in microseconds.
  private static let askInterval = 50_000

  /// Returns the last request written by a waiting process.
  func readAsked() throws(StorageError) -> UInt64 { try readNumber(at: Self.askedOffset) }

  /// Takes the turn for a member; if another has it, leaves a mark for that one.
  ///
  /// - Parameters:
  ///   - member: The member.
  ///   - deadline: The deadline of the wait; see ``TurnLock/take(until:)``.
  /// - Returns: Whether it was taken before the deadline.
  /// - Throws: ``StorageError`` if the file cannot be locked.
  func takeLock(for member: UInt16, until deadline: Int?) throws(StorageError) -> Bool {
    if try lock.takeAtOnce() { return true }
    // Without the mark, the other member may take the lock again before this process wakes, for a while.
    let mark = WaitingMark(time: UInt64(Monitor.now()), member: member)
    try? writeNumber(mark.word, at: Self.waitingOffset)
    return try lock.take(until: deadline)
  }

  /// What a member writes that begins to wait for the turn; no two are equal.
  struct WaitingMark: Hashable {
    let time: UInt64
    let member: UInt16
  }

  /// Returns the mark of the member that began to wait last.
  func readWaitingMark() throws(StorageError) -> WaitingMark {
    WaitingMark(try readNumber(at: Self.waitingOffset))
  }

  func pause(microseconds: Int) { fileSystem.pause(microseconds: microseconds) }

  /// Checks that no other file has replaced this one, whose lock would exclude nobody.
  ///
  /// - Throws: ``StorageError/missingFile(path:)`` if the file was removed.
  func checkName() throws(StorageError) {
    if !lock.isNamed { throw .missingFile(path: path) }
  }

  /// Checks that a member began the file; called by a process that finds members and joins them.
  ///
  /// Otherwise theirs was removed, and a process that opened the store created this one. A member whose file was damaged
  /// restores it in its next turn.
  ///
  /// - Throws: ``StorageError/missingFile(path:)`` if no member did.
  func checkOrigin() throws(StorageError) {
    if try readNumber(at: 0) != Self.magic { throw .missingFile(path: path) }
  }

  /// Reads the holder of the turn.
  func readHolder() throws(StorageError) -> Holder {
    let bytes = try file.readBytes(8, at: 8)
    guard bytes.count == 8 else { return Holder() }
    return Holder(bytes.load(UInt64.self, at: 0))
  }

  /// Returns a description of the turn's holder, for people.
  func describeHolder(_ members: Members) -> String {
    guard let holder = try? readHolder(), holder.member != 0,
      let name = members.name(of: holder.member)
    else { return "a process that is joining" }
    return name
  }

  func write(_ holder: Holder) throws(StorageError) {
    var bytes = ByteBuffer(capacity: 8)
    bytes.append(holder.word)
    try bytes.write(to: file, at: 8)
  }

  /// Reads everything but the counters.
  ///
  /// - Returns: The record; if it is damaged, one that is not ``TurnRecord/isReadable``.
  func read() throws(StorageError) -> TurnRecord {
    let bytes = try file.readBytes(Self.byteCount, at: 0)
    guard bytes.count == Self.byteCount, bytes.load(UInt64.self, at: 0) == Self.magic else {
      return makeUnreadable()
    }
    let holder = Holder(bytes.load(UInt64.self, at: 8))
    let turns = bytes.load(UInt32.self, at: Self.checksumOffset)
    let body = bytes.bytes.extracting(Self.bodyOffset..<Self.checksumOffset)
    let isIntact =
      bytes.load(UInt32.self, at: Self.checksumOffset + 4) == CRC32C.extend(0, over: body)
    // Members of earlier versions leave the checksum of an earlier record, with its number of turns.
    let lag = UInt32(truncatingIfNeeded: holder.turns) &- turns &+ 1
    if lag <= 1, !isIntact { return makeUnreadable() }
    var record = TurnRecord(holder: holder, isCounted: lag == 1)
    record.nextFile = SegmentID(clampingNext: bytes.load(UInt32.self, at: 16))
    record.segment = SegmentID(rawValue: bytes.load(UInt32.self, at: 20))
    record.end = Int(clamping: bytes.load(UInt64.self, at: 24))
    record.durableEnd = bytes.load(UInt64.self, at: 32)
    record.manifest = bytes.load(UInt64.self, at: 40)
    record.nextBlob = BlobID(rawValue: bytes.load(UInt64.self, at: 48))
    record.isEnded = bytes.load(UInt64.self, at: 56) != 0
    record.checkpoint.highest = bytes.load(UInt64.self, at: 64)
    let newest = bytes.load(UInt64.self, at: 72)
    record.checkpoint.newest = newest == 0 ? nil : newest
    record.checkpoint.logPosition = bytes.load(UInt64.self, at: 80)
    record.checkpoint.byteCount = Int(clamping: bytes.load(UInt64.self, at: 88))
    record.checkpoint.attemptEnd = bytes.load(UInt64.self, at: 96)
    guard record.countsAreReadable else { return makeUnreadable() }
    return record
  }

  /// Writes everything but the counters and the holder, which comes after it.
  ///
  /// - Parameters:
  ///   - record: The record to write.
  ///   - turns: The number of turns once this one has ended.
  /// - Throws: ``StorageError`` if the file cannot be written.
  func writeBody(_ record: TurnRecord, turns: UInt64) throws(StorageError) {
    var bytes = ByteBuffer(capacity: Self.byteCount)
    bytes.append(record.nextFile.rawValue)
    bytes.append(record.segment.rawValue)
    bytes.append(UInt64(record.end))
    bytes.append(record.durableEnd)
    bytes.append(record.manifest)
    bytes.append(record.nextBlob.rawValue)
    bytes.append(UInt64(record.isEnded ? 1 : 0))
    bytes.append(record.checkpoint.highest)
    bytes.append(record.checkpoint.newest ?? 0)
    bytes.append(record.checkpoint.logPosition)
    bytes.append(UInt64(record.checkpoint.byteCount))
    bytes.append(record.checkpoint.attemptEnd)
    let checksum = CRC32C.extend(0, over: bytes.bytes)
    bytes.append(UInt32(truncatingIfNeeded: turns))
    bytes.append(checksum)
    try bytes.write(to: file, at: Self.bodyOffset)
  }

  /// Returns the record that replaces a damaged one: a member died in its turn, and nothing is known about the log.
  private func makeUnreadable() -> TurnRecord {
    TurnRecord(
      holder: Holder(turns: fileSystem.randomBits() >> 17, member: .max),
      isReadable: false
    )
  }

  /// Restores the file as one of these members after damage; see ``writeBody(_:turns:)`` for the rest.
  func restore(synchronizationNumber: UInt64?) throws(StorageError) {
    try writeNumber(Self.magic, at: 0)
    if let synchronizationNumber { try write(synchronizationNumber: synchronizationNumber) }
  }

  /// Reads the number that identifies these members' file of shared synchronizations; 0 without one.
  func readSynchronizationNumber() throws(StorageError) -> UInt64 {
    try readNumber(at: Self.synchronizationOffset)
  }

  func write(synchronizationNumber number: UInt64) throws(StorageError) {
    try writeNumber(number, at: Self.synchronizationOffset)
  }

  /// Clears the file for the first member, including the keys and ranks that were reserved for members that are gone.
  ///
  /// The file is overwritten, and not cut off first: on a full device others might take the room.
  func begin(_ holder: Holder) throws(StorageError) {
    var head = ByteBuffer(capacity: Self.keyOffset)
    head.append(Self.magic)
    head.append(holder.word)
    head.appendZeros(Self.keyOffset - head.count)
    try head.write(to: file, at: 0)
    if try file.size() > Self.maximumByteCount { try file.setSize(Self.maximumByteCount) }
    var keys = ByteBuffer(capacity: Self.keyByteCount)
    keys.appendZeros(max(Self.keyByteCount, try file.size() - Self.keyOffset))
    do throws(StorageError) {
      try keys.write(to: file, at: Self.keyOffset)
    } catch .noSpace {
      // They are written when keys are allocated.
      try file.setSize(Self.keyOffset)
    }
  }

  // MARK: Numbers

  /// Allocates keys of a table, in the turn of the caller; called by one thread at a time.
  ///
  /// - Parameters:
  ///   - count: The number of keys.
  ///   - table: The table.
  ///   - known: The lowest key that no row has.
  ///   - copies: The copies of the numbers, if members have them.
  /// - Returns: The keys.
  /// - Throws: ``StorageError`` if a file cannot be read or written.
  func takeKeys(
    _ count: Int,
    of table: UInt16,
    from known: UInt64,
    _ copies: NumberCopies?
  ) throws(StorageError) -> Range<UInt64> {
    let first = try take(
      count,
      at: Self.keyOffset + Int(table) * 8,
      from: Int64(max(known, 1)),
      copies,
      table
    )
    return UInt64(first)..<UInt64(first) + UInt64(count)
  }

  /// Allocates ranks, in the turn of the caller; called by one thread at a time.
  func takeRanks(
    _ count: Int,
    from known: Int64,
    _ copies: NumberCopies?
  ) throws(StorageError) -> Range<Int64> {
    let first = try take(count, at: Self.rankOffset, from: known, copies, 0)
    return first..<(first + Int64(count))
  }

  /// Allocates numbers, the first of which it returns.
  private func take(
    _ count: Int,
    at offset: Int,
    from known: Int64,
    _ copies: NumberCopies?,
    _ table: UInt16
  ) throws(StorageError) -> Int64 {
    let copy = try copies?.read(table).map { Int64(bitPattern: $0) }
    let lowest = max(known, copy ?? 0)
    let noted = Int64(bitPattern: try readNumber(at: offset))
    // A number below the copy is damaged, and so is one too great for members to have reached.
    let first = noted >= lowest && noted - lowest <= Self.farthest ? noted : lowest
    let end = UInt64(bitPattern: first + Int64(count))
    try writeNumber(end, at: offset)
    try copies?.write(end, table)
    return first
  }

  /// The maximum number of allocated numbers that neither a row nor the copy shows.
  private static let farthest: Int64 = 1 << 32

  private func readNumber(at offset: Int) throws(StorageError) -> UInt64 {
    let bytes = try file.readBytes(8, at: offset)
    return bytes.count == 8 ? bytes.load(UInt64.self, at: 0) : 0
  }

  private func writeNumber(_ number: UInt64, at offset: Int) throws(StorageError) {
    var bytes = ByteBuffer(capacity: 8)
    bytes.append(number)
    try bytes.write(to: file, at: offset)
  }
}

extension TurnFile.WaitingMark {
  init(_ word: UInt64) {
    time = word >> 16
    member = UInt16(truncatingIfNeeded: word)
  }

  var word: UInt64 { time << 16 | UInt64(member) }
}

extension TurnFile.Holder {
  init(_ word: UInt64) {
    turns = word >> 16
    member = UInt16(truncatingIfNeeded: word)
  }

  var word: UInt64 { turns << 16 | UInt64(member) }
}

/// The information that a member leaves to the next at the end of its turn.
struct TurnRecord: Sendable {
  var holder = TurnFile.Holder()
  /// Whether the record is intact, as a member wrote it.
  var isReadable = true
  /// Whether the record itself contains the number of turns.
  ///
  /// Otherwise that number may be wrong, or a member of an earlier version wrote the record.
  var isCounted = true
  /// The lowest unused file number.
  var nextFile = SegmentID(rawValue: 1)
  /// The segment in which the log ends.
  var segment = SegmentID.none
  /// The end of the log in that segment.
  var end = 0
  /// The durable end of the log, as far as is known.
  var durableEnd: UInt64 = 0
  /// The newest manifest.
  var manifest: UInt64 = 0
  /// The lowest unused blob number.
  var nextBlob = BlobID(rawValue: 1)
  /// Whether the segment can take no more frames, although it has room.
  var isEnded = false
  var checkpoint = CheckpointState()

  /// Whether all numbers are within the readable range.
  fileprivate var countsAreReadable: Bool {
    [durableEnd, manifest, checkpoint.highest, checkpoint.logPosition, checkpoint.attemptEnd]
      .allSatisfy { $0 <= NumberLimit.readable }
  }
}
