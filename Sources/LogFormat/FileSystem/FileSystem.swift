import LibC

/// The boundary between the engine and the system: all input and output, the time of day, and randomness.
///
/// The engine reaches files, the clock and random numbers only through this protocol (waits use a monotonic clock, and threads
/// are the system's), so that a deterministic double can drop unsynchronized writes, tear them, fail any call and replay a run
/// from a seed. Requirements for an implementation:
///
/// - Bytes written to a file are visible to every later read of that path at once, and survive a
///   power cut once ``OpenFile/synchronize()`` has returned; so do the file's size and allocation.
/// - A name created, changed or removed in a directory survives a power cut once ``synchronizeDirectory(_:)`` has returned for
///   that directory. Synchronizing a file does not synchronize its name.
/// - ``rename(_:to:)`` replaces its target in one step.
/// - A call that fails may have done part of its work, and is never repeated by the engine on data that must survive.
///
/// - No call follows a symbolic link at the end of a path, waits for the other end of a pipe or writes to a device: anything
///   that is neither a regular file nor a directory throws ``StorageError/unexpectedFile(path:expected:found:)``. Only a
///   store's own folder may be reached through a link, which ``resolvingLink(_:)`` resolves once.
///
/// Paths are strings with `/` between their parts, as given to the engine.
public protocol FileSystem: Sendable {
  /// Opens a file.
  ///
  /// A created file gets an unused name: another file with that name loses it, and keeps its bytes under its other names.
  ///
  /// - Throws: ``StorageError/missingFile(path:)`` if the file does not exist and `mode` does not create it.
  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile

  /// Returns the size of the file at a path; `nil` if there is none.
  func size(of path: String) throws(StorageError) -> Int?

  /// Returns the status of a path, without following a link; `nil` if nothing is there.
  func status(of path: String) throws(StorageError) -> FileStatus?

  /// Returns the path that a link at the end of a path leads to; the path itself if it is not a link.
  func resolvingLink(_ path: String) throws(StorageError) -> String

  /// Returns a view of the same files in which new files and directories get these permissions.
  func making(_ permissions: StorePermissions) -> any FileSystem

  /// Returns the names in a directory, in no particular order; `nil` if there is no such directory.
  func list(_ directory: String) throws(StorageError) -> [String]?

  /// Creates a directory; an existing one is left unchanged.
  ///
  /// The parent directory must exist.
  func makeDirectory(_ path: String) throws(StorageError)

  /// Gives a file another name, replacing an existing file of that name.
  func rename(_ path: String, to newPath: String) throws(StorageError)

  /// Gives a file a second name.
  ///
  /// - Returns: `false` if the file system cannot do that between these two paths; the caller then copies.
  func link(_ path: String, as newPath: String) throws(StorageError) -> Bool

  /// Removes a name; a missing name is not an error.
  func unlink(_ path: String) throws(StorageError)

  /// Removes a directory if it is empty; does nothing if that is impossible.
  func removeDirectory(_ path: String) throws(StorageError)

  /// Makes the names in a directory survive a power cut.
  ///
  /// - Throws: ``StorageError``; with the operation ``FileOperation/open`` if the directory could not even be opened, so that
  ///   nothing was attempted, and nothing is in doubt.
  func synchronizeDirectory(_ path: String) throws(StorageError)

  /// Takes the exclusive lock on a file, which is created if needed and never removed.
  ///
  /// The lock is held by the returned object and released with it, or when the process ends for any reason: the file's
  /// existence means nothing.
  ///
  /// - Returns: The lock; `nil` if another process holds it.
  func lock(_ path: String) throws(StorageError) -> (any FileLock)?

  /// Opens a file for repeated locking; it is created if needed.
  ///
  /// Nothing is locked yet. The locks are of the same kind as that of ``lock(_:)``.
  ///
  /// - Throws: ``StorageError/inputOutput(path:operation:errno:)`` with `ENOTSUP` if there are only exclusive locks.
  func openLockable(_ path: String) throws(StorageError) -> any LockableFile

  /// Returns the type of the network file system of a path, such as "nfs4"; the path need not exist yet.
  ///
  /// - Returns: `nil` for a file system of this host, or if it is not known.
  func networkFileSystem(of path: String) throws(StorageError) -> String?

