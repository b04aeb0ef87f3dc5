import ArgumentParser
import LogEngine
import Terminal

/// Counts rows.
struct CountCommand: InspectCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Counts the rows of each entity, or those of one that meet a condition.",
    discussion: """
      `logstore-inspect query --help` says what a condition is.

      EXAMPLES:
        logstore-inspect count trips.store
        logstore-inspect count trips.store Trip --where 'destination == "Oslo"'

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @Argument(help: "The entity; all, if none is named.", completion: .entity)
  var entity: String?
  @OptionGroup var condition: ConditionOptions
  @OptionGroup var output: OutputOptions

  @Option(help: ArgumentHelp("Show the store as of this commit.", valueName: "commit"))
  var at: UInt64?

  var path: String { store.path }

  func validate() throws {
    if condition.where != nil, entity == nil {
      throw ValidationError("--where is about one entity: name it behind the store.")
    }
  }

  func run(in console: Console) throws {
    try show(try InspectedStore(store, at: at, in: console), in: console)
  }

  /// Counts the rows of a store that is open.
  func show(_ store: InspectedStore, in console: Console) throws {
    var listing = Listing([
      .init(title: "entity", name: "entity"),
      .init(title: "rows", name: "rows", alignment: .right),
    ])
    for table in try store.tables(named: entity) {
      let query = try RowQuery(.init(condition: condition.where), of: table, in: store)
      var run = QueryRun(query, in: store)
      listing.append([.text(table.name), .count(try run.count())])
    }
    if output.format == .text {
      console.print(listing.table())
    } else {
      listing.printItems(to: console, output.format)
    }
    try store.finish()
  }
}
