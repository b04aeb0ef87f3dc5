public import ArgumentParser
import Foundation

extension ParsableCommand {
  /// Parses the process's arguments, runs the command and ends with one of ``ExitStatus``.
  ///
  /// The parser's own road ends with 64 on a wrong command line and 1 on any error; ours keeps the
  /// numbers promised in the help.
  public static func runToExit() -> Never {
    Foundation.exit(run(CommandLine.arguments.dropFirst().map { $0 }).rawValue)
  }

  /// Parses arguments and runs the command, and says how it ended.
  public static func run(_ arguments: [String]) -> ExitStatus {
    do {
      var command = try parseAsRoot(arguments)
      try command.run()
      return .success
    } catch let error as ToolError {
      Terminal.report(error)
      return error.status
    } catch {
      let text = fullMessage(for: error)
      guard exitCode(for: error) == .success else {
        Terminal.notice(text.isEmpty ? "error: \(error)" : text)
        return .usage
      }
      print(text)
      return .success
    }
  }
}
