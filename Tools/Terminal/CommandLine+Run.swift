public import ArgumentParser
import Foundation

extension ParsableCommand {
  /// Parses the process's arguments, runs the command and ends with one of ``ExitStatus``.
  ///
  /// The parser's own exit ends with 64 on a wrong command line and 1 on any error; ours keeps the
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
        if let name = suggestion(for: arguments) { Terminal.notice("Did you mean `\(name)`?") }
        return .usage
      }
      print(text)
      return .success
    }
  }

  /// The command that arguments perhaps meant to name, if they name none.
  public static func suggestion(for arguments: [String]) -> String? {
    guard let word = arguments.first(where: { !$0.hasPrefix("-") }) else { return nil }
    let grouped = configuration.groupedSubcommands.flatMap { $0.subcommands }
    var names: [String] = []
    for command in configuration.ungroupedSubcommands + grouped {
      names.append(command._commandName)
    }
    return names.contains(word) ? nil : NearestName.of(word, among: names)
  }
}