  /// Watches a file, or the files in a directory, for changes by any process.
  ///
  /// - Returns: `nil` if the file system does not report changes.
  func watch(_ path: String) -> (any FileWatch)?

  /// Returns the time of day, in microseconds since 1970-01-01T00:00:00Z; it may jump.
  func microseconds() -> Int64

  /// Waits for some microseconds; returns at once by default, and with simulated time.
  func pause(microseconds: Int)

  /// Returns sixty-four random bits.
  func randomBits() -> UInt64

  /// The memory that the process may use, in bytes; `nil` if unknown.
  var memoryLimit: Int? { get }

  /// A description of the user of this file system, for people: a process and a host, for instance.
  var holderDescription: String { get }

  /// Whether a user of this file system is known to have ended, by its ``holderDescription``.
  ///
  /// - Returns: `false` by default, and for a user of another host: then it is not known.
  func hasEnded(_ holderDescription: String) -> Bool
}

extension FileSystem {
  public func pause(microseconds: Int) {}
  /// Default for file systems that do not know their users.
  public func hasEnded(_ holderDescription: String) -> Bool { false }
  /// Default for file systems that do not report changes.
  public func watch(_ path: String) -> (any FileWatch)? { nil }
  /// Default for file systems of this host.
  public func networkFileSystem(of path: String) throws(StorageError) -> String? { nil }
  /// Default for file systems that only one process uses.
  public func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    throw .inputOutput(path: path, operation: .lock, errno: ENOTSUP)
  }
  /// Default for file systems that keep empty directories.
  public func removeDirectory(_ path: String) throws(StorageError) {}
  /// Default for file systems without links and permissions.
  public func status(of path: String) throws(StorageError) -> FileStatus? {
    if try list(path) != nil { return FileStatus(kind: .directory) }
    return try size(of: path) == nil ? nil : FileStatus(kind: .file)
  }
  public func resolvingLink(_ path: String) throws(StorageError) -> String { path }
  public func making(_ permissions: StorePermissions) -> any FileSystem { self }
  /// Default for file systems without information on the process.
  public var memoryLimit: Int? { nil }
}

/// The status of a name in a file system.
public struct FileStatus: Sendable, Hashable {
  /// The kind of object that the name refers to.
  public var kind: FileKind
  /// The permissions to read, write and enter it: the twelve bits of `chmod`; `nil` if there are no permissions.
  public var mode: UInt16?

  /// Creates a status.
  public init(kind: FileKind, mode: UInt16? = nil) {
    self.kind = kind
    self.mode = mode
  }
}

/// The permissions of a store's files, as the bits of `chmod`.
///
/// They apply to everything created, whatever the process's `umask`.
public struct StorePermissions: Sendable, Hashable {
  /// The bits of files: read and write, for owner, group and others.
  public var file: UInt16
  /// The bits of directories.
  public var directory: UInt16

  /// Creates permissions; bits of `file` other than read and write are dropped.
  public init(file: UInt16, directory: UInt16) {
    self.file = file & 0o666
    self.directory = directory & 0o7777
  }

  /// Only the user that creates the store: 0600 and 0700.
  public static let owner = StorePermissions(file: 0o600, directory: 0o700)
  /// Its group may read, too: 0640 and 0750.
  public static let groupReads = StorePermissions(file: 0o640, directory: 0o750)
  /// Its group may read and write: 0660 and 2770, so that new files belong to the folder's group.
  public static let groupWrites = StorePermissions(file: 0o660, directory: 0o2770)
}

/// The purposes for which a file is opened.
public enum OpenMode: Sendable, Hashable {
  /// Reads an existing file.
  case read
  /// Reads and writes an existing file.
  case write
  /// Reads and writes a file, which is created, or emptied if it exists.
  case create
}

/// Holds an exclusive lock for as long as it lives.
public protocol FileLock: AnyObject, Sendable {
  /// Whether the path under which the file was opened still leads to it.
  ///
  /// It does not if the file was removed, or a folder of the path moved: then another process that opens the path gets or
  /// creates another lock.
  var isInPlace: Bool { get }
}

extension FileLock {
  /// Default for file systems whose folders are never moved.
  public var isInPlace: Bool { true }
}

