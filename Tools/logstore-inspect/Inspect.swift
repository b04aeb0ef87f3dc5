import ArgumentParser
import LogEngine
import Terminal

/// The inspector: shows what is in a store without the app that wrote it.
@main
struct Inspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logstore-inspect",
    abstract: "Shows what is in a store, without the app that wrote it.",
    discussion: """
      Works beside a process that writes: what is shown is the state of the last commit when the command \
      began. Only compact and import change a store. Backup, salvage and move create one; report, blobs, export and the \
      shell can write files elsewhere. From a damaged store everything is shown that can still be read, and where \
      reading stops. Results go to standard output, notices and errors to standard error.

      EXAMPLES:
        logstore-inspect summary trips.store
        logstore-inspect query trips.store Trip --where 'delay > 60' --sort -delay --limit 10
        logstore-inspect shell trips.store
        logstore-inspect dump trips.store --entity Trip --limit 10
        logstore-inspect dump trips.store --format ndjson | jq .values.name
        logstore-inspect get trips.store Trip 17
        logstore-inspect history trips.store --last 5 --changes
        logstore-inspect verify trips.store
        logstore-inspect report trips.store --html trips.html

      \(ExitStatus.help)
      """,
    version: StorageEngine.version,
    groupedSubcommands: [
      CommandGroup(
        name: "Content",
        subcommands: [
          Summary.self, ShellCommand.self, Query.self, CountCommand.self, Dump.self, Get.self,
          SchemaCommand.self, Export.self, BlobsCommand.self,
        ]
      ),
      CommandGroup(name: "History", subcommands: [History.self, Tail.self, Top.self, Diff.self]),
      CommandGroup(
        name: "File",
        subcommands: [Segments.self, Frames.self, Verify.self, Report.self]
      ),
      CommandGroup(
        name: "Maintenance",
        subcommands: [
          Import.self, BackupCommand.self, MoveCommand.self, Compact.self, SalvageCommand.self,
        ]
      ),
    ]
  )

  static func main() { runToExit() }
}
