import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Suite struct `Saves of graphs on a PostgreSQL server` {
  private let namespace: TestNamespace
  private let session: ServerSession
  private let context: ModelContext

  init() throws {
    namespace = try TestNamespace()
    session = try ServerSession(namespace.url)
    context = ModelContext(try namespace.container(Journey.self, Leg.self))
  }

  /// Number of statements that have written the rows of a table that meet a condition.
  private func statementCount(_ table: String, where condition: String = "true") throws -> Int {
    try session.integer(
      "SELECT count(DISTINCT cmin::text) FROM \"\(namespace.name)\".\"\(table)\" WHERE \(condition)"
    )
  }

  private func insertGraph(_ count: Int) throws -> [Journey] {
    let journeys = (0..<count).map { Journey("\($0)") }
    for journey in journeys {
      context.insert(journey)
      for place in ["a", "b", "c"] {
        let leg = Leg(journey.code + place)
        context.insert(leg)
        leg.journey = journey
      }
    }
    try context.save()
    return journeys
  }

  private func newestChanges() throws -> [HistoryChange] {
    let history = try ModelContext(context.container)
      .fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    return try #require(history.last).changes
  }

  @Test func `are a statement for each class, and the history has them in their order`() throws {
    _ = try insertGraph(60)
    #expect(try statementCount("Journey") == 1)
    #expect(try statementCount("Leg") == 1)
    let names = try newestChanges().map(\.changedPersistentIdentifier.entityName)
    #expect(names == Array(repeating: ["Journey", "Leg", "Leg", "Leg"], count: 60).flatMap(\.self))
  }

  @Test func `change and delete models of several classes in their order`() throws {
    let journeys = try insertGraph(40)
    let legs = journeys.map { journey in journey.legs.sorted { $0.place < $1.place } }
    for (journey, legs) in zip(journeys, legs) {
      journey.title = "title " + journey.code
      legs[0].place += "!"
      legs[1].journey = nil
    }
    try context.save()
    #expect(try statementCount("Leg", where: "place LIKE '%!'") == 1)
    #expect(try statementCount("Journey", where: "title LIKE 'title %'") == 1)
    let own = ModelContext(context.container)
    for journey in try own.fetch(FetchDescriptor<Journey>()) {
      #expect(journey.title == "title " + journey.code)
      #expect(Set(journey.legs.map(\.place)) == [journey.code + "a!", journey.code + "c"])
    }
    for (journey, legs) in zip(journeys, legs).prefix(20) {
      context.delete(legs[2])
      journey.title = "shorter"
      context.insert(Leg(journey.code + "d"))
    }
    try context.save()
    let changes = try newestChanges()
    #expect(changes.count == 60)
    #expect(Set(changes.map(\.changedPersistentIdentifier)).count == 60)
    #expect(try session.integer("SELECT count(*) FROM \"\(namespace.name)\".\"Leg\"") == 120)
    let left = try ModelContext(context.container).fetch(
      FetchDescriptor<Leg>(sortBy: [SortDescriptor(\.place)])
    )
    #expect(left.count { $0.place.hasSuffix("d") } == 20)
    #expect(left.count { $0.place.hasSuffix("c") } == 20)
  }
  @Test func `make two changes of a row one after the other`() throws {
    let store = try #require(context.container.stores(of: PostgresStore.self).first)
    let rows = try ["Journey", "Leg"].map {
      try #require(store.tables.table(forEntityNamed: $0)).references.lowerBound
    }
    let batch = SaveBatch(store.tables, namespace: namespace.name, store.runTexts)
    for row in rows + rows { batch.delete(row) }
    try batch.finish()
    #expect(batch.changes.map(\.rows.count) == [1, 1, 1, 1])
    #expect(batch.rowCount == 4)
  }
}
