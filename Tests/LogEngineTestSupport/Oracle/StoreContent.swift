package import LogEngine
package import RowFormat

/// What a store holds, as plainly as it can be said: the oracle that the engine is held against.
package struct StoreContent: Hashable, Sendable {
  package var rows: [RowReference: StoredRow] = [:]
  package var tables: [TableOutline] = []
  /// The number the next new table gets.
  package var nextTable: UInt16 = 1
  /// The keys that were ever used: none may be used again.
  package var usedKeys: [UInt16: Set<UInt64>] = [:]

  package init() {}

  /// Makes one change of a row.
  package mutating func apply(_ change: RowChange) {
    switch change {
    case .insert(let reference, let row):
      rows[reference] = row
      usedKeys[reference.table, default: []].insert(reference.key)
    case .update(let reference, _, let row): rows[reference] = row
    case .delete(let reference): rows[reference] = nil
    }
  }

  /// The references of a table's rows, in order.
  package func references(in table: UInt16) -> [RowReference] {
    rows.keys.filter { $0.table == table }.sorted()
  }
}

/// The bytes of one row and the layout they are in.
package struct StoredRow: Hashable, Sendable {
  package var layout: LayoutNumber
  package var bytes: [UInt8]

  package init(layout: LayoutNumber, bytes: [UInt8]) {
    self.layout = layout
    self.bytes = bytes
  }
}

/// One change a commit makes.
package enum RowChange: Hashable, Sendable {
  case insert(RowReference, StoredRow)
  case update(RowReference, changed: ColumnSet, StoredRow)
  case delete(RowReference)

  package var reference: RowReference {
    switch self {
    case .insert(let reference, _), .update(let reference, _, _), .delete(let reference): reference
    }
  }
}
