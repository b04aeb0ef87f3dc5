import ArgumentParser
import Foundation
import LogEngine
import Synchronization
import Terminal
import Testing

@testable import logstore_inspect

/// A command as a test runs it: on files in memory, with output that is kept.
struct Session {
  var disk: any FileSystem
  var width: Int?
  var hasColour = false
  var height: Int?
  var isRedrawn = false
  var pause: (Duration) -> ScanControl = { _ in .stop }
  /// What a command reads from standard input.
  var lines: (any LineSource)?

  /// What a command left.
  struct Result {
    var output: String
    var notices: String
    var error: ToolError?

    var status: ToolStatus { error?.status ?? .success }

    /// Everything, as a terminal would show it, and how it ended.
    var transcript: String {
      var text = output
      if !notices.isEmpty { text += "--- notices\n" + notices }
      if let error { text += "--- error, exit code \(error.status.rawValue)\n\(error)\n" }
      return text
    }
  }

  func run(_ arguments: String...) throws -> Result { try run(arguments) }

  func run(_ arguments: [String]) throws -> Result {
    let command = try Inspect.parseAsRoot(arguments)
    let inspect = try #require(command as? any InspectCommand, "\(command) is another command")
    let output = CapturedOutput()
    let notices = Mutex("")
    let console = Console(
      fileSystem: disk,
      screen: .init(width: width, height: height, hasColour: hasColour, isRedrawn: isRedrawn),
      output: output.makeBuffer(),
      writeNotice: { notice in notices.withLock { $0 += notice + "\n" } },
      pause: pause,
      lines: lines
    )
    var result = Result(output: "", notices: "")
    do {
      try inspect.perform(in: console)
    } catch {
      result.error = error
    }
    result.output = output.text
    result.notices = notices.withLock { $0 }
    return result
  }
}
