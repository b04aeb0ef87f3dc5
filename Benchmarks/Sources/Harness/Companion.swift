import Foundation

/// This program again, in a process of its own: for figures that only a whole process has, such as its peak of memory, a
/// limit it is held to, or several writers of one store.
public final class Companion {
  private static let mark = "--child"

  /// The task of this process, if another process of this program started it.
  public static var task: [String]? {
    let arguments = CommandLine.arguments
    return arguments.dropFirst().first == mark ? Array(arguments.dropFirst(2)) : nil
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  /// The bytes that were read and belong to no line yet.
  private var rest = Data()

  public var processIdentifier: Int32 { process.processIdentifier }

  /// Starts the process.
  ///
  /// - Parameter task: The task that it finds in ``task``.
  /// - Throws: What the system throws.
  public init(_ task: [String]) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [Self.mark] + task
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Waits for the next line that the process prints.
  ///
  /// - Returns: The line without its end; `nil` once the process has closed its output.
  public func readLine() -> String? {
    while true {
      if let end = rest.firstIndex(of: 0x0A) {
        defer { rest = rest[rest.index(after: end)...] }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      rest.append(more)
    }
  }

  /// Writes a line for the process to read.
  ///
  /// - Parameter line: The line without its end.
  /// - Throws: What the system throws, such as when the process has ended.
  public func write(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Reads the rest of the output and waits for the end of the process.
  ///
  /// - Returns: The lines, and the ending of the process.
  public func finish() -> (lines: [String], ending: Ending) {
    try? input.fileHandleForWriting.close()
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    process.waitUntilExit()
    let status = process.terminationStatus
    guard process.terminationReason == .exit else { return (lines, .killed(signal: status)) }
    return (lines, status == 0 ? .done : .failed(status: status))
  }

  /// Ends the process as a crash would.
  public func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The ending of a process.
  public enum Ending: Equatable, Sendable {
    case done
    case failed(status: Int32)
    /// For example by the kernel, when its memory was over the limit.
    case killed(signal: Int32)
  }

  /// Prints a line for the process that started this one, at once.
  public static func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
