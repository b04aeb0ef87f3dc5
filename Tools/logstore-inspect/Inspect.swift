import ArgumentParser
import Terminal

/// The inspector: shows what is in a store without the app that wrote it.
@main
struct Inspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logstore-inspect",
    abstract: "Shows what is in a store, without the app that wrote it.",
    discussion: """
      Everything is read only, also while another process writes to the store: what is shown is the \
      state of its last commit when the command began. Results go to standard output, notices and \
      errors to standard error.

      EXAMPLES:
        logstore-inspect summary trips.store
        logstore-inspect dump trips.store --entity Trip --limit 10
        logstore-inspect dump trips.store --format ndjson | jq .values.name

      \(ExitStatus.help)
      """,
    subcommands: [Summary.self, Dump.self]
  )

  static func main() { runToExit() }
}
