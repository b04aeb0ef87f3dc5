import LogEngine
import Terminal

/// The number of rows of each table that a commit inserted, updated and deleted.
struct ChangeTally {
  private struct Counts {
    var inserted = 0
    var updated = 0
    var deleted = 0
  }

  private var tables: [UInt16: Counts] = [:]
  private var schemaChangeCount = 0

  var isEmpty: Bool { tables.isEmpty && schemaChangeCount == 0 }

  mutating func add(_ change: LoggedChange) {
    let table = change.reference.table
    switch change.kind {
    case .insert: tables[table, default: Counts()].inserted += 1
    case .update: tables[table, default: Counts()].updated += 1
    case .delete: tables[table, default: Counts()].deleted += 1
    case .catalogue(let changes): schemaChangeCount += changes.count
    }
  }

  /// The counts in a line: `Trip +3 ~1 −2, schema 4`.
  func text(_ name: (UInt16) -> String) -> String {
    var parts = sorted(name)
      .map { entity, counts in
        let marks = [("+", counts.inserted), ("~", counts.updated), ("−", counts.deleted)]
        let figures = marks.filter { $0.1 > 0 }.map { $0.0 + $0.1.grouped }
        return ([entity.printable] + figures).joined(separator: " ")
      }
    if schemaChangeCount > 0 { parts.append("schema \(schemaChangeCount.grouped)") }
    return parts.joined(separator: ", ")
  }

  /// The counts by entity.
  func json(_ name: (UInt16) -> String) -> JSONValue {
    var members = sorted(name)
      .map { entity, counts -> JSONValue.Member in
        let counts: JSONValue = [
          "inserted": .integer(Int64(counts.inserted)), "updated": .integer(Int64(counts.updated)),
          "deleted": .integer(Int64(counts.deleted)),
        ]
        return JSONValue.Member(name: entity, value: counts)
      }
    if schemaChangeCount > 0 {
      members.append(.init(name: "schema", value: .integer(Int64(schemaChangeCount))))
    }
    return .object(members)
  }

  private func sorted(_ name: (UInt16) -> String) -> [(String, Counts)] {
    tables.map { (name($0.key), $0.value) }.sorted { $0.0 < $1.0 }
  }
}
