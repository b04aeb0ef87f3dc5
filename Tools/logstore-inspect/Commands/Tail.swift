import ArgumentParser
import LogEngine
import Terminal

/// Shows the last commits, and those that come.
struct Tail: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the last commits with their changes, and with -f those that come.",
    discussion: """
      Follows a store that another process writes to, without being noticed by it. Ends with Ctrl-C.

      EXAMPLES:
        logstore-inspect tail trips.store -n 3
        logstore-inspect tail trips.store -f
        logstore-inspect tail trips.store -f --entity Trip --format ndjson | jq .

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Option(
    name: [.customShort("n"), .customLong("commits")],
    help: ArgumentHelp("How many commits to begin with.", valueName: "n")
  )
  var count = 10

  @Flag(name: [.short, .long], help: "Go on with commits as they are made.")
  var follow = false

  @Option(help: ArgumentHelp("How often to look for new commits.", valueName: "seconds"))
  var interval = 0.2

  @Option(
    help: ArgumentHelp("Only changes of this entity.", valueName: "name"),
    completion: .entity
  )
  var entity: String?

  @Option(help: ArgumentHelp("Only commits of this author.", valueName: "name"))
  var author: String?

  @Flag(help: "A line of counts for each commit, without its changes.")
  var counts = false

  var path: String { store.path }

  func validate() throws {
    if count < 0 { throw ValidationError("-n must not be negative.") }
    if !(interval > 0 && interval < 86_400) {
      throw ValidationError("--interval must be more than 0 seconds, and less than a day.")
    }
    if follow, output.format == .json {
      throw ValidationError("--follow has no end, as an array of JSON has: use --format ndjson.")
    }
  }

  func run(in console: Console) throws {
    var store = try InspectedStore(store, visible.visibility, in: console)
    let filter = CommitPrinter.Filter(
      table: try entity.map { try store.table(named: $0).number },
      author: author
    )
    var printer = CommitPrinter(
      store,
      output.format,
      counts ? .counts : .changes,
      filter,
      console
    )
    if count > 0 { _ = try store.print(nil, last: count, with: &printer) }
    var last = store.view.sequence
    while follow, store.damage == nil {
      console.flush()
      if console.pause(.seconds(interval)) == .stop { break }
      // Files without a name can be read, and get no more commits.
      let folder = try console.fileSystem.resolvingLink(store.path)
      if try console.fileSystem.list(folder) == nil {
        throw StorageError.missingStore(path: store.path)
      }
      do {
        guard try store.refresh() else { continue }
      } catch  where error.leavesBehind {
        store = try InspectedStore(self.store, visible.visibility, in: console)
        printer.move(to: store)
      } catch {
        store.recordDamage(error, after: last)
        break
      }
      try showCommits(after: &last, of: store, with: &printer, console)
    }
    printer.end()
    try store.finish()
  }

  private func showCommits(
    after last: inout CommitSequence,
    of store: InspectedStore,
    with printer: inout CommitPrinter,
    _ console: Console
  ) throws {
    guard last < store.view.sequence else { return }
    let range = NumberRange((last.rawValue + 1)...store.view.sequence.rawValue)
    let packed = try store.forEachCommit(range) { commit in
      try printer.print(commit)
      return .proceed
    }
    if let packed {
      console.notice(
        "commits \(range.bounds.lowerBound) to \(packed.rawValue) were packed before they were shown"
      )
    }
    last = store.view.sequence
  }
}
