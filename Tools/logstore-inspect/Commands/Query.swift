import ArgumentParser
import LogEngine
import Terminal

/// Asks a store.
struct Query: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the rows of an entity that meet a condition, sorted, grouped and counted.",
    discussion: """
      A condition compares columns with values: == != < <= > >=, in [1, 2], in 1...5, contains, startsWith \
      and endsWith (contains[c] ignores case), is nil, with &&, || and !, or and, or, not. Quote texts; \
      dates are texts in ISO 8601 (UTC), references texts as they are shown ("Trip/17"), key is \
      a row's key (_key, where an attribute has that name); put names that are words of the language in backticks.
      --columns takes columns, and figures about groups: count, count(c), distinct(c), sum(c), avg(c), \
      min(c), max(c). Sorting puts nil first; -name sorts from the last to the first.

      EXAMPLES:
        logstore-inspect query trips.store Trip --where 'destination == "Oslo" && delay > 60'
        logstore-inspect query trips.store Trip --columns name,delay --sort -delay --limit 10
        logstore-inspect query trips.store Trip --group-by carrier --columns 'carrier, count, avg(delay)'
        logstore-inspect query trips.store Trip --where 'departure >= "2013-02-01"' --format csv

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @Argument(help: "The entity.", completion: .entity)
  var entity: String
  @OptionGroup var condition: ConditionOptions
  @OptionGroup var output: OutputOptions

  @Option(
    help: ArgumentHelp(
      "What is shown: columns and figures with commas between them; all columns by default.",
      valueName: "list"
    )
  )
  var columns: String?

  // A value may begin with a minus.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Sort by these, the most important one first; -name sorts downwards.",
      valueName: "list"
    )
  )
  var sort: String?

  @Option(
    help: ArgumentHelp("Make a row of all rows that share these columns.", valueName: "list")
  )
  var groupBy: String?

  @Option(help: ArgumentHelp("Print at most n rows.", valueName: "n"))
  var limit: Int?

  @Option(help: ArgumentHelp("Skip the first n rows.", valueName: "n"))
  var offset = 0

  @Option(help: ArgumentHelp("Show the store as of this commit.", valueName: "commit"))
  var at: UInt64?

  @Flag(help: "Say at the end what was read, and how long it took.")
  var explain = false

  var path: String { store.path }

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative.") }
    if offset < 0 { throw ValidationError("--offset must not be negative.") }
  }

  func run(in console: Console) throws {
    let start = ContinuousClock.now
    let store = try InspectedStore(store, at: at, in: console)
    let table = try store.table(named: entity)
    let query = try RowQuery(
      .init(
        condition: condition.where,
        columns: columns,
        groups: groupBy,
        sort: sort,
        limit: limit,
        offset: offset
      ),
      of: table,
      in: store
    )
    let opened = ContinuousClock.now
    var run = QueryRun(query, in: store)
    var printer = ResultPrinter(query, console, output.format)
    try run.run { key, cells in printer.print(cells) }
    printer.end()
    if explain {
      console.notice(
        run.explanation(
          of: query,
          opening: start.duration(to: opened),
          answering: opened.duration(to: .now)
        )
      )
    }
    try store.finish()
  }
}

/// The condition on the rows of an entity.
struct ConditionOptions: ParsableArguments {
  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Only rows that meet this condition.", valueName: "condition")
  )
  var `where`: String?
}

extension QueryRun {
  /// The account of the run, in lines.
  func explanation(
    of query: RowQuery,
    opening: Duration,
    answering: Duration
  ) -> String {
    var lines: [String] = []
    if wasCounted {
      lines.append("count of \(query.table.name): known without a row")
    } else {
      lines.append("scan of \(query.table.name): each row")
      // Only the classes of the app's models tell the columns of an index, and the reading of its entries.
      lines.append("  indexes  none: those of an app are known to its models only")
    }
    lines.append("  read     \(readRowCount.counted("row")), \(readByteCount.byteCount)")
    lines.append("  matched  \(matchCount.counted("row"))")
    if let groupCount { lines.append("  groups   \(groupCount.grouped)") }
    if !query.sort.isEmpty, groupCount == nil {
      lines.append(
        "  sorted   by \(query.sort.map { query.reader.name(of: $0.number) }.joined(separator: ", "))"
      )
    }
    lines.append("  time     open \(opening.milliseconds), answer \(answering.milliseconds)")
    return lines.joined(separator: "\n")
  }
}

extension Duration {
  /// In milliseconds, with one digit behind the point.
  fileprivate var milliseconds: String {
    let tenths = Int((self / .microseconds(100)).rounded())
    return "\(tenths / 10).\(tenths % 10) ms"
  }
}
