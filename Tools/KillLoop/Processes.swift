import Foundation

/// A writer in a process of its own.
enum WriterProcess {
  struct Report {
    /// The numbers it reported: first the newest commit it found, then those it acknowledged, as far as it is alone.
    var numbers: [Int] = []
    /// The newest commit it found when it opened the store.
    var found: Int? { numbers.first }
    /// The newest commit it acknowledged.
    var lastAcknowledged: Int? { numbers.last }
    /// Its complaint, if it did not live to be killed.
    var problem: String?
  }

  /// Starts a writer and kills it after some time.
  static func run(
    _ command: String = "writer",
    store: String,
    killedAfter lifetime: Duration
  ) throws -> Report {
    let (process, output, errors) = Process.ofThisProgram([command, store])
    try process.run()
    let words = output.fileHandleForReading.read(until: ContinuousClock.now + lifetime) {
      // Its end of the pipe is still open, so it lives, and the number is its own.
      kill(process.processIdentifier, SIGKILL)
    }
    let complaint = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let numbers = words.count / 8 * 8
    let sequences = stride(from: 0, to: numbers, by: 8).map { offset in
      words[offset..<(offset + 8)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    let wasKilled =
      process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
    return Report(
      numbers: sequences,
      problem: wasKilled
        ? nil
        : "ended with \(process.terminationStatus): \(String(decoding: complaint, as: UTF8.self))"
    )
  }
}

/// A follower in a process of its own, which ends when its input does.
struct FollowerProcess {
  private let process: Process
  private let input = Pipe()
  private let output: Pipe

  struct Outcome {
    var isClean: Bool
    var summary: String
    /// The newest commit it saw.
    var newest: Int?
  }

  init(store: String, _ arguments: [String] = []) throws {
    (process, output, _) = Process.ofThisProgram(["follower", store] + arguments)
    process.standardInput = input
    process.standardError = output
    try process.run()
  }

  func stop() throws -> Outcome {
    try input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let summary = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return Outcome(
      isClean: process.terminationReason == .exit && process.terminationStatus == 0,
      summary: summary,
      newest: summary.split(separator: " ").last.flatMap { Int($0) }
    )
  }
}

extension Process {
  fileprivate static func ofThisProgram(
    _ arguments: [String]
  ) -> (process: Process, output: Pipe, errors: Pipe) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    return (process, output, errors)
  }
}

extension FileHandle {
  /// Reads to the end, and calls a closure if the end has not come by a deadline.
  fileprivate func read(until deadline: ContinuousClock.Instant, _ onDeadline: () -> Void) -> Data {
    var data = Data()
    var hasPassed = false
    while true {
      let left = (deadline - ContinuousClock.now) / .milliseconds(1)
      var request = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&request, 1, hasPassed ? -1 : Int32(max(0, left.rounded(.up))))
      if ready == 0 {
        hasPassed = true
        onDeadline()
      } else if ready > 0 {
        let part = availableData
        if part.isEmpty { return data }
        data += part
        if !hasPassed, ContinuousClock.now >= deadline {
          hasPassed = true
          onDeadline()
        }
      }
    }
  }
}
