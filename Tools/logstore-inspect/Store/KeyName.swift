import LogEngine
import RowFormat

extension TableDefinition {
  /// What conditions, lists of columns and exports call the key of a row: "key", unless an attribute bears that name.
  ///
  /// "_key" names it always: the names of an app's columns do not begin with an underscore.
  var keyName: String {
    columns.contains { $0.name == "key" && !$0.isRetired } ? "_key" : "key"
  }

  /// Whether a name is that of the rows' key.
  func isKeyName(_ name: String) -> Bool {
    name == keyName || (name == "_key" && column(named: name) == nil)
  }
}

extension InspectedStore {
  /// All that questions about a table can name.
  func askableNames(of table: TableDefinition) -> [String] {
    [table.keyName] + columns(of: table).map(\.name)
  }
}
