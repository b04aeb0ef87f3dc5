import Foundation

/// This program once more, as a process of its own with another role.
final class OtherProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let words: String

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The program beside that of whoever asks: the tests are in the same folder.
  private static let program = URL(filePath: CommandLine.arguments[0])
    .deletingLastPathComponent().appending(path: "PostgresFaults")

  /// Starts the process and waits until it says that it is ready.
  init(_ words: String...) throws {
    self.words = words.joined(separator: " ")
    process.executableURL = OtherProcess.program
    process.arguments = words
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    guard try readLine() == "ready" else {
      throw Failure(description: "\(words.joined(separator: " ")): not ready")
    }
  }

  /// Tells it something.
  func tell(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
  }

  /// Waits for a line that it prints; `nil` once it has ended.
  func readLine() throws -> String? {
    var line: [UInt8] = []
    while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  /// Waits for the lines that it prints, up to its end.
  ///
  /// - Throws: `Failure`, if it did not end well.
  func finish() throws -> [String] {
    try? input.fileHandleForWriting.close()
    var lines: [String] = []
    while let line = try readLine() { lines.append(line) }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(words): ended with \(process.terminationStatus)")
    }
    return lines
  }

  deinit { if process.isRunning { process.terminate() } }

  // MARK: The other side

  /// Says that the process is ready, and waits for the word to begin.
  static func waitForStart() -> String? {
    say("ready")
    return Swift.readLine()
  }

  static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}
