import LibC

/// The seam between the engine and the world: all input and output, the time of day, and chance.
///
/// The engine reaches files, the clock and random numbers only through this protocol (waiting goes by a monotonic clock of its own,
/// and threads are the system's), so that a
/// deterministic double can drop un-synchronized writes, tear them, fail any call and replay what
/// happened from a seed. What an implementation must keep:
///
/// - Bytes written to a file are visible to every later read of that path at once, and survive a
///   power cut once ``OpenFile/synchronize()`` has returned; so do the file's size and allocation.
/// - A name made, changed or removed in a directory survives a power cut once
///   ``synchronizeDirectory(_:)`` has returned for that directory. Synchronizing a file does not
///   synchronize its name.
/// - ``rename(_:to:)`` replaces its target in one step.
/// - A call that fails may have done part of its work, and is never repeated by the engine on data
///   that has to survive.
///
/// - No call follows a symbolic link at the end of a path, waits for the other end of a pipe or writes to a
///   device: what is neither a regular file nor a directory throws
///   ``StorageError/unexpectedFile(path:expected:found:)``. Only a store's own folder may be reached through
///   a link, which ``resolvingLink(_:)`` undoes once.
///
/// Paths are strings with `/` between their parts, as the engine was given its own.
public protocol FileSystem: Sendable {
  /// Opens a file.
  ///
  /// A file that is made gets a name that nothing has: another file of that name loses it, and keeps its
  /// bytes under its other names.
  ///
  /// - Throws: ``StorageError/missingFile(path:)`` if it does not exist and `mode` does not make it.
  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile

  /// The size of the file at a path, or `nil` if there is none.
  func size(of path: String) throws(StorageError) -> Int?

  /// What a path names, not followed if it is a link; `nil` if it names nothing.
  func status(of path: String) throws(StorageError) -> FileStatus?

  /// The path that a link at the end of a path leads to; the path itself if it is none.
  func resolvingLink(_ path: String) throws(StorageError) -> String

  /// The same files, where new files and directories get certain permissions.
  func making(_ permissions: StorePermissions) -> any FileSystem

  /// The names in a directory, in no particular order, or `nil` if there is no such directory.
  func list(_ directory: String) throws(StorageError) -> [String]?

  /// Makes a directory; one that exists already is left as it is.
  ///
  /// The directory it is made in must exist.
  func makeDirectory(_ path: String) throws(StorageError)

  /// Gives a file another name, replacing a file that bears it.
  func rename(_ path: String, to newPath: String) throws(StorageError)

  /// Gives a file a second name.
  ///
  /// - Returns: `false` if the file system cannot do that between these two paths; the caller
  ///   then copies.
  func link(_ path: String, as newPath: String) throws(StorageError) -> Bool

  /// Removes a name; one that does not exist is no error.
  func unlink(_ path: String) throws(StorageError)

  /// Removes a directory if it is empty; whether that was possible is of no consequence.
  func removeDirectory(_ path: String) throws(StorageError)

  /// Makes the names in a directory survive a power cut.
  ///
  /// - Throws: ``StorageError``; of the operation ``FileOperation/open`` if the directory could not even be opened, so
  ///   that nothing was attempted, and nothing is in doubt.
  func synchronizeDirectory(_ path: String) throws(StorageError)

  /// Takes the one exclusive lock on a file, which is made if need be and never removed.
  ///
  /// The lock is held by the returned object and given back when that is released, or when the
  /// process ends in whatever way: the file's existence means nothing.
  ///
  /// - Returns: The lock, or `nil` if someone else holds it.
  func lock(_ path: String) throws(StorageError) -> (any FileLock)?

  /// Opens a file to be locked, again and again; it is made if need be.
  ///
  /// Nothing is locked yet. The locks are of the same kind as that of ``lock(_:)``.
  ///
  /// - Throws: ``StorageError/inputOutput(path:operation:errno:)`` with `ENOTSUP` where there are only exclusive locks.
  func openLockable(_ path: String) throws(StorageError) -> any LockableFile

