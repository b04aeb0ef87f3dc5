import Foundation

/// Says which seeds were being worked on when a trap ended the process.
enum Beacon {
  private static let slotCount = 64
  private static let slotByteCount = 64
  /// One line a worker.
  ///
  /// Plain memory, since a signal handler may not allocate, lock or call Swift's runtime for
  /// anything else.
  nonisolated(unsafe) private static let lines: UnsafeMutablePointer<UInt8> = {
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: slotCount * slotByteCount)
    memory.initialize(repeating: UInt8(ascii: " "), count: slotCount * slotByteCount)
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
      signal(number) { number in
        _ = write(STDERR_FILENO, Beacon.lines, Beacon.used)
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    return memory
  }()
  nonisolated(unsafe) private static var used = 0

  /// Notes what a worker does from now on.
  static func light<A: RawRepresentable>(_ worker: Int, _ area: A, _ seed: UInt64)
  where A.RawValue == String {
    guard worker < slotCount else { return }
    let text = "working on --only \(area.rawValue) --seed \(seed)"
    let line = text.padding(toLength: slotByteCount - 1, withPad: " ", startingAt: 0) + "\n"
    for (index, byte) in line.utf8.enumerated() { lines[worker * slotByteCount + index] = byte }
    used = max(used, (worker + 1) * slotByteCount)
  }
}
