import LogEngine
import RowFormat

/// Looks for rows that refer to rows that are not there.
struct ReferenceCheck {
  /// A reference that leads nowhere.
  struct Dangling {
    let owner: RowReference
    let column: String
    let target: RowReference
  }

  /// Number of references.
  private(set) var count = 0
  /// The first of those that lead nowhere.
  private(set) var dangling: [Dangling] = []
  /// Limit of the references that are named; a store that lost a table would fill the screen.
  static let limit = 1000

  init(_ store: InspectedStore) throws {
    for table in store.catalogue.tables { try check(table, in: store) }
  }

  private mutating func check(_ table: TableDefinition, in store: InspectedStore) throws {
    let plans = Dictionary(
      uniqueKeysWithValues: table.layouts.map { layout in
        let columns = layout.columns.enumerated().filter { _, number in
          let column = table.column(number)
          return column?.isRetired == false
            && (column?.type == .reference || column?.type == .references)
        }
        return (layout.number, (layout.layout, columns.map { ($0.offset, $0.element) }))
      }
    )
    if plans.values.allSatisfy({ $0.1.isEmpty }) { return }
    try store.forEachRow(of: table) { key, number, row in
      guard let (layout, columns) = plans[number] else { return .proceed }
      let owner = RowReference(table: table.number, key: key)
      for (place, column) in columns where !layout.isNull(place, in: row) {
        let targets =
          layout.types[place] == .reference
          ? [layout.reference(place, in: row)] : layout.references(place, in: row)
        for target in targets where target != .none {
          count += 1
          if try store.view.contains(target) || dangling.count == Self.limit { continue }
          let name = table.column(column)?.name ?? "column \(column)"
          dangling.append(Dangling(owner: owner, column: name, target: target))
        }
      }
      return .proceed
    }
  }
}
