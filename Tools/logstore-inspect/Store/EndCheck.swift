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

  /// A column, and the table of the rows that it refers to.
  private struct Way: Hashable {
    let column: Column
    let target: UInt16
  }

  private let catalogue: Catalogue
  /// The names of the inverses' columns.
  private var inverses: [Column: String] = [:]
  /// The numbers of these columns; 0, which no column has, for those that are not looked at.
  private var inverseNumbers: [Way: UInt16] = [:]

  /// Maximum number of links that are in memory.
  private static let linkLimit = 1 << 20

  /// - Complexity: One pass over the rows if no ends contradict each other, and another for each million of links if some do;
  ///   memory for a million.
  init(_ store: InspectedStore) throws {
    catalogue = store.catalogue
    for table in catalogue.tables { addColumns(of: table) }
    if inverses.isEmpty { return }
    var (count, balance) = (0, 0)
    try forEachLink(in: store) { link, reverse in
      count += 1
      balance &+= link.hashValue &- reverse.hashValue
    }
    // Each link has its reverse, which has been added with the other sign.
    if balance == 0 { return }
    let partCount = count / Self.linkLimit + 1
    for part in 0..<partCount {
      var links: [Link: Link] = [:]
      try forEachLink(in: store) { link, reverse in
        let sum = UInt(bitPattern: link.hashValue &+ reverse.hashValue)
        if sum % UInt(partCount) == UInt(part) { links[link] = reverse }
      }
      let wrong = try links.filter { try links[$1] == nil && store.view.contains($0.target) }.keys
      contradictions += wrong.map(contradiction)
      contradictions.sort { ($0.owner, $0.column) < ($1.owner, $1.column) }
      contradictions.removeSubrange(min(contradictions.count, ReferenceCheck.limit)...)
    }
  }

  private func contradiction(_ link: Link) -> Contradiction {
    Contradiction(
      owner: link.owner,
      column: catalogue.table(link.owner.table)?.column(link.column)?.name ?? "",
      target: link.target,
      inverse: inverses[Column(table: link.owner.table, number: link.column)] ?? ""
    )
  }

  /// Calls a closure with each link, and with the one that the row it leads to has to have.
  private mutating func forEachLink(
    in store: InspectedStore,
    _ body: (_ link: Link, _ reverse: Link) -> Void
  ) throws {
    for table in catalogue.tables {
      let layouts = Dictionary(uniqueKeysWithValues: table.layouts.map { ($0.number, $0) })
      try store.forEachRow(of: table) { key, number, row in
        guard let layout = layouts[number] else { return .proceed }
        let owner = RowReference(table: table.number, key: key)
        for (place, number) in layout.columns.enumerated() {
          let column = Column(table: table.number, number: number)
          guard inverses[column] != nil, !layout.layout.isNull(place, in: row) else { continue }
          let targets =
            layout.layout.types[place] == .reference
            ? [layout.layout.reference(place, in: row)] : layout.layout.references(place, in: row)
          for target in targets {
            let inverse = inverse(of: Way(column: column, target: target.table))
            if inverse == 0 { continue }
            body(
              Link(owner: owner, column: number, target: target),
              Link(owner: target, column: inverse, target: owner)
            )
          }
        }
        return .proceed
      }
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

  /// The inverse's column in a table: a subclass has it under a number of its own.
  private mutating func inverse(of way: Way) -> UInt16 {
    if let known = inverseNumbers[way] { return known }
    var found: UInt16 = 0
    if let name = inverses[way.column],
      let column = catalogue.table(way.target)?.column(named: name),
      inverses[Column(table: way.target, number: column.number)] != nil
    {
      found = column.number
    }
    inverseNumbers[way] = found
    return found
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
