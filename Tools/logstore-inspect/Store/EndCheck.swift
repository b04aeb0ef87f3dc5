import LogEngine
import RowFormat

/// Looks for relationships of one to one, and of many to many, whose ends contradict each other.
///
/// Both ends are stored, and each save writes both. Which columns they are is in the catalogue, in the entries
/// `inverse.<table>.<column>` and `inverse.<table>.<column>.of`. Columns that the models lack which wrote the store last are passed
/// over: they are brought in agreement once they are back. So are those of which older rows have their values in another column.
struct EndCheck {
  /// A reference to a row that does not refer back.
  struct Contradiction {
    let owner: RowReference
    let column: String
    let target: RowReference
    /// The column that does not refer back.
    let inverse: String
  }

  /// The first of these, as many as are named.
  private(set) var contradictions: [Contradiction] = []

  private struct Column: Hashable {
    let table: UInt16
    let number: UInt16
  }

  private struct Link: Hashable {
    let owner: RowReference
    let column: UInt16
    let target: RowReference
  }

  private let catalogue: Catalogue
  /// The names of the inverses' columns.
  private var inverses: [Column: String] = [:]

  init(_ store: InspectedStore) throws {
    catalogue = store.catalogue
    for table in catalogue.tables { addColumns(of: table) }
    if inverses.isEmpty { return }
    var links: Set<Link> = []
    for table in catalogue.tables {
      try store.forEachRow(of: table) { key, number, row in
        guard let layout = table.layout(number) else { return .proceed }
        let owner = RowReference(table: table.number, key: key)
        for (place, column) in layout.columns.enumerated()
        where inverses[Column(table: table.number, number: column)] != nil
          && !layout.layout.isNull(place, in: row)
        {
          let targets =
            layout.layout.types[place] == .reference
            ? [layout.layout.reference(place, in: row)] : layout.layout.references(place, in: row)
          for target in targets {
            links.insert(Link(owner: owner, column: column, target: target))
          }
        }
        return .proceed
      }
    }
    let wrong = try links.filter { link in
      guard let inverse = inverse(of: link) else { return false }
      return try !links.contains(Link(owner: link.target, column: inverse, target: link.owner))
        && store.view.contains(link.target)
    }
    let sorted = wrong.sorted { ($0.owner, $0.column) < ($1.owner, $1.column) }
    contradictions = sorted.prefix(ReferenceCheck.limit).map { link in
      Contradiction(
        owner: link.owner,
        column: catalogue.table(link.owner.table)?.column(link.column)?.name ?? "",
        target: link.target,
        inverse: inverses[Column(table: link.owner.table, number: link.column)] ?? ""
      )
    }
  }

  private mutating func addColumns(of table: TableDefinition) {
    if let listed = listedEntities, !listed.contains(table.name) { return }
    guard let current = table.layout(table.currentLayout) else { return }
    for column in table.columns where current.columns.contains(column.number) {
      let key = "inverse.\(table.number).\(column.number)"
      let kind =
        switch column.type {
        case .reference: "one"
        case .references: "many"
        default: ""
        }
      guard text(key) == kind, catalogue.metadata[key + ".stale"] == nil,
        !table.columns.contains(where: { $0.isRetired && $0.name == column.name }),
        let place = text(key + ".of")?.split(separator: ".").compactMap({ UInt16($0) }),
        place.count == 2, let inverse = catalogue.table(place[0])?.column(place[1])
      else { continue }
      inverses[Column(table: table.number, number: column.number)] = inverse.name
    }
  }

  /// The column of a row's inverse, if it is one that is looked at: a subclass has it under a number of its own.
  private func inverse(of link: Link) -> UInt16? {
    guard let name = inverses[Column(table: link.owner.table, number: link.column)],
      let column = catalogue.table(link.target.table)?.column(named: name),
      inverses[Column(table: link.target.table, number: column.number)] != nil
    else { return nil }
    return column.number
  }

  /// The entities that the models had which wrote the store last; `nil` if all, or the store does not say.
  private var listedEntities: Set<String>? {
    let lines = text("schema.entities")?.split(separator: "\n").map(String.init) ?? []
    guard let first = lines.first, first == text("schema.version") else { return nil }
    return Set(lines.dropFirst())
  }

  private func text(_ key: String) -> String? {
    catalogue.metadata[key].map { String(decoding: $0, as: UTF8.self) }
  }
}
