import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Compares two stores, or two states of one.
struct Diff: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Compares the rows of two stores, or of two commits of one.",
    discussion: """
      A store may be followed by @ and a commit: its state then. Rows are compared by entity and key, columns \
      by name. Lines begin with − for what only the first has, + for what only the second has, ~ for what \
      differs, with the columns that do. Exit code 0 says that the comparison was made; with --exit-code it \
      is 4 if anything differs.

      EXAMPLES:
        logstore-inspect diff trips.store backup.store
        logstore-inspect diff trips.store@40 @77 --entity Trip
        logstore-inspect diff trips.store copy.store --brief --exit-code

      \(ExitStatus.help)
      """
  )

  @Argument(
    help: "A store, or a store@commit.",
    completion: .directory
  )
  var first: String

  @Argument(
    help: "Another, or @commit for another state of the first.",
    completion: .directory
  )
  var second: String

  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Option(
    help: ArgumentHelp("Only this entity.", valueName: "name"),
    completion: .entity
  )
  var entity: String?

  @Flag(help: "Only counts.")
  var brief = false

  @Flag(help: "End with exit code 4 if anything differs.")
  var exitCode = false

  var path: String { first }

  func run(in console: Console) throws {
    let from = try StoreState(first, on: console.fileSystem)
    let to = try StoreState(second, relativeTo: from, on: console.fileSystem)
    let stores = (
      try from.open(visible.visibility, console), try to.open(visible.visibility, console)
    )
    if let entity {
      // Misspelt in both is misspelt.
      if stores.1.catalogue.table(named: entity) == nil { _ = try stores.0.table(named: entity) }
    }
    var printer = DiffPrinter(stores, output.format, brief ? .counts : .rows, console)
    let names = Set(stores.0.tables.map(\.name)).union(stores.1.tables.map(\.name))
    for name in names.sorted() where entity == nil || entity == name {
      try RowComparison(name, stores).run { try printer.print($0) }
      printer.endEntity(name)
    }
    printer.end()
    try stores.0.finish()
    try stores.1.finish()
    if exitCode, printer.hasDifferences {
      throw ToolError("they differ", place: "\(first) and \(second)", status: .checkFailed)
    }
  }

  /// A store as of a commit, as an argument names it.
  struct StoreState {
    let path: String
    let sequence: UInt64?

    /// Reads `path`, `path@commit` or, after another, `@commit`.
    init(
      _ argument: String,
      relativeTo other: StoreState? = nil,
      on fileSystem: any FileSystem
    ) throws {
      let whole = StorePath.normalized(argument)
      guard let mark = whole.lastIndex(of: "@"), try fileSystem.list(whole) == nil,
        let number = UInt64(whole[whole.index(after: mark)...])
      else {
        (path, sequence) = (whole, nil)
        return
      }
      let before = String(whole[..<mark])
      path = before.isEmpty ? other?.path ?? before : StorePath.normalized(before)
      sequence = number
    }

    func open(
      _ visibility: InspectedStore.Visibility,
      _ console: Console
    ) throws(ToolError) -> InspectedStore {
      try InspectedStore(path, visibility, at: sequence, on: console.fileSystem)
    }
  }
}
