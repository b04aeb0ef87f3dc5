import LibC

/// Waits for writes to a file, or to one in a directory: notified by the system on Linux, elsewhere by checking the time of a
/// file a hundred times a second.
final class PosixFileWatch: FileWatch {
  /// The read end of a pipe, and the write end that wakes the thread.
  private let wakeUp: (read: CInt, write: CInt)
  #if canImport(Darwin)
  private let path: String
  #else
  private let descriptor: CInt
  #endif

  init?(_ path: String) {
    var ends: [CInt] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { return nil }
    // In a process without standard output, printed text would otherwise wake the thread for good.
    ends = ends.map(PosixFileSystem.renumbered)
    guard ends.allSatisfy({ $0 >= 0 }) else {
      for end in ends where end >= 0 { _ = close(end) }
      return nil
    }
    wakeUp = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #if canImport(Darwin)
    // The time of a directory does not change when its files are written.
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      for end in ends { _ = close(end) }
      return nil
    }
    self.path = path
    #else
    descriptor = PosixFileSystem.renumbered(
      inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
    )
    guard descriptor >= 0, unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
      if descriptor >= 0 { _ = close(descriptor) }
      for end in ends { _ = close(end) }
      return nil
    }
    #endif
  }

  deinit {
    _ = close(wakeUp.read)
    _ = close(wakeUp.write)
    #if !canImport(Darwin)
    _ = close(descriptor)
    #endif
  }

  func wait() -> Bool {
    #if canImport(Darwin)
    let before = lastChange
    while lastChange == before {
      var polled = pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0)
      if unsafe poll(&polled, 1, 10) > 0 { return false }
    }
    return true
    #else
    var polled = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&polled, 2, -1) < 0 { if errno != EINTR { return false } }
    if polled[1].revents != 0 { return false }
    // The notifications are discarded: only their occurrence matters.
    var buffer = [UInt8](repeating: 0, count: 4096)
    while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
    return true
    #endif
  }

  func cancel() {
    var byte: UInt8 = 1
    _ = unsafe write(wakeUp.write, &byte, 1)
  }

  #if canImport(Darwin)
  private var lastChange: Int {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return 0 }
    return Int(status.st_mtimespec.tv_sec) * 1_000_000_000 + status.st_mtimespec.tv_nsec
  }
  #endif
}
