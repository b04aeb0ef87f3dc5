import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

/// What a server does for a fetch from one table.
struct ServerWork {
  /// How many rows of tables it reads.
  private(set) var readRowCount = 0
  /// Whether it sends the rows that match, and no others.
  let isExact: Bool
  let plan: String

  /// Has the server make the fetch.
  ///
  /// - Throws: What the translation throws, or the server.
  init<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, in store: PostgresStore) throws {
    let request = DataStoreFetchRequest(descriptor: descriptor, editingState: EditingState())
    let parts = try RowQuery(request, in: store, sorted: true).parts(.rows)
    let part = try #require(parts.first)
    isExact = part.isExact
    let explanation = Statement(
      "EXPLAIN (ANALYZE, FORMAT JSON) " + part.statement.sql,
      part.statement.parameters
    )
    plan = try store.pool.withConnection { try $0.run([explanation])[0].text(0, 0) }
    let roots = try JSONSerialization.jsonObject(with: Data(plan.utf8)) as? [[String: Any]]
    count(try #require(roots?.first?["Plan"] as? [String: Any]))
  }

  private mutating func count(_ node: [String: Any]) {
    func number(_ key: String) -> Int { (node[key] as? NSNumber)?.intValue ?? 0 }
    if node["Relation Name"] != nil {
      let rows = ["Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck"]
      readRowCount += rows.map(number).reduce(0, +) * number("Actual Loops")
    }
    for child in node["Plans"] as? [[String: Any]] ?? [] { count(child) }
  }
}
