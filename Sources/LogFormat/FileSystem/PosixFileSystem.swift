import LibC

/// The real file system: the only place where the engine calls the system.
public struct PosixFileSystem: FileSystem {
  private let permissions: StorePermissions

  /// Creates a file system.
  ///
  /// - Parameter permissions: The permissions of new files.
  public init(making permissions: StorePermissions = .owner) { self.permissions = permissions }

  public func making(_ permissions: StorePermissions) -> any FileSystem {
    PosixFileSystem(making: permissions)
  }

  public func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    let descriptor =
      switch mode {
      case .read: try openFile(.open, path, O_RDONLY)
      case .write: try openFile(.open, path, O_RDWR)
      case .create: try makeFile(path)
      }
    return PosixFile(path: path, descriptor: descriptor)
  }

  public func size(of path: String) throws(StorageError) -> Int? {
    guard let status = try nodeStatus(.size, path) else { return nil }
    let kind = Self.kind(status)
    guard kind == .file || kind == .directory else {
      throw .unexpectedFile(path: path, expected: .file, found: kind)
    }
    return Int(status.st_size)
  }

  public func status(of path: String) throws(StorageError) -> FileStatus? {
    try nodeStatus(.size, path).map { status in
      FileStatus(kind: Self.kind(status), mode: UInt16(truncatingIfNeeded: status.st_mode & 0o7777))
    }
  }

  public func resolvingLink(_ path: String) throws(StorageError) -> String {
    guard let status = try nodeStatus(.size, path), Self.kind(status) == .link else { return path }
    // For a link to a missing file the path is unchanged: later calls fail with that.
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  public func list(_ directory: String) throws(StorageError) -> [String]? {
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
    let descriptor: CInt
    do throws(StorageError) {
      descriptor = try Self.call(.list, directory) { unsafe openat(AT_FDCWD, directory, flags) }
    } catch .missingFile {
      return nil
    } catch .inputOutput(_, _, ENOTDIR) {
      // Some systems return this error for links, too.
      try refuse(directory, .directory, unless: [.file, .directory])
      return nil
    } catch {
      try refuse(directory, .directory, unless: [.file, .directory])
      throw error
    }
    guard let stream = unsafe fdopendir(descriptor) else {
      let code = errno
      _ = close(descriptor)
      throw Self.failure(.list, directory, code)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else { break }
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    if errno != 0 { throw Self.failure(.list, directory, errno) }
    return names
  }

  public func makeDirectory(_ path: String) throws(StorageError) {
    let mode = mode_t(permissions.directory)
    do throws(StorageError) {
      _ = try Self.call(.makeDirectory, path) { unsafe mkdir(path, mode & 0o700) }
    } catch .inputOutput(_, _, EEXIST) {
      return try refuse(path, .directory, unless: [.directory])
    }
    if mode & ~0o700 != 0 {
      _ = try Self.call(.makeDirectory, path) { unsafe chmod(path, mode) }
    }
  }

  public func rename(_ path: String, to newPath: String) throws(StorageError) {
    do throws(StorageError) {
      _ = try Self.call(.rename, path) { unsafe renameat(AT_FDCWD, path, AT_FDCWD, newPath) }
    } catch {
      throw error.concerning(newPath)
    }
  }

  public func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    do throws(StorageError) {
      _ = try Self.call(.link, path) { unsafe linkat(AT_FDCWD, path, AT_FDCWD, newPath, 0) }
      return true
    } catch .inputOutput(_, _, let code) where [EXDEV, EPERM, EMLINK, ENOTSUP].contains(code) {
      return false
    } catch {
      throw error.concerning(newPath)
    }
  }

  public func unlink(_ path: String) throws(StorageError) {
    do throws(StorageError) {
      _ = try Self.call(.unlink, path) { unsafe unlinkat(AT_FDCWD, path, 0) }
    } catch .missingFile {
      return
    }
  }

  public func removeDirectory(_ path: String) throws(StorageError) {
    _ = unsafe unlinkat(AT_FDCWD, path, AT_REMOVEDIR)
  }

  public func synchronizeDirectory(_ path: String) throws(StorageError) {
    // A directory that cannot be opened is a different failure: no synchronization was attempted.
    let descriptor = try Self.call(.open, path) {
      unsafe openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
    defer { _ = close(descriptor) }
    _ = try Self.call(.synchronizeDirectory, path) { fsync(descriptor) }
  }

  public func lock(_ path: String) throws(StorageError) -> (any FileLock)? {
    let lock = PosixLock(path: path, descriptor: try openLock(path))
    return try lock.take(.exclusive, waits: false) ? lock : nil
  }

  public func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    PosixLock(path: path, descriptor: try openLock(path))
  }

  public func networkFileSystem(of path: String) throws(StorageError) -> String? {
    // A new file will be on the file system of its nearest existing folder.
    var path = path
    while try nodeStatus(.size, path) == nil {
      guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
        path = path.hasPrefix("/") ? "/" : "."
        break
      }
      path = String(path[..<slash])
    }
    var status = stat()
    _ = try Self.call(.size, path) { unsafe stat(path, &status) }
    return MountTable.networkFileSystem(
      of: path,
      onDevice: UInt64(truncatingIfNeeded: status.st_dev)
    )
  }

  public func watch(_ path: String) -> (any FileWatch)? { PosixFileWatch(path) }

  public func microseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }

  public func pause(microseconds: Int) { _ = usleep(useconds_t(clamping: microseconds)) }

  public func randomBits() -> UInt64 { UInt64.random(in: .min ... .max) }

  public var memoryLimit: Int? { MemoryLimit.current == .max ? nil : MemoryLimit.current }

  public var holderDescription: String { Self.describe(getpid()) }

  public func hasEnded(_ holderDescription: String) -> Bool {
    let words = holderDescription.split(separator: " ")
    guard words.count > 1, let process = pid_t(words[1]), process > 0,
      Self.describe(process) == holderDescription
    else { return false }
    return kill(process, 0) != 0 && errno == ESRCH
  }

  private static func describe(_ process: pid_t) -> String {
    var name = [CChar](repeating: 0, count: 256)
    let count = name.count - 1
    let status = unsafe name.withUnsafeMutableBufferPointer { buffer in
      unsafe gethostname(buffer.baseAddress.unsafelyUnwrapped, count)
    }
    let host =
      status == 0
      ? String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : "?"
    return "process \(process) on \(host)"
  }

  /// Converts an error number to a storage error.
  package static func failure(
    _ operation: FileOperation,
    _ path: String,
    _ code: CInt,
    needed: Int = 0
  ) -> StorageError {
    switch code {
    case ENOENT: .missingFile(path: path)
    case ENOSPC, EDQUOT: .noSpace(path: path, needed: needed)
    default: .inputOutput(path: path, operation: operation, errno: code)
    }
  }
}

