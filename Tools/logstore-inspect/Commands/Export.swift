import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Writes the rows of an entity for other programs.
struct Export: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Writes the rows of an entity as csv or ndjson, with all there is of each value.",
    discussion: """
      ndjson, one object a line, unless --format says csv. Dates are in ISO 8601 and UTC, a reference is \
      Entity/key, bytes are in hexadecimal, lists and composite values are JSON. A list that its members refer to \
      is left empty: the members have it. `import` reads what this writes, but for other lists and values in files of \
      their own. --blobs copies values that are in \
      files of their own into a folder, and names the files in the rows. `logstore-inspect query --help` says what \
      a condition is.

      EXAMPLES:
        logstore-inspect export trips.store Trip --format csv > trips.csv
        logstore-inspect export trips.store Trip --where 'delay > 60' --columns name,delay
        logstore-inspect export trips.store Photo --blobs photos > photos.ndjson

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @Argument(help: "The entity.", completion: .entity)
  var entity: String
  @OptionGroup var condition: ConditionOptions
  @OptionGroup var output: OutputOptions

  @Option(
    help: ArgumentHelp("Columns with commas between them; all by default.", valueName: "list")
  )
  var columns: String?

  @Option(
    help: ArgumentHelp("Copy values in files of their own into this folder.", valueName: "folder"),
    completion: .directory
  )
  var blobs: String?

  @Option(help: ArgumentHelp("Show the store as of this commit.", valueName: "commit"))
  var at: UInt64?

  var path: String { store.path }

  func run(in console: Console) throws {
    let store = try InspectedStore(store, at: at, in: console)
    let table = try store.table(named: entity)
    let query = try RowQuery(
      .init(condition: condition.where, columns: columns),
      of: table,
      in: store
    )
    if let figure = query.outputs.first(where: { $0.item.function != nil }) {
      throw ToolError(
        "export writes rows, and no figures about them",
        expected: "columns",
        found: figure.name,
        advice: "logstore-inspect query shows figures"
      )
    }
    let exporter = try blobs.map { try BlobExporter(to: $0, on: console.fileSystem) }
    let names = query.outputs.map(\.name)
    let format: OutputFormat = output.format == .text ? .ndjson : output.format
    var items = ItemPrinter(console, format, fields: names)
    var run = QueryRun(query, in: store)
    if format == .csv, exporter == nil, !console.screen.isRedrawn {
      try console.writeRows(&run, of: query, in: store)
      return try store.finish()
    }
    try run.run(limit: .max) { key, cells in
      var members: [JSONValue.Member] = []
      for (output, cell) in zip(query.outputs, cells) {
        var value = cell.exported
        if let exporter, case .blob(let reference) = cell,
          let column = table.column(named: output.name)
        {
          let blob = StoredValue(
            reference: reference,
            owner: RowReference(table: table.number, key: key),
            column: column.number
          )
          if let error = try exporter.export(blob, of: store) {
            store.recordDamage(error, of: blob.owner)
            value = .null
          } else {
            value = .string(exporter.fileName(of: blob, in: store))
          }
        }
        members.append(.init(name: output.name, value: value))
      }
      items.print(.object(members))
    }
    items.end()
    try store.finish()
  }
}

extension Console {
  /// Writes all rows of a result as lines of CSV.
  fileprivate func writeRows(
    _ run: inout QueryRun,
    of query: RowQuery,
    in store: InspectedStore
  ) throws {
    let columns = query.outputs.map { $0.column ?? 0 }
    var writer = CSVRowWriter(tableName: store.name(ofTable:))
    // The lines written before the damage are part of the result.
    defer { write(writer.bytes) }
    try run.forEachRow { reader, key, row in
      writer.append(columns, of: reader, key, row)
      if writer.bytes.count >= 1 << 16 {
        write(writer.bytes)
        writer.removeAll()
      }
    }
  }
}
