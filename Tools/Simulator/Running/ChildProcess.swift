import Foundation
import Synchronization

/// This program, started once more.
struct ChildProcess {
  enum Ending: Equatable, CustomStringConvertible {
    case exited(Int32)
    case crashed(Int32)
    case hung

    var description: String {
      switch self {
      case .exited(let code): "the process exited with \(code)"
      case .crashed(let signal): "the process ended by signal \(signal)"
      case .hung: "the process wrote nothing for \(ChildProcess.patience) seconds"
      }
    }
  }

  /// The longest time for which a process may write nothing, in seconds.
  static let patience = 60

  var arguments: [String]

  /// Runs the process to its end.
  ///
  /// - Parameter line: Called for each line it writes.
  /// - Returns: The ending of the process.
  func run(_ line: (Data) -> Void) -> Ending {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    var environment = ProcessInfo.processInfo.environment
    // A backtrace takes a second, and is not read.
    environment["SWIFT_BACKTRACE"] = "enable=no"
    // Freed memory shall not look as it did.
    environment["MALLOC_PERTURB_"] = "165"
    // The order in which a dictionary releases models is part of what a seed decides.
    environment["SWIFT_DETERMINISTIC_HASHING"] = "1"
    process.environment = environment
    guard (try? process.run()) != nil else { return .exited(-1) }
    var rest = Data()
    var hung = false
    let descriptor = pipe.fileHandleForReading.fileDescriptor
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if Glibc.poll(&poll, 1, Int32(Self.patience * 1000)) == 0 {
        hung = true
        kill(process.processIdentifier, SIGKILL)
        break
      }
      let count = read(descriptor, &buffer, buffer.count)
      if count <= 0 { break }
      rest.append(contentsOf: buffer[..<count])
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        line(rest[rest.startIndex..<end])
        rest = Data(rest[(end + 1)...])
      }
    }
    process.waitUntilExit()
    if hung { return .hung }
    return process.terminationReason == .exit
      ? .exited(process.terminationStatus) : .crashed(process.terminationStatus)
  }
}
