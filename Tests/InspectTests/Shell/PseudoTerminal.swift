#if canImport(Glibc)
import Foundation

/// A terminal of which a test is the screen and the keyboard, and a program that runs in it.
final class PseudoTerminal {
  private let master: CInt
  private let process: pid_t
  private(set) var output = ""
  private var hasEnded = false
  /// What the terminal was set to before the program began.
  let originalModes: Modes

  /// Which ways a terminal treats what is typed.
  struct Modes: Equatable {
    let input: tcflag_t
    let output: tcflag_t
    let local: tcflag_t
  }

  // The numbers of TIOCSPTLCK, TIOCGPTN and POSIX_SPAWN_SETSID: macros that Swift does not see.
  private static let (unlock, otherEnd) = (UInt(0x4004_5431), UInt(0x8004_5430))
  private static let setsid: Int16 = 0x80

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Starts a program whose terminal this is.
  init(_ program: String, _ arguments: [String], environment: [String: String], columns: UInt16)
    throws
  {
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (number, unlocked) = (CInt(0), CInt(0))
    guard master >= 0, ioctl(master, Self.unlock, &unlocked) == 0,
      ioctl(master, Self.otherEnd, &number) == 0
    else { throw Failure(description: "no terminal: \(errno)") }
    let path = "/dev/pts/\(number)"
    originalModes = try Self.modes(of: master)
    var attributes = posix_spawnattr_t()
    var actions = posix_spawn_file_actions_t()
    posix_spawnattr_init(&attributes)
    posix_spawn_file_actions_init(&actions)
    defer {
      posix_spawnattr_destroy(&attributes)
      posix_spawn_file_actions_destroy(&actions)
    }
    // The first terminal that the leader of a session opens is the one that Ctrl-C and its kin come from. Test
    // runners may have signals blocked or ignored.
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    sigdelset(&all, SIGKILL)
    sigdelset(&all, SIGSTOP)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes,
      Self.setsid | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
    )
    posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in words + variables { free(pointer) } }
    var process = pid_t()
    let error = posix_spawn(&process, program, &actions, &attributes, words, variables)
    guard error == 0 else { throw Failure(description: "\(program) does not start: \(error)") }
    self.process = process
    resize(columns: columns)
  }

  deinit {
    close(master)
    if !hasEnded {
      kill(process, SIGKILL)
      var status: CInt = 0
      waitpid(process, &status, 0)
    }
  }

  /// Changes the window's size, of which the program is told.
  func resize(columns: UInt16) {
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(master, bytes, bytes.count)
  }

  func signal(_ number: CInt) { kill(process, number) }

  /// Waits until the program has written something that was not there before.
  ///
  /// - Returns: What was written up to then, since the last call.
  @discardableResult
  func expect(_ text: String) throws -> String {
    while !output.contains(text) {
      guard try readMore() else {
        throw Failure(
          description: "ended without \(text.debugDescription): \(output.debugDescription)"
        )
      }
    }
    guard let range = output.range(of: text) else { return "" }
    let before = String(output[..<range.upperBound])
    output = String(output[range.upperBound...])
    return before
  }

  /// Waits for the end of the program.
  ///
  /// - Returns: Its exit code; that of a signal below zero.
  func waitForEnd() throws -> CInt {
    while try readMore() {}
    var status: CInt = 0
    waitpid(process, &status, 0)
    hasEnded = true
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : -signal
  }

  /// Waits until the program was stopped by a signal.
  func waitForStop() -> Bool {
    var status: CInt = 0
    waitpid(process, &status, WUNTRACED)
    return status & 0xFF == 0x7F
  }

  var modes: Modes { get throws { try Self.modes(of: master) } }

  private static func modes(of terminal: CInt) throws -> Modes {
    var modes = termios()
    guard tcgetattr(terminal, &modes) == 0 else { throw Failure(description: "modes: \(errno)") }
    return Modes(input: modes.c_iflag, output: modes.c_oflag, local: modes.c_lflag)
  }

  /// - Returns: Whether there may be more.
  private func readMore() throws -> Bool {
    // Ends a wait that would never end.
    var descriptor = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, 1_800_000) > 0 else {
      throw Failure(description: "nothing comes behind \(output.debugDescription)")
    }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(master, &bytes, bytes.count)
    // Without any process at its other end, reading a terminal is an error.
    guard count > 0 else { return false }
    output += String(decoding: bytes.prefix(count), as: UTF8.self)
    return true
  }
}
#endif
