import Foundation
import ModelRuntime
@testable import PostgresStore
import Testing

@Suite struct `The history on a PostgreSQL server` {
  /// The history, once it has so many transactions.
  private func history(
    _ count: Int,
    _ predicate: Predicate<DefaultHistoryTransaction>? = nil,
    of context: ModelContext
  ) throws -> [DefaultHistoryTransaction] {
    while true {
      let found = try context.fetchHistory(HistoryDescriptor(predicate: predicate))
      if found.count >= count { return found }
    }
  }

  @Test func `tells inserts, changes and deletes with what they left`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    context.author = "Ann"
    let journey = Journey("a", title: "North")
    context.insert(journey)
    try context.save()
    journey.title = "South"
    try context.save()
    context.delete(journey)
    try context.save()
    let transactions = try history(3, of: ModelContext(container))
    #expect(transactions.map(\.author) == ["Ann", "Ann", "Ann"])
    let changes = transactions.flatMap(\.changes)
    guard changes.count == 3, case .insert = changes[0], case .update(let update) = changes[1],
      case .delete(let delete) = changes[2]
    else {
      Issue.record("\(changes)")
      return
    }
    let title = try #require((update as? DefaultHistoryUpdate<Journey>)?.updatedAttributes.first)
    #expect(title as AnyKeyPath == \Journey.title as AnyKeyPath)
    let tombstone = try #require(delete as? DefaultHistoryDelete<Journey>).tombstone
    #expect(tombstone[\.title] as? String == "South")
  }

  @Test func `goes on behind a token`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    for number in 0..<5 {
      context.insert(Leg("\(number)"))
      try context.save()
    }
    let all = try history(5, of: context)
    #expect(all.count == 5)
    let token = all[2].token
    let later = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > token }
    )
    #expect(try context.fetchHistory(later).map(\.token) == all[3...].map(\.token))
  }

  @Test func `that was deleted makes older tokens expire`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    for number in 0..<3 {
      context.insert(Leg("\(number)"))
      try context.save()
    }
    let all = try history(3, of: context)
    let (first, second) = (all[0].token, all[1].token)
    try context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= second })
    )
    let after = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > first }
    )
    #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(after) }
    let rest = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > second }
    )
    #expect(try context.fetchHistory(rest).count == 1)
  }

  @Test func `misses nobody who commits late`() throws {
    let namespace = try TestNamespace()
    let containers = try (0..<4).map { _ in try namespace.container(Journey.self, Leg.self) }
    let errors = Errors()
    let reader = ModelContext(try namespace.container(Journey.self, Leg.self))
    let group = DispatchGroup()
    for writer in 0..<4 {
      group.enter()
      Thread.detachNewThread {
        errors.collect {
          for round in 0..<40 {
            let context = ModelContext(containers[writer])
            for member in 0...(round % 7) { context.insert(Leg("\(writer) \(round) \(member)")) }
            try context.save()
          }
        }
        group.leave()
      }
    }
    var token: DefaultHistoryToken?
    var seen: [PersistentIdentifier] = []
    func read() throws {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      if let token { descriptor.predicate = #Predicate { $0.token > token } }
      let transactions = try reader.fetchHistory(descriptor)
      token = transactions.last?.token ?? token
      seen += transactions.flatMap(\.changes).map(\.changedPersistentIdentifier)
    }
    while group.wait(timeout: .now()) == .timedOut { try read() }
    let legs = try reader.fetch(FetchDescriptor<Leg>()).map(\.persistentModelID)
    while seen.count < legs.count { try read() }
    #expect(errors.all.map { "\($0)" } == [])
    #expect(seen.count == legs.count)
    #expect(Set(seen) == Set(legs))
  }

  /// Where the history ends for a session.
  private func horizon(
    _ namespace: TestNamespace,
    of store: PostgresStore,
    _ preparation: String...
  ) throws -> Int64 {
    let session = try Connection(namespace.server.url, applicationName: "test", RoundTripCounter())
    for statement in preparation { _ = try session.run([Statement(statement)]) }
    return try HistoryHorizon(namespace.name, store: store.identifier).read(session)
  }

  @Test func `waits for no transaction that goes on elsewhere on the server`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let context = ModelContext(container)
    let other = try ServerSession(namespace.server.url)
    try other.run("BEGIN")
    try other.run("CREATE TABLE \(namespace.name)_elsewhere (n bigint)")
    let number = Int64(try other.integer("SELECT pg_current_xact_id()::text::bigint"))
    context.insert(Leg("here"))
    try context.save()
    #expect(try horizon(namespace, of: store) > number)
    let everything = HistoryDescriptor<DefaultHistoryTransaction>()
    #expect(try context.fetchHistory(everything).map(\.changes.count) == [1])
    // To a session that is not shown the locks, the other one may be a save.
    #expect(
      try horizon(
        namespace,
        of: store,
        "SET search_path = pg_temp, pg_catalog",
        "CREATE TEMP TABLE pg_locks ()"
      )
        <= number
    )
    try context.deleteHistory(everything)
    #expect(try context.fetchHistory(everything).isEmpty)
    try other.run("ROLLBACK")
  }

  /// What a transaction may have done that is going to be a save, and has a number.
  enum Beginning: CaseIterable {
    case announced, hasRead, hasTurn, migrates

    func statements(_ namespace: String, _ store: PostgresStore) -> [String] {
      let announcement = "INSERT INTO \(namespace)._logstore_commit (id) VALUES (gen_random_uuid())"
      func lock(_ name: String) -> String {
        "SELECT pg_advisory_xact_lock(hashtextextended('\(name)', 0))"
      }
      let undone = ["SAVEPOINT save", announcement, "ROLLBACK TO SAVEPOINT save"]
      return switch self {
      case .announced: [announcement]
      case .hasRead: ["SELECT FROM \(namespace)._logstore_meta", "SELECT pg_current_xact_id()"]
      case .hasTurn: [lock(Turn.lockName(store.identifier))] + undone
      case .migrates: [lock(StoreCatalogue.lockName(namespace))] + undone
      }
    }
  }

  @Test(arguments: Beginning.allCases)
  func `waits for a transaction that may be a save`(beginning: Beginning) throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let context = ModelContext(container)
    let other = try ServerSession(namespace.server.url)
    try other.run("BEGIN")
    for statement in beginning.statements(namespace.name, store) { try other.run(statement) }
    context.insert(Leg("later"))
    try context.save()
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).isEmpty)
    try other.run("COMMIT")
    #expect(try history(1, of: context).last?.changes.count == 1)
  }

  /// Saves with the numbers 1 to 600, of which the fifth is Ann's: older than any transaction of the server.
  private func addSaves(to namespace: TestNamespace) throws {
    try ServerSession(namespace.server.url).run(
      "INSERT INTO \(namespace.name)._logstore_commit (id, xid, author) SELECT gen_random_uuid(), n, "
        + "CASE n WHEN 5 THEN 'Ann' END FROM generate_series(1, 600) AS n"
    )
  }

  @Test func `is read from its end where the newest saves are asked for`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let context = ModelContext(container)
    try addSaves(to: namespace)
    var newest = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)]
    )
    newest.fetchLimit = 1
    let before = store.roundTripCount
    let found = try context.fetchHistory(newest)
    // Where the history ends, how it is, and a page.
    #expect(store.roundTripCount - before <= 4)
    #expect(found.map(\.transactionIdentifier) == [600])
    newest.fetchLimit = 3
    let token = try #require(found.first?.token)
    newest.predicate = #Predicate { $0.token < token }
    #expect(try context.fetchHistory(newest).map(\.transactionIdentifier) == [599, 598, 597])
  }

  @Test func `is the same from both ends`() throws {
    let namespace = try TestNamespace()
    let context = ModelContext(try namespace.container(Journey.self, Leg.self))
    try addSaves(to: namespace)
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    let forward = try context.fetchHistory(descriptor).map(\.transactionIdentifier)
    #expect(forward == Array(1...600))
    descriptor.sortBy = [SortDescriptor(\.transactionIdentifier, order: .reverse)]
    #expect(try context.fetchHistory(descriptor).map(\.transactionIdentifier) == forward.reversed())
    descriptor.predicate = #Predicate { $0.author == "Ann" }
    descriptor.fetchLimit = 2
    #expect(try context.fetchHistory(descriptor).map(\.transactionIdentifier) == [5])
    descriptor.predicate = #Predicate { $0.transactionIdentifier > 20 }
    descriptor.fetchLimit = 550
    let last = try context.fetchHistory(descriptor).map(\.transactionIdentifier)
    #expect(last == Array((51...600).reversed()))
  }
}