  /// The name of the network file system that a path is on, "nfs4" say; the path need not exist yet.
  ///
  /// - Returns: `nil` for a file system of this host, and where it is not known.
  func networkFileSystem(of path: String) throws(StorageError) -> String?

  /// Watches a file, or the files in a directory, for changes by any process.
  ///
  /// - Returns: `nil` where nobody tells of changes.
  func watch(_ path: String) -> (any FileWatch)?

  /// The time of day, in microseconds since 1970-01-01T00:00:00Z; it may jump.
  func microseconds() -> Int64

  /// Waits for some microseconds; by default, and where time is simulated, not at all.
  func pause(microseconds: Int)

  /// Sixty-four random bits.
  func randomBits() -> UInt64

  /// How many bytes of memory the process may use; `nil` if that is not known.
  var memoryLimit: Int? { get }

  /// Who uses this file system, for a person to read: a process and a host, say.
  var holderDescription: String { get }
}

extension FileSystem {
  public func pause(microseconds: Int) {}
  /// For file systems that tell of no changes.
  public func watch(_ path: String) -> (any FileWatch)? { nil }
  /// For file systems of this host.
  public func networkFileSystem(of path: String) throws(StorageError) -> String? { nil }
  /// For file systems that one process uses.
  public func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    throw .inputOutput(path: path, operation: .lock, errno: ENOTSUP)
  }
  /// For file systems that keep empty directories.
  public func removeDirectory(_ path: String) throws(StorageError) {}
  /// For file systems without links and permissions.
  public func status(of path: String) throws(StorageError) -> FileStatus? {
    if try list(path) != nil { return FileStatus(kind: .directory) }
    return try size(of: path) == nil ? nil : FileStatus(kind: .file)
  }
  public func resolvingLink(_ path: String) throws(StorageError) -> String { path }
  public func making(_ permissions: StorePermissions) -> any FileSystem { self }
  /// For file systems that know nothing of the process.
  public var memoryLimit: Int? { nil }
}

/// What a name in a file system is.
public struct FileStatus: Sendable, Hashable {
  /// What the name refers to.
  public var kind: FileKind
  /// Who may read, write and enter it: the twelve bits of `chmod`; `nil` where nothing of that kind is kept.
  public var mode: UInt16?

  /// Makes a status.
  public init(kind: FileKind, mode: UInt16? = nil) {
    self.kind = kind
    self.mode = mode
  }
}

/// Who may read and write the files of a store, as the bits of `chmod`.
///
/// They are given to what is made, whatever the process's `umask` says.
public struct StorePermissions: Sendable, Hashable {
  /// The bits of files: read and write, for owner, group and others.
  public var file: UInt16
  /// The bits of directories.
  public var directory: UInt16

  /// Makes permissions; of `file`, bits other than read and write are dropped.
  public init(file: UInt16, directory: UInt16) {
    self.file = file & 0o666
    self.directory = directory & 0o7777
  }

  /// Only the user that makes the store: 0600 and 0700.
  public static let owner = StorePermissions(file: 0o600, directory: 0o700)
  /// Its group may read, too: 0640 and 0750.
  public static let groupReads = StorePermissions(file: 0o640, directory: 0o750)
  /// Its group may read and write: 0660 and 2770, so that new files belong to the folder's group.
  public static let groupWrites = StorePermissions(file: 0o660, directory: 0o2770)
}

/// What a file is opened for.
public enum OpenMode: Sendable, Hashable {
  /// To read a file that exists.
  case read
  /// To read and write a file that exists.
  case write
  /// To read and write a file, which is made, or emptied if it exists.
  case create
}

/// Holds an exclusive lock for as long as it lives.
public protocol FileLock: AnyObject, Sendable {
  /// Whether the path that the file was opened under still leads to it.
  ///
  /// It does not if the file was removed, or a folder of the path moved: who opens the path then has another lock, or makes one.
  var isInPlace: Bool { get }
}

