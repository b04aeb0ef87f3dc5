import LogEngine
import ModelRuntime
import RowFormat

// A relationship of many to many is two lists, one at each end. A save writes what it changes of both in one commit,
// so that at every commit each of them names the other.

/// One row's place in the list of another.
private struct StoredLink: Hashable {
  let owner: RowReference
  let column: Int
  let member: RowReference
  /// The column of the member's list that has to name the owner.
  let inverse: Int

  var reversed: StoredLink {
    StoredLink(owner: member, column: inverse, member: owner, inverse: column)
  }
}

extension TableStore {
  /// Says which lists of many to many do not agree with their other ends, or hold a row twice; nothing, if all is well.
  ///
  /// Looks at one view, so saves may be under way.
  ///
  /// - Throws: What reading a row throws.
  /// - Complexity: O(rows of classes with such lists, and their members).
  package func listViolations() throws -> [String] {
    let view = engine.makeReadView()
    var violations: [String] = []
    var links: Set<StoredLink> = []
    for table in tables {
      let ends = table.descriptor.relationships.filter { $0.isStoredList && $0.inverse != nil }
      if ends.isEmpty { continue }
      try view.scan(table.number) { key, layout, row in
        let owner = RowReference(table: table.number, key: key)
        try table.withCurrentRow(row, layout: layout, key: key) { row in
          for property in ends where !table.layout.isNull(property.ordinal, in: row) {
            guard let inverse = property.inverse?.ordinal else { continue }
            for member in table.layout.references(property.ordinal, in: row)
            where self.table(numbered: member.table) != nil {
              let link = StoredLink(
                owner: owner,
                column: property.ordinal,
                member: member,
                inverse: inverse
              )
              if !links.insert(link).inserted {
                violations.append(
                  "\(name(of: owner)): \(property.name) holds \(name(of: member)) twice"
                )
              }
            }
          }
        }
        return .proceed
      }
    }
    for link in links where !links.contains(link.reversed) {
      let list = table(numbered: link.owner.table)?.descriptor.properties[link.column].name ?? ""
      violations.append(
        "\(name(of: link.owner)): \(list) holds \(name(of: link.member)), which does not hold it"
      )
    }
    return violations
  }

  private func name(of row: RowReference) -> String {
    "\(table(numbered: row.table)?.descriptor.entityName ?? "table \(row.table)")/\(row.key)"
  }

  /// Traps unless the lists of many to many agree with their other ends.
  ///
  /// - Throws: What reading a row throws.
  func checkLists() throws {
    let violations = try listViolations()
    precondition(violations.isEmpty, violations.joined(separator: "; "))
  }
}
