import LogEngine
import RowFormat

/// Looks for rows that refer to rows that are not there, or to rows of another entity than the app declares.
struct ReferenceCheck {
  /// A reference that leads nowhere, or astray.
  struct Problem {
    let owner: RowReference
    let column: String
    let target: RowReference
    /// The entity whose rows the column leads to, if the row that is there is of another; `nil` if none is there.
    let expected: String?
  }

  /// Number of references.
  private(set) var count = 0
  /// The first of those that lead nowhere, or astray.
  private(set) var problems: [Problem] = []
  /// Limit of the references that are named; a store that lost a table would fill the screen.
  static let limit = 1000

  private struct Column {
    /// Its place in the row.
    let place: Int
    let name: String
    let targets: ReferenceTargets?
  }

  init(_ store: InspectedStore) throws {
    for table in store.catalogue.tables { try check(table, in: store) }
  }

  private mutating func check(_ table: TableDefinition, in store: InspectedStore) throws {
    let plans = Dictionary(
      uniqueKeysWithValues: table.layouts.map { layout in
        let columns = layout.columns.enumerated().compactMap { place, number -> Column? in
          guard let column = table.column(number), !column.isRetired,
            column.type == .reference || column.type == .references
          else { return nil }
          let targets = store.targets(of: column, in: table.number)
          return Column(place: place, name: column.name, targets: targets)
        }
        return (layout.number, (layout.layout, columns))
      }
    )
    if plans.values.allSatisfy({ $0.1.isEmpty }) { return }
    try store.forEachRow(of: table) { key, number, row in
      guard let (layout, columns) = plans[number] else { return .proceed }
      let owner = RowReference(table: table.number, key: key)
      for column in columns where !layout.isNull(column.place, in: row) {
        let targets =
          layout.types[column.place] == .reference
          ? [layout.reference(column.place, in: row)] : layout.references(column.place, in: row)
        for target in targets where target != .none {
          count += 1
          let isThere = try store.view.contains(target)
          let isExpected = column.targets?.contains(target) ?? true
          if isThere && isExpected || problems.count == Self.limit { continue }
          problems.append(
            Problem(
              owner: owner,
              column: column.name,
              target: target,
              expected: isThere ? column.targets?.entities[0] : nil
            )
          )
        }
      }
      return .proceed
    }
  }
}