// MARK: Regular files only

extension PosixFileSystem {
  /// Opens a regular file, and nothing else: neither a link, nor a pipe, whose other end it would wait for, nor a device.
  private func openFile(
    _ operation: FileOperation,
    _ path: String,
    _ flags: CInt
  ) throws(StorageError) -> CInt {
    let descriptor: CInt
    do throws(StorageError) {
      descriptor = try Self.openNumbered(operation, path, flags | O_NONBLOCK)
    } catch {
      // For a link, a socket or a folder opened for writing, errors differ between systems: report the kind instead.
      try refuse(path, .file, unless: [.file])
      throw error
    }
    do throws(StorageError) {
      var status = stat()
      _ = try Self.call(operation, path) { unsafe fstat(descriptor, &status) }
      let kind = Self.kind(status)
      guard kind == .file else {
        throw .unexpectedFile(path: path, expected: .file, found: kind)
      }
      return descriptor
    } catch {
      _ = close(descriptor)
      throw error
    }
  }

  /// Creates a file under an unused name: an existing file of that name loses it, and is not written to, since it may have
  /// another name.
  private func makeFile(
    _ path: String,
    _ operation: FileOperation = .open
  ) throws(StorageError) -> CInt {
    let mode = mode_t(permissions.file)
    while true {
      do throws(StorageError) {
        let descriptor = try Self.openNumbered(
          operation,
          path,
          O_RDWR | O_CREAT | O_EXCL,
          mode & 0o600
        )
        // Not by the flag above, from which the process's mask is subtracted.
        if mode & ~0o600 != 0, fchmod(descriptor, mode) != 0 {
          let code = errno
          _ = close(descriptor)
          throw Self.failure(operation, path, code)
        }
        return descriptor
      } catch .inputOutput(_, _, EEXIST) {
        if operation == .lock {
          throw .inputOutput(path: path, operation: operation, errno: EEXIST)
        }
        try refuse(path, .file, unless: [.file])
        try unlink(path)
      }
    }
  }

  /// Opens a file under a descriptor other than those of standard input, output and error.
  ///
  /// A process that was started without these descriptors, like a daemon, would get one of them: its next line of log, or a
  /// warning of the runtime, would overwrite the first bytes of a segment.
  private static func openNumbered(
    _ operation: FileOperation,
    _ path: String,
    _ flags: CInt,
    _ mode: mode_t = 0
  ) throws(StorageError) -> CInt {
    try call(operation, path) {
      renumbered(unsafe openat(AT_FDCWD, path, flags | O_NOFOLLOW | O_CLOEXEC, mode))
    }
  }

