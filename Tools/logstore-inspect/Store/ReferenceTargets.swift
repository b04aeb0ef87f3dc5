import LogEngine
import RowFormat

/// The rows that a column of references may lead to: those of the entity that the app declares, and of those that inherit from it.
struct ReferenceTargets {
  /// The entities by name, the declared one first.
  let entities: [String]
  private let tables: Set<UInt16>

  /// Reads an entry of the catalogue's metadata, such as `rows Airline`, with the entities that inherit from it one a line; `nil`
  /// for any other.
  fileprivate init?(entry: [UInt8], in catalogue: Catalogue) {
    let lines = String(decoding: entry, as: UTF8.self).split(separator: "\n").map(String.init)
    guard let first = lines.first, first.hasPrefix("rows ") else { return nil }
    entities = [String(first.dropFirst("rows ".count))] + lines.dropFirst()
    tables = Set(entities.compactMap { catalogue.table(named: $0)?.number })
  }

  func contains(_ row: RowReference) -> Bool { tables.contains(row.table) }
}

extension InspectedStore {
  /// The rows that a column may lead to; `nil` if it has no references, or if the store does not say.
  ///
  /// The layer above notes it under `values.<table>.<column>`.
  func targets(of column: ColumnDefinition, in table: UInt16) -> ReferenceTargets? {
    catalogue.metadata["values.\(table).\(column.number)"].flatMap {
      ReferenceTargets(entry: $0, in: catalogue)
    }
  }
}
