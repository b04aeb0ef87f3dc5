import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Writes rows of a file into a store.
struct Import: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Adds rows from a csv or ndjson file to an entity: this command writes to the store.",
    discussion: """
      Reads what `export` writes, but for values in files of their own: leave out a column with such. A header, or the names \
      of members, say which column a value is for. Dates are ISO 8601, references Entity/key of rows that exist and are of the \
      column's entity, bytes hexadecimal, composite values JSON; a key is not taken \
      over, rows get new ones. A reference of a one-to-one relationship sets the other end, too, which must be nil and be named \
      once in the file. Lists of references must be empty or left out. Derived attributes may be left out: the app \
      computes them when it opens the store next, and but for dates takes over nothing that the file says of them. \
      An empty field is nil; "" is an empty text. The whole file is read and checked before \
      the first row is written, so that a file with an error changes nothing; --dry-run does no more than that. \
      With --commit-every an import that fails later, on a full disk say, says how many rows are in, and where \
      the rest begins. What only the app knows is not checked: values that must be unique, rules of its classes. No other process \
      may have the store open for writing.

      EXAMPLES:
        logstore-inspect import trips.store Trip trips.csv --dry-run
        logstore-inspect import trips.store Trip trips.ndjson --commit-every 10000
        zcat trips.csv.gz | logstore-inspect import trips.store Trip /dev/stdin

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @Argument(help: "The entity.", completion: .entity)
  var entity: String
  @Argument(
    help: """
      The file, or a pipe such as /dev/stdin: csv or ndjson, as its name ends. Any other is ndjson if it begins with {.
      """,
    completion: .file()
  )
  var file: String
  @OptionGroup var output: OutputOptions

  @Flag(help: "Read and check the file, and write nothing.")
  var dryRun = false

  @Option(
    help: ArgumentHelp("Commit after each n rows; by default all are one commit.", valueName: "n")
  )
  var commitEvery: Int?

  @Option(help: ArgumentHelp("The author to record for the commits.", valueName: "name"))
  var author: String?

  var path: String { store.path }

  func validate() throws {
    if let commitEvery, commitEvery < 1 {
      throw ValidationError("--commit-every must be 1 or more.")
    }
  }

  func run(in console: Console) throws {
    let bytes = try UserFile(path: file, in: console).contents()
    let format = RowImport.Format(of: bytes, in: file)
    let inspected = try InspectedStore(store, in: console)
    let table = try inspected.table(named: entity)
    let rows = try RowImport(bytes, format, into: table, of: inspected)
    do {
      let contents = try rows.forEachRow(rank: { 0 }) { _, _, _ in }
      let count = contents.rowCount
      try inspected.finish()
      if !contents.computedColumns.isEmpty {
        let names = contents.computedColumns.map(\.printable).joined(separator: ", ")
        console.notice(
          "not taken over: \(names); the app computes derived attributes when it opens the store"
        )
      }
      var commitCount = 0
      if !dryRun, count > 0 { commitCount = try write(rows, table, of: inspected, console) }
      let facts: JSONValue = [
        "store": .string(path), "entity": .string(table.name), "rows": .integer(Int64(count)),
        "commits": .integer(Int64(commitCount)),
      ]
      console.printFacts(facts, output.format) {
        dryRun
          ? "\(count.counted("row")) could be imported into \(table.name.printable)"
          : "imported \(count.counted("row")) into \(table.name.printable), in \(commitCount.counted("commit"))"
      }
    } catch let error as ImportError {
      throw error.toolError(in: file)
    }
  }

  /// - Returns: The number of commits made.
  private func write(
    _ rows: RowImport,
    _ table: TableDefinition,
    of inspected: InspectedStore,
    _ console: Console
  ) throws -> Int {
    var options = EngineOptions()
    options.missingStore = .fail
    options.reads = store.reads
    options.background = .caller
    let engine = try StorageEngine.open(
      at: StorePath.normalized(path),
      options: options,
      fileSystem: console.fileSystem
    )
    // Without the models nothing is derived: the app computes it for all rows when it opens the store next.
    if engine.catalogue.metadata["derived.schema"]?.isEmpty == false {
      try engine.apply([.setMetadata(key: "derived.schema", value: [])])
    }
    var batch = engine.makeBatch()
    batch.author = author
    let step = commitEvery ?? .max
    var progress = ImportProgress()
    var ends = PendingEnds()
    // Behind the places of all earlier rows, as the layer above gives them out.
    let base = engine.catalogue.metadata["rank.base"].flatMap {
      Int64(String(decoding: $0, as: UTF8.self))
    }
    var rank = (base ?? 0) &+ Int64(truncatingIfNeeded: engine.lastCommit.rawValue &+ 1) << 24
    func commit() throws {
      if progress.pendingCount == 0 { return }
      try ends.write(to: &batch, engine, of: inspected)
      try engine.commit(&batch)
      batch.author = author
      progress.commit()
    }
    do {
      _ = try rows.forEachRow(rank: {
        defer { rank += 1 }
        return rank
      }) { row, line, others in
        let key = engine.reserveKeys(1, in: table.number).lowerBound
        let reference = RowReference(table: table.number, key: key)
        batch.insert(reference, layout: table.currentLayout, row: row)
        for end in others { ends.add(end, to: reference) }
        progress.add(line)
        if progress.pendingCount >= step { try commit() }
      }
      try commit()
      try engine.close()
    } catch let error as StorageError {
      throw progress.toolError(error, at: path)
    }
    return progress.commitCount
  }
}
