#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The real file system: the only place where the engine calls the system.
public struct PosixFileSystem: FileSystem {
  public init() {}

  public func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .write: O_RDWR
      case .create: O_RDWR | O_CREAT | O_TRUNC
      }
    let descriptor = try Self.call(.open, path) {
      unsafe openat(AT_FDCWD, path, flags | O_CLOEXEC, 0o644)
    }
    return PosixFile(path: path, descriptor: descriptor)
  }

  public func size(of path: String) throws(StorageError) -> Int? {
    var status = stat()
    do throws(StorageError) {
      _ = try Self.call(.size, path) { unsafe stat(path, &status) }
    } catch .missingFile {
      return nil
    }
    return Int(status.st_size)
  }

  public func list(_ directory: String) throws(StorageError) -> [String]? {
    guard let stream = unsafe opendir(directory) else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw Self.failure(.list, directory, errno)
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
    do throws(StorageError) {
      _ = try Self.call(.makeDirectory, path) { unsafe mkdir(path, 0o755) }
    } catch .inputOutput(_, _, EEXIST) {
      return
    }
  }

  public func rename(_ path: String, to newPath: String) throws(StorageError) {
    _ = try Self.call(.rename, path) { unsafe renameat(AT_FDCWD, path, AT_FDCWD, newPath) }
  }

  public func link(_ path: String, as newPath: String) throws(StorageError) -> Bool {
    do throws(StorageError) {
      _ = try Self.call(.link, path) { unsafe linkat(AT_FDCWD, path, AT_FDCWD, newPath, 0) }
      return true
    } catch .inputOutput(_, _, let code) where [EXDEV, EPERM, EMLINK, ENOTSUP].contains(code) {
      return false
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
    let descriptor = try Self.call(.synchronizeDirectory, path) {
      unsafe openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    defer { _ = close(descriptor) }
    _ = try Self.call(.synchronizeDirectory, path) { fsync(descriptor) }
  }

  public func lock(_ path: String) throws(StorageError) -> (any FileLock)? {
    let descriptor = try Self.call(.lock, path) {
      unsafe openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    }
    // `flock` and not `fcntl`: a lock of the latter kind is dropped when *any* descriptor of the file
    // is closed, also by a follower in this process.
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      _ = close(descriptor)
      if code == EWOULDBLOCK { return nil }
      throw Self.failure(.lock, path, code)
    }
    return PosixLock(descriptor: descriptor)
  }

  public func microseconds() -> Int64 {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
  }

  public func pause(microseconds: Int) { _ = usleep(useconds_t(clamping: microseconds)) }

  public func randomBits() -> UInt64 { UInt64.random(in: .min ... .max) }

  public var holderDescription: String {
    var name = [CChar](repeating: 0, count: 256)
    let count = name.count - 1
    let status = unsafe name.withUnsafeMutableBufferPointer { buffer in
      unsafe gethostname(buffer.baseAddress.unsafelyUnwrapped, count)
    }
    let host =
      status == 0
      ? String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) : "?"
    return "process \(getpid()) on \(host)"
  }

  /// Calls the system until it is not interrupted, and turns a failure into an error.
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

  /// An error number in the engine's words.
  static func failure(
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

/// A lock that is given back when its descriptor is closed.
private final class PosixLock: FileLock {
  private let descriptor: CInt
  init(descriptor: CInt) { self.descriptor = descriptor }
  deinit { _ = close(descriptor) }
}