extension FileLock {
  /// For file systems whose folders stay where they are.
  public var isInPlace: Bool { true }
}

/// A file that can be locked by one at a time, or by several who share it.
///
/// What is locked is let go of when the object is released, or when the process ends in whatever way.
public protocol LockableFile: FileLock {
  /// Takes the lock; by an object that does not hold it.
  ///
  /// - Parameters:
  ///   - kind: Whether others may hold it meanwhile.
  ///   - waits: Whether to wait until those who hold it let go of it. Who waits longest need not be the first.
  /// - Returns: Whether it was taken; always, if it `waits`.
  /// - Throws: ``StorageError/inputOutput(path:operation:errno:)``.
  func take(_ kind: LockKind, waits: Bool) throws(StorageError) -> Bool

  /// Lets go of the lock.
  func release()

  /// Whether the file still has a name: who opens it by that name shares its lock.
  var isNamed: Bool { get }
}

extension LockableFile {
  public var isNamed: Bool { true }
}

/// Tells when a file is written to.
public protocol FileWatch: AnyObject, Sendable {
  /// Sleeps until the file was written to since the last call, perhaps by this process.
  ///
  /// - Returns: `false` if the watch was cancelled.
  func wait() -> Bool

  /// Wakes the thread that waits, for good.
  func cancel()
}

/// Who may hold a lock at the same time.
public enum LockKind: Sendable, Hashable {
  /// Any number, all of whom share it.
  case shared
  /// One, and nobody else.
  case exclusive
}

/// An open file; it is closed when the last reference to it goes.
///
/// Reads and writes name their position, so a file has no cursor and may be used by several
/// threads at once.
public protocol OpenFile: AnyObject, Sendable {
  /// The path the file was opened under.
  var path: String { get }

  /// The size of the file.
  func size() throws(StorageError) -> Int

  /// Reads bytes at an offset.
  ///
  /// - Returns: How many bytes were read: fewer than asked for, or 0, only at the end of the file.
  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int

  /// Writes bytes at an offset; the file grows if need be.
  ///
  /// - Returns: How many bytes were written, at least one; the caller goes on with the rest.
  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int

  /// Makes the file's bytes and size survive a power cut.
  ///
  /// After a failure nothing can be said about the bytes written since the last success, not even
  /// by a second call that succeeds.
  func synchronize() throws(StorageError)

  /// Reserves space for the first `size` bytes, and makes the file that long if it is shorter.
  ///
  /// Bytes that were not there read as zero.
  ///
  /// - Throws: ``StorageError/noSpace(path:needed:)`` if the space is not to be had.
  func allocate(_ size: Int) throws(StorageError)

  /// Cuts the file off, or extends it with zeros.
  func setSize(_ size: Int) throws(StorageError)

  /// Maps the first `count` bytes into memory.
  ///
  /// A shared mapping shows bytes written later; a private one may be written to, and the file
  /// never learns of it.
  ///
  /// - Returns: `nil` if this file system does not map files; the caller then reads.
  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile?

  /// Says that bytes will be read soon, so that they may be fetched from the disk meanwhile.
  ///
  /// A hint, which need not be taken; it does not wait.
  ///
  /// - Parameter range: Their range within the file.
  func willRead(_ range: Range<Int>)
}

/// In which order mapped bytes will be read: advice, which need not be taken.
public enum AccessPattern: Sendable, Hashable {
  /// Nothing is known: the system guesses.
  case unknown
  /// Here and there: what is beside them need not be fetched, too.
  case random
  /// One after the other: what follows may be fetched in good time.
  case sequential
}

/// How a file is mapped.
public enum MappingKind: Sendable, Hashable {
  /// To read; what is written to the file shows.
  case sharedReadOnly
  /// To read and write; what is written to the memory stays there.
  case privateWritable
}

extension OpenFile {
  /// Takes no hint.
  public func willRead(_ range: Range<Int>) {}
}