  /// Returns the same file under a descriptor other than those of standard input, output and error; a negative number, like
  /// failed system calls, if `descriptor` is negative or there is none left.
  static func renumbered(_ descriptor: CInt) -> CInt {
    guard STDIN_FILENO...STDERR_FILENO ~= descriptor else { return descriptor }
    let higher = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    let code = errno
    _ = close(descriptor)
    errno = code
    return higher
  }

  /// Opens the file of a lock, creating it if needed; an existing file never loses its name.
  private func openLock(_ path: String) throws(StorageError) -> CInt {
    while true {
      do throws(StorageError) {
        return try openFile(.lock, path, O_RDWR)
      } catch .missingFile {
        do throws(StorageError) {
          return try makeFile(path, .lock)
        } catch .inputOutput(_, _, EEXIST) {
          // Another process has created it first.
          continue
        }
      }
    }
  }

  /// Throws if a path is of an unexpected kind.
  private func refuse(
    _ path: String,
    _ expected: FileKind,
    unless kinds: Set<FileKind>
  ) throws(StorageError) {
    guard let found = try nodeStatus(.size, path).map(Self.kind), !kinds.contains(found) else {
      return
    }
    throw .unexpectedFile(path: path, expected: expected, found: found)
  }

  private func nodeStatus(
    _ operation: FileOperation,
    _ path: String
  ) throws(StorageError) -> stat? {
    var status = stat()
    do throws(StorageError) {
      _ = try Self.call(operation, path) { unsafe lstat(path, &status) }
      return status
    } catch .missingFile {
      return nil
    } catch .inputOutput(_, _, ENOTDIR) {
      return nil
    }
  }

  private static func kind(_ status: stat) -> FileKind {
    switch status.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .directory
    case S_IFLNK: .link
    case S_IFIFO: .pipe
    case S_IFSOCK: .socket
    default: .device
    }
  }
}

extension StorageError {
  /// The error of giving a file another name, with the name in whose folder there is no room.
  func concerning(_ newPath: String) -> StorageError {
    switch self {
    case .noSpace(_, let needed): .noSpace(path: newPath, needed: needed)
    case .inputOutput(_, let operation, EROFS):
      .inputOutput(path: newPath, operation: operation, errno: EROFS)
    default: self
    }
  }
}

// MARK: Calls

extension PosixFileSystem {
  /// Repeats a system call until it is not interrupted, and converts a failure to an error.
  static func call(
    _ operation: FileOperation,
    _ path: String,
    needed: Int = 0,
    _ body: () -> CInt
  ) throws(StorageError) -> CInt {
    while true {
      let status = body()
      if status >= 0 { return status }
      let code = errno
      if code != EINTR { throw failure(operation, path, code, needed: needed) }
    }
  }
}

/// A file and its lock, which is released with the object, or when the process ends.
///
/// Uses `flock`, not `fcntl`: a lock of the latter kind is dropped when *any* descriptor of the file is closed, even by a
/// follower in this process.
private final class PosixLock: LockableFile {
  private let path: String
  private let descriptor: Descriptor

  init(path: String, descriptor: CInt) {
    self.path = path
    self.descriptor = Descriptor(descriptor)
  }

  func take(_ kind: LockKind, waits: Bool) throws(StorageError) -> Bool {
    try descriptor.use(path) { (descriptor) throws(StorageError) in
      let operation = (kind == .shared ? LOCK_SH : LOCK_EX) | (waits ? 0 : LOCK_NB)
      while flock(descriptor, operation) != 0 {
        let code = errno
        if code == EINTR { continue }
        if code == EWOULDBLOCK { return false }
        throw PosixFileSystem.failure(.lock, path, code)
      }
      return true
    }
  }

  func release() {
    try? descriptor.use(path) { (descriptor) throws(StorageError) in _ = flock(descriptor, LOCK_UN)
    }
  }

  func close() {
    // Closing is not enough: a child that another thread is just starting has the descriptor, too, until it runs its own
    // program, and with it the lock.
    release()
    descriptor.giveBack()
  }

  var isNamed: Bool {
    guard let own = status else { return false }
    // Some file systems do not count names.
    return own.st_nlink > 0 || isInPlace
  }

  var isInPlace: Bool {
    guard let own = status else { return false }
    var named = stat()
    return unsafe stat(path, &named) == 0 && named.st_dev == own.st_dev
      && named.st_ino == own.st_ino
  }

  private var status: stat? {
    try? descriptor.use(path) { (descriptor) throws(StorageError) -> stat? in
      var own = stat()
      return unsafe fstat(descriptor, &own) == 0 ? own : nil
    }
  }

  deinit { close() }
}
