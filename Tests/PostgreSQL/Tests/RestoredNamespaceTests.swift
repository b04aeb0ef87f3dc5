import Foundation
@testable import ModelRuntime
@testable import PostgresStore
import Testing

/// A dump has the numbers of its server's transactions, and the server that it is restored on comes to them later.
@Suite struct `A namespace from the dump of another PostgreSQL server` {
  private let namespace: TestNamespace
  private let session: ServerSession

  init() throws {
    namespace = try TestNamespace()
    session = try ServerSession(namespace.url)
  }

  private func open() throws -> ModelContext {
    ModelContext(try namespace.container(Journey.self, Leg.self))
  }

  private func name(_ table: String) -> String { "\"\(namespace.name)\".\"\(table)\"" }

  /// Makes the history one of a server that has counted further than this one.
  private func moveHistoryAhead(deletingSome: Bool) throws {
    let next = try session.integer("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    try session.run(
      "INSERT INTO \(name("_logstore_commit")) (id, xid) "
        + "SELECT gen_random_uuid(), n FROM generate_series(\(next + 2), \(next + 5000)) AS n"
    )
    try session.run(
      "INSERT INTO \(name("_logstore_change")) (xid, ordinal, row, kind) "
        + "SELECT n, 0, 1, 'insert' FROM generate_series(\(next + 2), \(next + 5000)) AS n"
    )
    if deletingSome {
      try session.run(
        "INSERT INTO \(name("_logstore_meta")) VALUES ('history.deleted', '\(next + 90000)')"
      )
    }
  }

  private func history(
    _ context: ModelContext,
    after token: DefaultHistoryToken? = nil
  ) throws -> [DefaultHistoryTransaction] {
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
    if let token { descriptor.predicate = #Predicate { $0.token > token } }
    return try context.fetchHistory(descriptor)
  }

  @Test(arguments: [false, true])
  func `is saved to, and begins a history of its own`(deletingSome: Bool) throws {
    let before = try open()
    before.insert(Leg("old"))
    try before.save()
    let token = try #require(try history(before).last?.token)
    try moveHistoryAhead(deletingSome: deletingSome)
    let context = try open()
    #expect(try context.fetchCount(FetchDescriptor<Leg>()) == 1)
    for number in 0..<5 {
      context.insert(Leg("\(number)"))
      try context.save()
    }
    while try history(context).count < 5 {}
    let own = try history(context)
    #expect(own.count == 5)
    #expect(own.allSatisfy { $0.changes.count == 1 })
    #expect(try history(context, after: own[1].token).count == 3)
    let error = #expect(throws: SwiftDataError.self) { try history(context, after: token) }
    #expect(error == .historyTokenExpired)
    // Opened again, it keeps the history that is its own.
    #expect(try history(try open(), after: own[1].token).count == 3)
  }

  @Test func `has partitions for the transactions of its new server`() throws {
    let before = try open()
    let store = try #require(before.container.stores(of: PostgresStore.self).first)
    store.historyKeeper.settle()
    try store.close()
    // The first ones of the other server were dropped with what was in them.
    let partition =
      "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
      + "WHERE i.inhparent = '\(name("_logstore_change"))'::regclass ORDER BY 1"
    for name in try session.texts(partition) where !name.hasSuffix("_rest") {
      try session.run("DROP TABLE \(self.name(name))")
    }
    let next = try session.integer("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    for (lower, upper) in [(50_000_000, 60_000_000), (60_000_000, 80_000_000)] {
      try session.run(
        "CREATE TABLE \(name("_logstore_change_\(next + lower)_\(next + upper)")) "
          + "PARTITION OF \(name("_logstore_change")) "
          + "FOR VALUES FROM (\(next + lower)) TO (\(next + upper))"
      )
    }
    try moveHistoryAhead(deletingSome: true)
    let restored = try open()
    for number in 0..<3 {
      restored.insert(Leg("\(number)"))
      try restored.save()
    }
    let rest = "SELECT count(*) FROM \(name("_logstore_change_rest"))"
    #expect(try session.integer(rest) == 0)
    #expect(try session.integer("SELECT count(*) FROM \(name("_logstore_change"))") == 3)
    let remaining = try session.texts(partition)
    #expect(!remaining.contains { $0.hasPrefix("_logstore_change_\(next + 50_000_000)") })
    #expect(!remaining.contains { $0.hasPrefix("_logstore_change_\(next + 60_000_000)") })
  }

  @Test func `tells of the saves of others`() async throws {
    _ = try open()
    try moveHistoryAhead(deletingSome: true)
    let listening = try open()
    let store = try #require(listening.container.stores(of: PostgresStore.self).first)
    let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
    let watch = store.observeRemoteSaves { continuation.yield() }
    let saving = try open()
    saving.insert(Leg("new"))
    try saving.save()
    var iterator = arrivals.makeAsyncIterator()
    // Without a notice the test does not end.
    await iterator.next()
    while try history(listening).isEmpty {}
    #expect(try history(listening).count == 1)
    withExtendedLifetime(watch) {}
  }
}
