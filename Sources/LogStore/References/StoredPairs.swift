import LogEngine
import ModelRuntime
import RowFormat

// A relationship of one to one is a reference at each end. A save writes both in one commit, so that at every commit each of
// them names the other.

/// One end of such a relationship, and the row that it names.
private struct StoredPair: Hashable {
  let row: RowReference
  let column: Int
  let target: RowReference
  /// The column of the target that has to name the row.
  let inverse: Int

  var reversed: StoredPair {
    StoredPair(row: target, column: inverse, target: row, inverse: column)
  }
}

extension TableStore {
  /// Says which ends of relationships of one to one name a row that does not name them; nothing, if all is well.
  ///
  /// Looks at one view, so saves may be under way.
  ///
  /// - Throws: What reading a row throws.
  /// - Complexity: O(rows of classes with such relationships).
  package func pairViolations() throws -> [String] {
    let view = engine.makeReadView()
    var pairs: Set<StoredPair> = []
    for table in tables {
      let ends = table.descriptor.relationships.filter {
        !$0.isToMany && $0.inverse?.isToMany == false
      }
      if ends.isEmpty { continue }
      try scan(table.number, of: view) { key, row, layout in
        for property in ends where !layout.isNull(property.ordinal, in: row) {
          guard let inverse = property.inverse?.ordinal else { continue }
          let pair = StoredPair(
            row: RowReference(table: table.number, key: key),
            column: property.ordinal,
            target: layout.reference(property.ordinal, in: row),
            inverse: inverse
          )
          // The other end may be of an entity that the schema lacks.
          if self.table(numbered: pair.target.table) != nil { pairs.insert(pair) }
        }
      }
    }
    return pairs.filter { !pairs.contains($0.reversed) }.map { pair in
      let table = self.table(numbered: pair.row.table)
      return "\(table?.descriptor.entityName ?? "table \(pair.row.table)")/\(pair.row.key): "
        + "\(table?.descriptor.properties[pair.column].name ?? "") names table "
        + "\(pair.target.table)/\(pair.target.key), which does not name it"
    }.sorted()
  }
}
