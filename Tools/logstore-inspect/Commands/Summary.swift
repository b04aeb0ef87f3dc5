import ArgumentParser
import LogEngine
import LogTools
import RowFormat
import Terminal

/// Shows what a store holds, in a screenful.
struct Summary: InspectCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows what a store holds: entities, rows, columns, size.",
    discussion: """
      EXAMPLES:
        logstore-inspect summary trips.store
        logstore-inspect summary trips.store --columns

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Flag(help: "Also list the columns of each entity.")
  var columns = false

  var path: String { store.path }

  func run(in console: Console) throws {
    let store = try InspectedStore(store, visible.visibility, in: console)
    let files = try StoreFiles(under: store.path, on: console.fileSystem)
    var usage: StoreUsage?
    do {
      usage = try store.engine.fileUsage()
    } catch let error as StorageError {
      store.recordDamage(error)
    }
    let entities = entities(store, usage)
    switch output.format {
    case .text:
      console.line(console.styled(path, .bold))
      console.print(facts(store, files, usage), indent: "  ")
      console.line()
      console.print(entities.table())
      if columns { printColumns(store, console) }
    case .csv: entities.printItems(to: console, .csv)
    case .json, .ndjson: console.line(item(store, files, usage, entities).text)
    }
    try store.finish()
  }

  private func facts(
    _ store: InspectedStore,
    _ files: StoreFiles,
    _ usage: StoreUsage?
  ) -> TextTable {
    var table = TextTable([.init(""), .init("")])
    if let identifier = store.catalogue.metadata["store.identifier"] {
      table.append(["identifier", identifier.shown])
    }
    if let version = store.catalogue.metadata["schema.version"] {
      table.append(["schema", version.shown])
    }
    table.append(["last commit", store.view.sequence.rawValue.grouped])
    table.append(["on disk", "\(files.byteCount.byteCount) in \(files.count.counted("file"))"])
    if let usage {
      let total = usage.total
      table.append([
        "records",
        "live \(total.liveByteCount.byteCount), history \(total.historyByteCount.byteCount), "
          + "dead \(total.deadByteCount.byteCount)",
      ])
    }
    return table
  }

  private func entities(_ store: InspectedStore, _ usage: StoreUsage?) -> Listing {
    var listing = Listing([
      .init(title: "entity", name: "entity"),
      .init(title: "rows", name: "rows", alignment: .right),
      .init(title: "columns", name: "columns", alignment: .right),
      .init(title: "live", name: "live_bytes", alignment: .right, importance: .optional),
      .init(title: "history", name: "history_bytes", alignment: .right, importance: .optional),
      .init(title: "dead", name: "dead_bytes", alignment: .right, importance: .optional),
    ])
    for definition in store.tables {
      let bytes = usage.map { $0.tables[definition.number] ?? FileUsage() }
      listing.append([
        .text(definition.name), .count(store.view.rowCount(of: definition.number)),
        .count(store.columns(of: definition).count), .bytes(bytes?.liveByteCount),
        .bytes(bytes?.historyByteCount), .bytes(bytes?.deadByteCount),
      ])
    }
    return listing
  }

  private func printColumns(_ store: InspectedStore, _ console: Console) {
    for definition in store.tables {
      var table = TextTable([.init(""), .init("")])
      for column in store.columns(of: definition) {
        var notes = "\(column.type)"
        if column.isNullable { notes += ", optional" }
        if column.isRetired { notes += ", no longer in use" }
        table.append([column.name.printable, notes])
      }
      console.line()
      console.line(console.styled(definition.name.printable, .bold))
      console.print(table, indent: "  ")
    }
  }

  private func item(
    _ store: InspectedStore,
    _ files: StoreFiles,
    _ usage: StoreUsage?,
    _ entities: Listing
  ) -> JSONValue {
    let metadata = store.catalogue.metadata
    return [
      "store": .string(path),
      "identifier": metadata["store.identifier"].map { .string($0.shown) } ?? .null,
      "schema": metadata["schema.version"].map { .string($0.shown) } ?? .null,
      "last_commit": .unsigned(store.view.sequence.rawValue),
      "oldest_commit": usage.map { .unsigned($0.oldestCommit.rawValue) } ?? .null,
      "files": .integer(Int64(files.count)), "bytes": .integer(Int64(files.byteCount)),
      "live_bytes": usage.map { .integer(Int64($0.total.liveByteCount)) } ?? .null,
      "history_bytes": usage.map { .integer(Int64($0.total.historyByteCount)) } ?? .null,
      "dead_bytes": usage.map { .integer(Int64($0.total.deadByteCount)) } ?? .null,
      "entities": .array(entities.items),
    ]
  }
}
