import ArgumentParser
import Foundation
import LogEngine
import Terminal

/// Answers questions one after the other.
struct ShellCommand: InspectCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell",
    abstract: "Answers questions that are typed one after the other, as sqlite3 does.",
    discussion: """
      Reads questions and commands: with a prompt, a history and completion (tab) at a terminal, a line each from \
      a pipe or a file. A question is an entity and what is asked of it, in the language of `logstore-inspect query`: \
      where, columns, group by, sort, limit, offset, at. Commands begin with a dot: .help lists them. Each answer \
      is about the newest commit, also of a store that another process writes to; the shell writes to no store.

      Without a terminal errors name their line; later lines still run, and the exit code reports the failure. The history is in $XDG_STATE_HOME/logstore or ~/.local/state/logstore.

      EXAMPLES:
        logstore-inspect shell trips.store
        logstore-inspect shell trips.store --command 'Trip where delay > 60 sort -delay limit 3'
        logstore-inspect shell trips.store -c '.mode csv' -c 'Trip columns name, delay' > trips.csv
        logstore-inspect shell trips.store < questions.txt

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  @Option(
    name: [.customShort("c"), .long],
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Do this and end, instead of reading lines; may be given more than once.",
      valueName: "line"
    )
  )
  var command: [String] = []

  var path: String { store.path }

  func run(in console: Console) throws {
    let lines: any LineSource
    if !command.isEmpty {
      lines = TextLines(command)
    } else if let given = console.lines {
      lines = given
    } else if LineReader.isPossible {
      lines = LineReader(
        history: HistoryFile(
          of: "logstore",
          environment: ProcessInfo.processInfo.environment
        )
      )
    } else {
      lines = StandardInputLines()
    }
    let shell = try Shell(store, lines, in: console)
    shell.settings.mode = output.format.mode
    try shell.run(counting: command.isEmpty ? "line" : "command")
  }
}

extension OutputFormat {
  /// The mode of the shell that prints so.
  fileprivate var mode: ShellSettings.Mode {
    switch self {
    case .text: .table
    case .json: .json
    case .ndjson: .ndjson
    case .csv: .csv
    }
  }
}
