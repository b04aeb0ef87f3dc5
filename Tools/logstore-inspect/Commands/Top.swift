import ArgumentParser
import LogEngine
import Terminal

/// Shows the activity in a store, again and again.
struct Top: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows what is going on in a store: commits a second, rows, sizes, compactions.",
    discussion: """
      Follows a store that another process writes to, without being noticed by it: on a terminal a screen that \
      refreshes, in a pipe a line for each interval. Ends with Ctrl-C, or after --count.

      commits    saves, and what compaction and migrations commit
      rows       how many there are, and how many more or fewer in a second
      log        all that was ever appended to the log; what compaction wrote is not in it
      on disk    the store's folder, including preallocated segments
      live       what rows need; history and dead are as in `segments`, and dead is compaction's to reclaim

      How long a save takes is not in the files of a store: ask the process that saves, by \
      LogStore's metrics or `statistics()`.

      EXAMPLES:
        logstore-inspect top trips.store
        logstore-inspect top trips.store --interval 10 >> trips.log
        logstore-inspect top trips.store --count 2 --format ndjson | tail -1 | jq .commits_per_second

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Option(help: ArgumentHelp("How often to look.", valueName: "seconds")) var interval = 1.0

  @Option(
    help: ArgumentHelp(
      "How many times to look; the first has no speeds yet. Without it, until Ctrl-C.",
      valueName: "n"
    )
  )
  var count: Int?

  var path: String { store.path }

  func validate() throws {
    if !(interval > 0 && interval < 86_400) {
      throw ValidationError("--interval must be more than 0 seconds, and less than a day.")
    }
    if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
    if count == nil, output.format == .json {
      throw ValidationError(
        "Without --count there is no end, as an array of JSON has: use --format ndjson."
      )
    }
  }

  func run(in console: Console) throws {
    var store = try InspectedStore(store, visible.visibility, in: console)
    var printer = TopPrinter(path, output.format, console)
    var previous: StoreSample?
    var left = count ?? .max
    while true {
      let sample = try StoreSample(of: store, in: console)
      printer.print(sample, after: previous)
      previous = sample
      left -= 1
      if left == 0 || store.damage != nil || console.pause(.seconds(interval)) == .stop { break }
      do {
        _ = try store.refresh()
      } catch  where error.leavesBehind {
        store = try InspectedStore(self.store, visible.visibility, in: console)
      } catch {
        store.recordDamage(error)
        break
      }
    }
    printer.end()
    try store.finish()
  }
}
