import ArgumentParser
import LogEngine
import RowFormat
import Terminal

/// Shows entities, their columns and layouts, and how they came to be.
struct SchemaCommand: InspectCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Shows entities with their columns, layouts and versions.",
    discussion: """
      A layout is an order of columns that rows were or are written in; the last one named is in use. With \
      --versions the commits follow that changed the schema; those a compaction packed are gone.

      EXAMPLES:
        logstore-inspect schema trips.store
        logstore-inspect schema trips.store --entity Trip --versions
        logstore-inspect schema trips.store --all --format json

      \(ExitStatus.help)
      """
  )

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var visible: VisibilityOptions

  @Option(
    help: ArgumentHelp("Only this entity.", valueName: "name"),
    completion: .entity
  )
  var entity: String?

  @Option(help: ArgumentHelp("Show the store as of this commit.", valueName: "commit"))
  var at: UInt64?

  @Flag(help: "Also the commits that changed the schema.")
  var versions = false

  var path: String { store.path }

  func run(in console: Console) throws {
    try show(try InspectedStore(store, visible.visibility, at: at, in: console), in: console)
  }

  /// Shows the schema of a store that is open.
  func show(_ store: InspectedStore, in console: Console) throws {
    let tables = try store.tables(named: entity)
    let versions = versions ? try SchemaVersion.all(in: store) : []
    switch output.format {
    case .text: printText(tables, versions, in: store, console)
    case .json: console.line(item(tables, versions, in: store).text)
    case .ndjson:
      for table in tables { console.line(item(of: table, in: store).text) }
      for version in versions { console.line(version.item.text) }
    case .csv:
      var items = ItemPrinter(console, .csv, fields: Self.columnFields)
      for table in tables {
        for column in store.columns(of: table) { items.print(item(of: column, in: table)) }
      }
      items.end()
    }
    try store.finish()
  }
}

// MARK: Text

extension SchemaCommand {
  private func printText(
    _ tables: [TableDefinition],
    _ versions: [SchemaVersion],
    in store: InspectedStore,
    _ console: Console
  ) {
    for (index, definition) in tables.enumerated() {
      if index > 0 { console.line() }
      let name = console.styled(definition.name.printable, .bold)
      console.line("\(name)  table \(definition.number)")
      var table = TextTable([.init("no", .right), .init("column"), .init("type"), .init("")])
      for column in store.columns(of: definition) {
        var notes: [String] = []
        if column.isNullable { notes.append("optional") }
        if column.isRetired { notes.append("no longer in use") }
        table.append([
          "\(column.number)", column.name.printable, "\(column.type)",
          notes.joined(separator: ", "),
        ])
      }
      console.print(table, indent: "  ")
      for layout in definition.layouts where definition.layouts.count > 1 {
        let isCurrent = layout.number == definition.currentLayout
        let names = names(of: layout, in: definition).map(\.printable).joined(separator: ", ")
        console.clippedLine(
          "  layout \(layout.number.rawValue)\(isCurrent ? ", in use" : ""): \(names)"
        )
      }
    }
    if tables.isEmpty { console.line("no entities") }
    let metadata = store.catalogue.metadata.sorted { $0.key < $1.key }
    if entity == nil, !metadata.isEmpty {
      console.line()
      var table = TextTable([.init(""), .init("")])
      for (key, value) in metadata { table.append([key.printable, value.shown]) }
      console.print(table)
    }
    for version in versions {
      console.line()
      console.clippedLine(version.heading(console))
      for change in version.changes { console.clippedLine("  " + change) }
    }
  }

  private func names(of layout: LayoutDefinition, in table: TableDefinition) -> [String] {
    layout.columns.map { table.column($0)?.name ?? "column \($0)" }
  }
}

// MARK: Items

extension SchemaCommand {
  private static let columnFields = [
    "entity", "table", "column", "number", "type", "optional", "retired",
  ]

  private func item(
    _ tables: [TableDefinition],
    _ versions: [SchemaVersion],
    in store: InspectedStore
  ) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "commit", value: .unsigned(store.view.sequence.rawValue)),
      .init(name: "entities", value: .array(tables.map { item(of: $0, in: store) })),
      .init(
        name: "metadata",
        value: .object(
          store.catalogue.metadata.sorted { $0.key < $1.key }
            .map { .init(name: $0.key, value: .string($0.value.shown)) }
        )
      ),
    ]
    if self.versions {
      members.append(.init(name: "versions", value: .array(versions.map(\.item))))
    }
    return .object(members)
  }

  private func item(of table: TableDefinition, in store: InspectedStore) -> JSONValue {
    let layouts = table.layouts.map { layout -> JSONValue in
      [
        "layout": .unsigned(UInt64(layout.number.rawValue)),
        "in_use": .bool(layout.number == table.currentLayout),
        "columns": .array(names(of: layout, in: table).map(JSONValue.string)),
      ]
    }
    return [
      "entity": .string(table.name), "table": .unsigned(UInt64(table.number)),
      "columns": .array(store.columns(of: table).map { item(of: $0, in: table) }),
      "layouts": .array(layouts),
    ]
  }

  private func item(of column: ColumnDefinition, in table: TableDefinition) -> JSONValue {
    [
      "entity": .string(table.name), "table": .unsigned(UInt64(table.number)),
      "column": .string(column.name), "number": .unsigned(UInt64(column.number)),
      "type": .string("\(column.type)"), "optional": .bool(column.isNullable),
      "retired": .bool(column.isRetired),
    ]
  }
}
