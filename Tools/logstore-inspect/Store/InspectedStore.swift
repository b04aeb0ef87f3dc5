import LogEngine
import RowFormat
import Terminal

/// A store opened to be looked at, and what of it is shown.
struct InspectedStore {
  let path: String
  let engine: StorageEngine
  let catalogue: Catalogue
  /// Which tables and columns are shown.
  let visibility: Visibility

  /// Which tables and columns are shown.
  enum Visibility {
    /// Those an app declares.
    case declared
    /// Also those the layers between app and engine keep for themselves, and columns no longer in use.
    case all
  }

  /// Opens a store to be read only.
  init(_ path: String, _ visibility: Visibility) throws(ToolError) {
    self.path = path
    self.visibility = visibility
    do {
      var options = EngineOptions()
      options.mode = .readOnly
      options.missingStore = .fail
      engine = try StorageEngine.open(at: path, options: options)
      catalogue = engine.catalogue
    } catch {
      throw ToolError(error, at: path)
    }
  }

  /// The tables that are shown, by name.
  var tables: [TableDefinition] {
    catalogue.tables.filter { isShown($0.name) }.sorted { $0.name < $1.name }
  }

  /// The tables to show: the one of an entity, or all if none is named.
  func tables(named entity: String?) throws(ToolError) -> [TableDefinition] {
    guard let entity else { return tables }
    guard let table = catalogue.table(named: entity) else {
      throw ToolError(
        "the store has no such entity",
        place: path,
        expected: tables.map(\.name).joined(separator: ", "),
        found: entity
      )
    }
    return [table]
  }

  /// The columns of a table that are shown, in the order rows are written in now.
  func columns(of table: TableDefinition) -> [ColumnDefinition] {
    let current = table.layout(table.currentLayout)?.columns ?? []
    let order = current + table.columns.map(\.number).filter { !current.contains($0) }
    return order.compactMap { table.column($0) }.filter(isShown)
  }

  func isShown(_ column: ColumnDefinition) -> Bool {
    visibility == .all || (!column.isRetired && isShown(column.name))
  }

  /// Names that begin with an underscore belong to the layers below the app.
  private func isShown(_ name: String) -> Bool { visibility == .all || !name.hasPrefix("_") }

  func name(ofTable number: UInt16) -> String {
    catalogue.table(number)?.name ?? "table \(number)"
  }
}