/// A file that can be locked exclusively, or shared by several holders.
///
/// The lock is released with the object, or when the process ends for any reason.
public protocol LockableFile: FileLock {
  /// Takes the lock; called on an object that does not hold it.
  ///
  /// - Parameters:
  ///   - kind: Whether others may hold the lock meanwhile.
  ///   - waits: Whether to wait until other holders release it. Waiters are not served in order.
  /// - Returns: Whether it was taken; always `true`, if it `waits`.
  /// - Throws: ``StorageError/inputOutput(path:operation:errno:)``.
  func take(_ kind: LockKind, waits: Bool) throws(StorageError) -> Bool

  /// Releases the lock.
  func release()

  /// Releases the lock, and gives back what the system keeps for the open file; see ``OpenFile/close()``.
  func close()

  /// Whether the file still has a name: only then can other processes open it and share its lock.
  var isNamed: Bool { get }
}

extension LockableFile {
  public var isNamed: Bool { true }
  /// Default for locks of which the system keeps nothing but the lock.
  public func close() { release() }
}

/// Reports writes to a file.
public protocol FileWatch: AnyObject, Sendable {
  /// Sleeps until the file was written to since the last call, perhaps by this process.
  ///
  /// - Returns: `false` if the watch was cancelled.
  func wait() -> Bool

  /// Wakes the waiting thread, for good.
  func cancel()
}

/// The modes of a lock.
public enum LockKind: Sendable, Hashable {
  /// Any number of holders share the lock.
  case shared
  /// Only one holder has the lock.
  case exclusive
}

/// An open file; it is closed with its last reference, or before that by ``close()``.
///
/// Reads and writes take an offset, so a file has no cursor and may be used by several threads at once.
public protocol OpenFile: AnyObject, Sendable {
  /// The path under which the file was opened.
  var path: String { get }

  /// Returns the size of the file.
  func size() throws(StorageError) -> Int

  /// Reads bytes at an offset.
  ///
  /// - Returns: The number of bytes read: fewer than requested, or 0, only at the end of the file.
  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int

  /// Writes bytes at an offset; the file grows if needed.
  ///
  /// - Returns: The number of bytes written, at least one; the caller continues with the rest.
  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int

  /// Makes the file's bytes and size survive a power cut.
  ///
  /// After a failure the state of the bytes written since the last success is unknown, even if a second call succeeds.
  func synchronize() throws(StorageError)

  /// Reserves space for the first `size` bytes, and makes the file that long if it is shorter.
  ///
  /// New bytes read as zero.
  ///
  /// - Throws: ``StorageError/noSpace(path:needed:)`` if there is not enough space.
  func allocate(_ size: Int) throws(StorageError)

  /// Cuts the file off, or extends it with zeros.
  func setSize(_ size: Int) throws(StorageError)

  /// Maps the first `count` bytes into memory.
  ///
  /// A shared mapping shows bytes written later; a private one may be written to without changing the file.
  ///
  /// - Returns: `nil` if this file system does not map files; the caller then reads.
  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile?

  /// Announces that bytes will be read soon, so that they can be fetched from the disk meanwhile.
  ///
  /// A hint, which may be ignored; it does not wait.
  ///
  /// - Parameter range: The range of the bytes in the file.
  func willRead(_ range: Range<Int>)

  /// Gives back what the system keeps for the open file, once calls in progress have ended; its mappings stay.
  ///
  /// Later calls throw ``StorageError/closed(path:)``. By default, this does nothing.
  func close()
}

/// The order in which mapped bytes will be read: a hint, which may be ignored.
public enum AccessPattern: Sendable, Hashable {
  /// The order is unknown: the system guesses.
  case unknown
  /// Random: neighbouring bytes need not be fetched.
  case random
  /// Sequential: the following bytes may be fetched in advance.
  case sequential
}

/// The kinds of mappings.
public enum MappingKind: Sendable, Hashable {
  /// For reading; later writes to the file are visible.
  case sharedReadOnly
  /// For reading and writing; writes to the memory do not reach the file.
  case privateWritable
}

extension OpenFile {
  /// Ignores the hint.
  public func willRead(_ range: Range<Int>) {}
  /// Default for files of which the system keeps nothing, and for those that are closed with their last reference.
  public func close() {}
}
