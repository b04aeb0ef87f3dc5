import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Prints the rows of a store.
struct Dump: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the rows of a store.",
    discussion: """
      Dates are in UTC, a reference to another row is Entity/key. Bytes are shown as their count and \
      the first sixteen, values in files of their own as the file's number and size. With \
      --format json or ndjson, a row is {"entity", "key", "values"}; csv takes one entity at a time.

      EXAMPLES:
        logstore-inspect dump trips.store --entity Airline
        logstore-inspect dump trips.store --entity Trip --key 100-200 --format csv > trips.csv
        logstore-inspect dump trips.store --commits 40- --format ndjson | jq .values.name
        logstore-inspect dump trips.store --at 17

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Option(
    help: ArgumentHelp("Only the rows of this entity.", valueName: "name"),
    completion: .entity
  )
  var entity: String?

  @Option(help: ArgumentHelp("Only rows with these keys: 17, 10-20, 10-.", valueName: "range"))
  var key: NumberRange?

  @Option(
    help: ArgumentHelp("Only rows that these commits changed: 17, 10-20, 10-.", valueName: "range")
  )
  var commits: NumberRange?

  @Option(help: ArgumentHelp("Show the store as of this commit.", valueName: "commit"))
  var at: UInt64?

  @Option(help: ArgumentHelp("Print at most n rows of each entity.", valueName: "n"))
  var limit: Int?

  @Flag(help: "Show all of each value of bytes.")
  var fullBytes = false

  var path: String { store.path }

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative.") }
  }

  func run(in console: Console) throws {
    let store = try InspectedStore(store, visible.visibility, at: at, in: console)
    let tables = try store.tables(named: entity)
    let touched = try commits.map { try store.rows(changedBy: $0) }
    var printer = try RowPrinter(output.format, of: tables, in: store, console)
    var decoder = RowDecoder(of: store, bytes: fullBytes ? .all : .beginning)
    for table in tables {
      var left = limit ?? .max
      let keys = key?.bounds ?? 0...RowReference.maximumKey
      try store.forEachRow(of: table, keys: keys) { key, layout, row in
        guard left > 0 else { return .stop }
        let reference = RowReference(table: table.number, key: key)
        if let touched, !touched.contains(reference) { return .proceed }
        left -= 1
        let cells = decoder.cells(of: row, layout: layout, table: table.number, as: .ofEntity)
        guard let cells else { throw store.unknownLayout(layout, table) }
        printer.print(table.name, key, cells)
        return .proceed
      }
    }
    printer.end()
    try store.finish()
  }
}

extension InspectedStore {
  /// The rows that some commits inserted, changed or deleted.
  fileprivate func rows(changedBy commits: NumberRange) throws -> Set<RowReference> {
    var rows: Set<RowReference> = []
    try forEachCommit(commits) { commit in
      try commit.forEachChange { change in
        rows.insert(change.reference)
        return .proceed
      }
      return .proceed
    }
    return rows
  }
}
