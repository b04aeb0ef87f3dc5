import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Suite struct `Statements that the server keeps` {
  private let namespace: TestNamespace
  private let store: PostgresStore
  private let container: ModelContainer

  init() throws {
    namespace = try TestNamespace()
    var configuration = namespace.configuration
    // All of it in one session.
    configuration.connectionLimit = 1
    container = try ModelContainer(
      for: Schema([Leg.self, Journey.self]),
      configurations: [configuration]
    )
    store = try #require(container.stores(of: PostgresStore.self).first)
  }

  private func save(_ count: Int) throws {
    for number in 0..<count {
      let context = ModelContext(container)
      let leg = Leg("\(number)")
      context.insert(leg)
      try context.save()
      leg.place = "again \(number)"
      try context.save()
    }
  }

  private func run(_ sql: String) throws {
    _ = try store.pool.withConnection { try $0.run([Statement(sql)]) }
  }

  private func keptCount() throws -> Int {
    let count = Statement("SELECT count(*) FROM pg_prepared_statements WHERE name LIKE 'logstore%'")
    return Int(try store.pool.withConnection { try $0.run([count])[0].integer(0, 0) })
  }

  private func expectLegs(_ count: Int) throws {
    let context = ModelContext(container)
    #expect(try context.fetchCount(FetchDescriptor<Leg>()) == count)
    let again = FetchDescriptor<Leg>(predicate: #Predicate { $0.place.starts(with: "again") })
    #expect(try context.fetchCount(again) == count)
    let session = try ServerSession(namespace.server.url)
    let commits = try session.integer("SELECT count(*) FROM \(namespace.name)._logstore_commit")
    #expect(commits == 2 * count)
  }

  @Test func `are as many after a thousand saves as after a few`() throws {
    try save(2)
    let count = try keptCount()
    #expect(count > 0)
    try save(20)
    #expect(try keptCount() == count)
    try expectLegs(22)
  }

  @Test func `are sent again when the session has lost them`() throws {
    try save(2)
    try run("DEALLOCATE ALL")
    try save(2)
    try expectLegs(4)
    // Not in this session, which was seen to lose them.
    #expect(try keptCount() == 0)
  }

  @Test func `are given up where their names are taken`() throws {
    store.historyKeeper.settle()
    let names = try store.pool.withConnection { connection in
      let result = try connection.run([Statement("SELECT name FROM pg_prepared_statements")])[0]
      return (0..<result.rowCount).map { result.text($0, 0) }
    }
    for name in (1...20).map({ "logstore_\($0)" }) where !names.contains(name) {
      try run("PREPARE \(name) AS SELECT 1")
    }
    try save(2)
    try expectLegs(2)
    #expect(try keptCount() == 20)
  }

  @Test func `need not be there for a turn to begin`() throws {
    try save(2)
    try run("DEALLOCATE ALL")
    // In the session that lost them, or in a new one, while that one rings the bell.
    try store.beginTurn()
    store.endTurn()
    try save(2)
    try expectLegs(4)
  }

  @Test func `serve tables that were altered since`() throws {
    try save(2)
    let session = try ServerSession(namespace.server.url)
    try session.run("ALTER TABLE \(namespace.name).\"Leg\" ADD COLUMN \"note\" text")
    try save(2)
    try session.run("ALTER TABLE \(namespace.name).\"Leg\" DROP COLUMN \"note\"")
    try save(2)
    try expectLegs(6)
  }

  @Test func `are those of fetches, too, from the second time on`() throws {
    func fetch(_ place: String) throws {
      let legs = FetchDescriptor<Leg>(predicate: #Predicate { $0.place == place })
      #expect(try ModelContext(container).fetch(legs).isEmpty)
    }
    let count = try keptCount()
    try fetch("a")
    #expect(try keptCount() == count)
    for place in ["b", "c", "d"] { try fetch(place) }
    #expect(try keptCount() == count + 1)
  }

  @Test func `leave room for those of saves, however many fetches there are`() throws {
    for limit in 1...200 {
      var legs = FetchDescriptor<Leg>()
      legs.fetchLimit = limit
      for _ in 0..<2 { #expect(try ModelContext(container).fetch(legs).isEmpty) }
    }
    let count = try keptCount()
    #expect(count < 200)
    try save(2)
    #expect(try keptCount() > count)
    try expectLegs(2)
  }
}
