import LogEngine
import RowFormat

extension TableDefinition {
  /// The name of a row's key in conditions, lists of columns and exports: "key", unless an attribute has that name.
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
  /// All names that questions about a table can use.
  func askableNames(of table: TableDefinition) -> [String] {
    [table.keyName] + columns(of: table).map(\.name)
  }
}
