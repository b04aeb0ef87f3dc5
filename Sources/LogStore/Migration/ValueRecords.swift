import LogEngine
import ModelRuntime

/// The entries of a catalogue that say what the values of columns are, where their types do not: see ``StoredValues``.
///
/// There is an entry for each such column, `values.<table>.<column>`. A store of an older library has none, and gets them when
/// one process alone opens it next: with the models that wrote it they are right; with others, only numbers can be looked at.
enum ValueRecords {
  /// The values that a column holds; `nil` if the store does not say.
  static func values(
    of column: UInt16,
    in table: UInt16,
    _ catalogue: Catalogue
  ) -> StoredValues? {
    catalogue.metadata[key(table, column)].flatMap {
      StoredValues(String(decoding: $0, as: UTF8.self))
    }
  }

  static func record(
    _ values: StoredValues,
    of column: UInt16,
    in table: UInt16
  ) -> CatalogueChange {
    .setMetadata(key: key(table, column), value: Array(values.text.utf8))
  }

  /// Whether a change only adds an entry: no store is in the wrong schema for want of one.
  static func isAddition(_ change: CatalogueChange, to catalogue: Catalogue) -> Bool {
    guard case .setMetadata(let key, _) = change else { return false }
    return key.hasPrefix(prefix) && catalogue.metadata[key] == nil
  }

  /// Whether a class can read the values of a table's columns, as far as the store says what they are.
  static func areReadable(
    by descriptor: ModelDescriptor,
    of families: EntityFamilies,
    in table: TableDefinition,
    _ catalogue: Catalogue
  ) -> Bool {
    descriptor.properties.allSatisfy { property in
      guard let column = table.column(named: property.name),
        let values = values(of: column.number, in: table.number, catalogue)
      else { return true }
      return values.change(to: property, in: families) == nil
    }
  }

  private static let prefix = "values."

  private static func key(_ table: UInt16, _ column: UInt16) -> String {
    "\(prefix)\(table).\(column)"
  }
}
