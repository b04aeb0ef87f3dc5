import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Suite struct `Deletes of many models` {
  @Test func `are told in their order`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    let legs = (0..<500).map { Leg("\($0)") }
    for leg in legs { context.insert(leg) }
    try context.save()
    let inserted = Dictionary(
      uniqueKeysWithValues: legs.map { ($0.persistentModelID, $0.place) }
    )
    for leg in legs.shuffled() { context.delete(leg) }
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<Leg>()) == 0)
    var history: [DefaultHistoryTransaction] = []
    while history.count < 2 {
      history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    let deleted = history[1].changes.map(\.changedPersistentIdentifier)
    #expect(Set(deleted) == Set(inserted.keys))
    let session = try ServerSession(namespace.server.url)
    let ordinals = "SELECT count(DISTINCT ordinal) FROM \(namespace.name)._logstore_change "
    #expect(try session.integer(ordinals + "WHERE kind = 'delete' AND ordinal < 500") == 500)
  }

  @Test func `look for no row among all others`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let table = try #require(store.tables.table(forEntityNamed: "Leg"))
    let run = RowRun(.delete, table, [], dates: [])
    run.add(table.references.lowerBound, 0)
    let statements = run.statements(from: 0, namespace: namespace.name, store.runTexts)
    // A search in the array for each row: half an hour for half a million.
    #expect(statements.allSatisfy { !$0.sql.contains("array_position") })
  }
}
