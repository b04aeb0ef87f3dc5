import LogFormat

/// Wakes all members at once that wait for the end of a synchronization.
///
/// The member that synchronizes holds the lock of `members/WAIT0` or `members/WAIT1` meanwhile, of one after the other; members
/// that wait share that lock. The system wakes them when it is released, or its holder dies, and each tries again to take it:
/// with one lock, those that are slow to wake would find it taken for the next synchronization, and sleep through that, too.
///
/// These locks exclude nobody from anything. A member that cannot take one synchronizes without it, and others then wait for
/// the lock of `members/SYNC` itself.
///
/// Called by one thread of the process at a time.
final class SynchronizationWait: @unchecked Sendable {
  private let locks: [any LockableFile]
  @safe @exclusivity(unchecked) private var held: (any LockableFile)?

  init(_ members: Members) throws(StorageError) {
    var locks: [any LockableFile] = []
    for path in members.paths.waits { locks.append(try members.fileSystem.openLockable(path)) }
    self.locks = locks
  }

  private func lock(of count: UInt64) -> any LockableFile {
    locks[Int(count % UInt64(locks.count))]
  }

  /// Lets others wait for the end of a synchronization that begins, by the member that has the lock of `members/SYNC`.
  ///
  /// - Parameter count: The number of the synchronization.
  /// - Returns: Whether they can.
  func begin(_ count: UInt64) -> Bool {
    let lock = lock(of: count)
    guard (try? lock.take(.exclusive, waits: false)) == true else { return false }
    held = lock
    return true
  }

  /// Ends what ``begin(_:)`` has begun, if anything.
  func end() {
    held?.release()
    held = nil
  }

  /// Returns once a synchronization has ended; at once, if none with that number is under way.
  func waitForEnd(of count: UInt64) throws(StorageError) {
    let lock = lock(of: count)
    _ = try lock.take(.shared, waits: true)
    lock.release()
  }

  /// Gives back the files, between synchronizations.
  func close() {
    for lock in locks { lock.close() }
  }
}
