import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Prints the rows of a store.
struct Dump: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the rows of a store.",
    discussion: """
      Dates are in UTC, a reference to another row is Entity/key, of bytes the number and the first \
      sixteen are shown. With --format json or ndjson, a row is {"entity", "key", "values"}.

      EXAMPLES:
        logstore-inspect dump trips.store --entity Airline
        logstore-inspect dump trips.store --format ndjson > trips.ndjson

      \(ExitStatus.help)
      """
  )

  @Argument(help: "The folder of the store.")
  var path: String

  @Option(help: "How rows are printed: text, json (one array) or ndjson (one row a line).")
  var format: DumpFormat = .text

  @Option(help: ArgumentHelp("Only the rows of this entity.", valueName: "name"))
  var entity: String?

  @Option(help: ArgumentHelp("At most so many rows of each entity.", valueName: "n"))
  var limit: Int?

  @Flag(help: "Also tables and columns the store keeps for itself, and columns no longer in use.")
  var all = false

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must not be negative.") }
  }

  func run() throws {
    var output = OutputBuffer()
    try write(to: &output)
  }

  /// Prints the rows, table by table, in the order of their keys.
  func write(to output: inout OutputBuffer) throws(ToolError) {
    let store = try InspectedStore(path, all ? .all : .declared)
    let tables = try store.tables(named: entity)
    var printer = RowPrinter(format)
    printer.begin(&output)
    for table in tables {
      var decoder = RowDecoder(table, in: store)
      var left = limit ?? .max
      var unknown: LayoutNumber?
      do {
        try store.engine.scan(table.number) { key, layout, row in
          guard left > 0 else { return .stop }
          left -= 1
          guard let cells = decoder.cells(of: row, layout: layout) else {
            unknown = layout
            return .stop
          }
          printer.print(table.name, key, cells, &output)
          return .proceed
        }
      } catch let error as StorageError {
        // What was read before the damage is worth having.
        output.flush()
        throw ToolError(error, at: path)
      } catch {
        throw ToolError("the rows of \(table.name) cannot be read: \(error)", place: path)
      }
      if let unknown { throw Self.unknownLayout(unknown, table, path) }
    }
    printer.end(&output)
    output.flush()
  }

  private static func unknownLayout(
    _ layout: LayoutNumber,
    _ table: TableDefinition,
    _ path: String
  ) -> ToolError {
    ToolError(
      "a row of \(table.name) is in a layout the catalogue does not know",
      place: path,
      expected: "1 to \(table.layouts.count)",
      found: "\(layout.rawValue)",
      status: .damaged
    )
  }
}

extension DumpFormat: ExpressibleByArgument {}
