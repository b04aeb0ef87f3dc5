import Foundation
import Synchronization

/// The terminal of the process while a line is edited: each byte comes at once, and none has an effect by itself.
///
/// The terminal's own mode comes back on every way out: by ``leave()``, at `exit`, before a signal ends or stops the
/// process; and the edit continues when the process does.
enum RawTerminal {
  /// A signal's request to the reader.
  enum Wake: UInt8 {
    /// The terminal has another size.
    case resized = 1
    /// The process was stopped, and continues.
    case continued
    /// The line is abandoned.
    case interrupted
  }

  private static let descriptor = STDIN_FILENO
  /// The mode as it was, and the one for editing: in memory that a signal handler may read.
  private nonisolated(unsafe) static let modes = UnsafeMutablePointer<termios>.allocate(capacity: 2)
  /// The former actions of signals, by their numbers.
  private nonisolated(unsafe) static let earlier = UnsafeMutablePointer<sigaction>.allocate(
    capacity: 65
  )
  private static let isRaw = Atomic(false)
  private static let isAsked = Atomic(false)
  /// Both ends of a pipe into which handlers write: reading waits for it and for the terminal at once.
  private static let pipe: (read: CInt, write: CInt) = {
    var ends: [CInt] = [-1, -1]
    guard Foundation.pipe(&ends) == 0 else { return (-1, -1) }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    return (ends[0], ends[1])
  }()

  /// Whether Ctrl-C was pressed since this was last cleared.
  static var isInterrupted: Bool { isAsked.load(ordering: .relaxed) }
  static func clearInterruption() { isAsked.store(false, ordering: .relaxed) }

  /// The descriptor on which there is something to read when a signal came.
  static var wakeDescriptor: CInt { pipe.read }

  /// The requests of signals since the last call.
  static func takeWakes() -> Set<Wake> {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(pipe.read, &bytes, bytes.count)
    return Set(bytes.prefix(max(count, 0)).compactMap(Wake.init))
  }

  /// Changes to the mode for editing.
  ///
  /// - Returns: Whether there is a terminal that does.
  static func enter() -> Bool {
    _ = handlers
    guard tcgetattr(descriptor, modes) == 0 else { return false }
    modes[1] = modes[0]
    cfmakeraw(modes + 1)
    // Lines that others write still begin at the left.
    modes[1].c_oflag |= tcflag_t(OPOST | ONLCR)
    guardEndings()
    isRaw.store(true, ordering: .sequentiallyConsistent)
    // Typed-ahead bytes are kept, and there is no wait for output: Ctrl-S may hold it back.
    guard tcsetattr(descriptor, TCSANOW, modes + 1) == 0 else {
      leave()
      return false
    }
    return true
  }

  /// Gives the terminal its own mode back.
  static func leave() {
    guard isRaw.load(ordering: .sequentiallyConsistent) else { return }
    restore()
    isRaw.store(false, ordering: .sequentiallyConsistent)
    unguardEndings()
  }

  private static func restore() {
    if isRaw.load(ordering: .sequentiallyConsistent) {
      _ = tcsetattr(descriptor, TCSANOW, modes)
    }
  }

  // MARK: Signals

  /// Installed once, for as long as the process lives.
  private static let handlers: Void = {
    _ = pipe
    modes.initialize(repeating: termios(), count: 2)
    earlier.initialize(repeating: sigaction(), count: 65)
    atexit { RawTerminal.leave() }
    handle(SIGWINCH) { _ in RawTerminal.wake(.resized) }
    handle(SIGINT) { _ in
      RawTerminal.isAsked.store(true, ordering: .relaxed)
      RawTerminal.wake(.interrupted)
    }
    handle(SIGCONT) { _ in RawTerminal.resume() }
    handle(SIGTSTP) { _ in
      RawTerminal.restore()
      // The signal itself, by default, does nothing to a process whose shell does not know it.
      kill(getpid(), SIGSTOP)
      RawTerminal.resume()
    }
  }()

  /// Signals that end the process, also by a crash, while the terminal is not in its own mode.
  private static let endings = [
    SIGHUP, SIGTERM, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE,
  ]

  /// Has the terminal restored before the process ends, for as long as it is raw.
  ///
  /// At other times signals have their former actions: for a crash in the middle of an answer, Swift prints its place.
  private static func guardEndings() {
    for number in endings {
      sigaction(number, nil, earlier + Int(number))
      handle(number) { number in
        RawTerminal.restore()
        // Once this returns, the signal comes again.
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  private static func unguardEndings() {
    for number in endings { sigaction(number, earlier + Int(number), nil) }
  }

  /// Installs a handler, unless the signal is ignored, as under `nohup`.
  private static func handle(_ number: CInt, _ body: @escaping @convention(c) (CInt) -> Void) {
    var current = sigaction()
    sigaction(number, nil, &current)
    #if canImport(Glibc)
    let isIgnored = unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1
    #elseif canImport(Darwin)
    let isIgnored = unsafeBitCast(current.__sigaction_u.__sa_handler, to: Int.self) == 1
    #else
    let isIgnored = false
    #endif
    if !isIgnored { signal(number, body) }
  }

  private static func wake(_ wake: Wake) {
    var byte = wake.rawValue
    // The interrupted code may look at its error number.
    let error = errno
    _ = write(pipe.write, &byte, 1)
    errno = error
  }

  private static func resume() {
    if isRaw.load(ordering: .sequentiallyConsistent) {
      _ = tcsetattr(descriptor, TCSANOW, modes + 1)
      wake(.continued)
    }
  }
}
