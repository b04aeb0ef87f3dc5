import Foundation
import Synchronization

/// A move in a process of its own, beside which a test goes on.
final class RunningMove: Sendable {
  private let process: Process
  private let input = Pipe()
  private let output = Pipe()
  private let notices = Pipe()
  private let noticed = Mutex("")
  private let allIsNoticed = DispatchSemaphore(value: 0)

  init(_ arguments: [String]) throws {
    process = Process()
    process.executableURL = MovePlace.inspector
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = notices
    try process.run()
    // By a thread of its own: a handler of what is readable may not be told of the end.
    Thread.detachNewThread { [self] in
      while true {
        let data = notices.fileHandleForReading.availableData
        if data.isEmpty { break }
        noticed.withLock { $0 += String(decoding: data, as: UTF8.self) }
      }
      allIsNoticed.signal()
    }
  }

  /// Whether everything is moved but for what is saved now, or the move has failed.
  var isReadyOrEnded: Bool {
    noticed.withLock { $0.contains("ready at") } || !process.isRunning
  }

  /// Waits for that.
  func waitUntilReady() { while !isReadyOrEnded { _ = sched_yield() } }

  /// Types a line.
  func tell() { input.fileHandleForWriting.write(Data("\n".utf8)) }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits for the end.
  func outcome() throws -> MovePlace.Outcome {
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    allIsNoticed.wait()
    let status = process.terminationStatus
    let text = String(decoding: data, as: UTF8.self)
    return .init(status: status, output: status == 0 ? text : text + noticed.withLock { $0 })
  }
}
