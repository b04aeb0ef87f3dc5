import ArgumentParser
import LogEngine
import Terminal

/// Lists transactions.
struct History: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists commits, oldest first: who made them, when, and what they changed.",
    discussion: """
      A line says how many rows of each entity a commit inserted (+), updated (~) and deleted (−); with \
      --changes each change follows, with the columns it wrote, before → after. Commits that were packed by \
      a compaction are no longer there to be listed.

      EXAMPLES:
        logstore-inspect history trips.store --last 20
        logstore-inspect history trips.store --commits 100-120 --changes
        logstore-inspect history trips.store --entity Trip --key 17 --changes
        logstore-inspect history trips.store --author importer --format ndjson

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Option(help: ArgumentHelp("Only these commits: 17, 10-20, 10-.", valueName: "range"))
  var commits: NumberRange?

  @Option(help: ArgumentHelp("Only the last n of them.", valueName: "n"))
  var last: Int?

  @Option(
    help: ArgumentHelp("Only changes of this entity.", valueName: "name"),
    completion: .entity
  )
  var entity: String?

  @Option(help: ArgumentHelp("Only changes of rows with these keys.", valueName: "range"))
  var key: NumberRange?

  @Option(help: ArgumentHelp("Only commits of this author.", valueName: "name"))
  var author: String?

  @Flag(name: [.short, .long], help: "Also each change, with the columns it wrote.")
  var changes = false

  var path: String { store.path }

  func validate() throws {
    if let last, last < 1 { throw ValidationError("--last must be at least 1.") }
  }

  func run(in console: Console) throws {
    try show(try InspectedStore(store, visible.visibility, in: console), in: console)
  }

  /// Lists the commits of a store that is open.
  func show(_ store: InspectedStore, in console: Console) throws {
    let filter = CommitPrinter.Filter(
      table: try entity.map { try store.table(named: $0).number },
      keys: key,
      author: author
    )
    var printer = CommitPrinter(
      store,
      output.format,
      changes ? .changes : .counts,
      filter,
      console
    )
    let packed = try store.print(commits, last: last, with: &printer)
    printer.end()
    if let packed {
      console.notice("commits up to \(packed.rawValue.grouped) were packed and are not listed")
    }
    try store.finish()
  }
}

extension InspectedStore {
  /// Prints the commits of a range, or the last of them.
  ///
  /// - Returns: The last commit that was packed and would have been printed.
  func print(
    _ commits: NumberRange?,
    last: Int?,
    with printer: inout CommitPrinter
  ) throws -> CommitSequence? {
    var range = commits
    if let last {
      let end = min(range?.bounds.upperBound ?? .max, view.sequence.rawValue)
      let count = UInt64(last)
      let start = max(range?.bounds.lowerBound ?? 1, end >= count ? end - count + 1 : 1)
      guard start <= end else { return nil }
      range = NumberRange(start...end)
    }
    return try forEachCommit(range) { commit in
      try printer.print(commit)
      return .proceed
    }
  }
}
