import LogFormat
import RowFormat

/// The processes that write a store: each holds the lock of a file in `members`, for as long as it lives.
///
/// Only these locks show which members exist. They are probed with shared locks, which are released at once. A member takes its
/// own lock in its turn, once `TURN` is right: so a process that has the turn and finds no member is the first.
struct Members: Sendable {
  let paths: StorePaths
  let fileSystem: any FileSystem

  /// The maximum number of processes that write a store at once.
  static let limit: UInt16 = 1024

  /// Returns the numbers that have a file, ascending.
  func numbers() throws(StorageError) -> [UInt16] {
    let names = try fileSystem.list(paths.members) ?? []
    return names.compactMap { name in
      name.utf8.count == 4 ? UInt16(name, radix: 16) : nil
    }
    .sorted()
  }

  /// Whether a member has a number.
  func isThere(_ number: UInt16) throws(StorageError) -> Bool {
    let lock = try fileSystem.openLockable(paths.member(number))
    guard try lock.take(.shared, waits: false) else { return true }
    lock.release()
    return false
  }

  /// Returns the numbers of the existing members, except for one.
  func others(than own: UInt16 = 0) throws(StorageError) -> [UInt16] {
    var others: [UInt16] = []
    for number in try numbers() where number != own {
      if try isThere(number) { others.append(number) }
    }
    return others
  }

  /// The offset of a member's description in its file.
  static let nameOffset = 8

  /// Returns a description of a member for people; the member may be gone.
  func name(of number: UInt16) -> String? {
    (try? LockFile(paths.member(number), fileSystem).holder(at: Self.nameOffset)).flatMap(\.self)
  }

  /// Creates a file for one more member, if there is none, so that a process can join when the device is full.
  ///
  /// - Parameter members: The numbers in use.
  func makeSpare(beside members: Set<UInt16>) {
    guard let number = (1...Self.limit).first(where: { !members.contains($0) }) else { return }
    let path = paths.member(number)
    guard (try? fileSystem.size(of: path)).flatMap(\.self) ?? 0 < Self.byteCount else { return }
    var zeros = ByteBuffer(capacity: Self.byteCount)
    zeros.appendZeros(Self.byteCount)
    // If this fails, the next member creates its file itself.
    _ = try? fileSystem.openLockable(path)
    if let file = try? fileSystem.open(path, .write) { try? zeros.write(to: file, at: 0) }
  }

  /// The size of a member's file, in bytes.
  private static let byteCount = nameOffset + LockFile.holderByteCount

  /// Returns the lowest commit that any other member may still read, or continue to read the log from; `nil` without other
  /// members.
  func lowestBound(but own: UInt16) throws(StorageError) -> UInt64? {
    var lowest: UInt64?
    for number in try others(than: own) {
      let bytes = try fileSystem.open(paths.member(number), .read).readBytes(8, at: 0)
      // A member writes its bound before it takes its lock.
      let bound = bytes.count == 8 ? bytes.load(UInt64.self, at: 0) : 0
      lowest = min(lowest ?? bound, bound)
    }
    return lowest
  }
}

/// A process's place among the members of a store, for as long as it lives.
///
/// Its file begins with a bound of 8 bytes: the member reads no commit before this one, and has read the log up to it. So a
/// compaction may fold older commits, and take the part that was read. A description of the member for people follows.
final class Membership: Sendable {
  let number: UInt16
  let members: Members
  private let file: any OpenFile
  private let lock: any LockableFile

  /// Prepares to join under an unused number; see ``join(bound:)``.
  init(_ members: Members, _ number: UInt16) throws(StorageError) {
    self.members = members
    self.number = number
    lock = try members.fileSystem.openLockable(members.paths.member(number))
    file = try members.fileSystem.open(members.paths.member(number), .write)
  }

  /// Becomes a member; in a turn, with a valid record.
  ///
  /// - Parameter bound: The newest commit, which the member has read.
  /// - Throws: ``StorageError`` if its file cannot be written or locked.
  func join(bound: UInt64) throws(StorageError) {
    do throws(StorageError) {
      try write(bound: bound)
      try LockFile(members.paths.member(number), members.fileSystem)
        .write(holder: members.fileSystem.holderDescription, at: Members.nameOffset)
    } catch {
      guard case .noSpace = error, try file.size() < 8 else { throw error }
      // Without a bound in the file, others assume that this process needs every commit, until it can write one.
    }
    // Others hold the lock for no longer than a probe takes.
    _ = try lock.take(.exclusive, waits: true)
  }

  /// Checks that others can find this member.
  ///
  /// - Throws: ``StorageError/missingFile(path:)`` if its file was removed: then others may have joined as the first, and
  ///   reused its number and its keys.
  func checkName() throws(StorageError) {
    if !lock.isNamed { throw .missingFile(path: members.paths.member(number)) }
  }

  /// Publishes the oldest commit that this process may still read.
  func write(bound: UInt64) throws(StorageError) {
    var bytes = ByteBuffer(capacity: 8)
    bytes.append(bound)
    try bytes.write(to: file, at: 0)
  }

  /// Releases the member's lock, and gives back its file.
  func leave() {
    lock.close()
    file.close()
  }
}
