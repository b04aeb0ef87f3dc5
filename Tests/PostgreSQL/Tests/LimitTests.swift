import Foundation
import ModelRuntime
@testable import PostgresStore
import Testing

@Suite struct `Statements that take too long` {
  private static let limit = Duration.milliseconds(40)
  private let namespace: TestNamespace

  init() throws { namespace = try TestNamespace() }

  private func open(_ limit: Duration? = Self.limit) throws -> ModelContainer {
    var configuration = namespace.configuration
    configuration.statementTimeout = limit
    return try ModelContainer(
      for: Schema([Journey.self, Leg.self]),
      configurations: [configuration]
    )
  }

  private func blocking(_ table: String, _ body: () throws -> Void) throws {
    let blocker = try ServerSession(namespace.server.url)
    try blocker.run("BEGIN")
    try blocker.run("LOCK TABLE \(namespace.name).\"\(table)\" IN ACCESS EXCLUSIVE MODE")
    try body()
    try blocker.run("ROLLBACK")
  }

  @Test func `end a fetch with the limit, and the next one is answered`() throws {
    let container = try open()
    let context = ModelContext(container)
    try blocking("Leg") {
      #expect(throws: PostgresStoreError.statementTimedOut(limit: Self.limit)) {
        try context.fetch(FetchDescriptor<Leg>())
      }
    }
    #expect(try context.fetchCount(FetchDescriptor<Leg>()) == 0)
    let text = "\(PostgresStoreError.statementTimedOut(limit: Self.limit))"
    #expect(text.contains("statementTimeout, 0.04 seconds"))
  }

  @Test(arguments: [false, true])
  func `end a save, of which nothing is kept until it is tried again`(isUnique: Bool) throws {
    let container = try open()
    let context = ModelContext(container)
    // A save that is decided by the server is one round trip, any other has several.
    if isUnique { context.insert(Journey("a")) } else { context.insert(Leg("a")) }
    try blocking(isUnique ? "Journey" : "Leg") {
      #expect(throws: PostgresStoreError.statementTimedOut(limit: Self.limit)) {
        try context.save()
      }
    }
    let other = ModelContext(container)
    func count() throws -> Int {
      try other.fetchCount(FetchDescriptor<Leg>())
        + other.fetchCount(FetchDescriptor<Journey>())
    }
    #expect(try count() == 0)
    try context.save()
    #expect(try count() == 1)
    let commits = "SELECT count(*) FROM \(namespace.name)._logstore_commit"
    #expect(try ServerSession(namespace.server.url).integer(commits) == 1)
  }

  @Test func `are limited without another round trip`() throws {
    func roundTrips(_ container: ModelContainer) throws -> [Int] {
      let store = try #require(container.stores(of: PostgresStore.self).first)
      let context = ModelContext(container)
      // The first save takes a block of keys.
      context.insert(Leg("a"))
      context.insert(Journey("\(UUID())"))
      try context.save()
      var counts = [store.roundTripCount]
      func note() { counts.append(store.roundTripCount) }
      context.insert(Leg("b"))
      try context.save()
      note()
      context.insert(Journey("\(UUID())"))
      try context.save()
      note()
      _ = try context.fetch(FetchDescriptor<Leg>(predicate: #Predicate { $0.place == "b" }))
      note()
      return zip(counts.dropFirst(), counts).map(-)
    }
    #expect(try roundTrips(open()) == roundTrips(open(nil)))
  }

  @Test func `leave the settings of their session alone`() throws {
    let container = try open()
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let context = ModelContext(container)
    context.insert(Journey("a"))
    try context.save()
    _ = try context.fetch(FetchDescriptor<Journey>())
    let setting = Statement("SHOW statement_timeout")
    // Within the transaction it is there, and behind it is not.
    try store.pool.withConnection { connection in
      #expect(try connection.run([setting])[0].text(0, 0) == "40ms")
      #expect(try connection.run([.begin, setting, .commit])[1].text(0, 0) == "40ms")
      let isLeft = try connection.withoutLimit { try connection.run([setting])[0].text(0, 0) }
      #expect(isLeft == "0")
    }
  }

  @Test func `are not those that make and change tables`() throws {
    _ = try open()
    let session = try ServerSession(namespace.server.url)
    let blocker = try ServerSession(namespace.server.url)
    try blocker.run("BEGIN")
    try blocker.run(
      "SELECT pg_advisory_xact_lock(hashtextextended('logstore \(namespace.name)', 0))"
    )
    let errors = Errors()
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      errors.collect { _ = try open() }
      done.signal()
    }
    // Another process opens the store, and waits for longer than the limit.
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' "
      + "AND application_name = '\(namespace.name)' AND query_start < clock_timestamp() - interval '100 ms'"
    while errors.all.isEmpty, try session.integer(waiting) == 0 {}
    try blocker.run("ROLLBACK")
    done.wait()
    #expect(errors.all.map { "\($0)" } == [])
  }

  @Test(arguments: [Duration.zero, .microseconds(999), .seconds(-1)])
  func `have a limit that the server can measure`(limit: Duration) throws {
    #expect(throws: PostgresStoreError.unusableTimeout(limit)) { try open(limit) }
  }

  /// Has the server refuse to change the commits of the history while there is a limit.
  private func refuseUnderLimit() throws {
    let session = try ServerSession(namespace.server.url)
    let function = "\(namespace.name).refuse_under_limit()"
    try session.run(
      "CREATE FUNCTION \(function) RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        + "IF current_setting('statement_timeout') <> '0' THEN RAISE 'there is a limit'; END IF; "
        + "RETURN COALESCE(NEW, OLD); END $$"
    )
    try session.run(
      "CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON \(namespace.name)._logstore_commit "
        + "FOR EACH ROW EXECUTE FUNCTION \(function)"
    )
    // Older than any transaction of the server.
    try session.run(
      "INSERT INTO \(namespace.name)._logstore_commit (id, xid, at) SELECT gen_random_uuid(), n, "
        + "now() - n * interval '2 hours' FROM generate_series(1, 9) AS n"
    )
  }

  @Test func `are not those that keep the history short`() throws {
    var configuration = namespace.configuration
    configuration.statementTimeout = .seconds(600)
    configuration.historyAge = .seconds(9 * 3600)
    let container = try ModelContainer(
      for: Schema([Journey.self, Leg.self]),
      configurations: [configuration]
    )
    let store = try #require(container.stores(of: PostgresStore.self).first)
    store.historyKeeper.settle()
    try refuseUnderLimit()
    _ = try store.pool.withConnection(store.historyKeeper.work)
    let session = try ServerSession(namespace.server.url)
    let count = "SELECT count(*) FROM \(namespace.name)._logstore_commit"
    #expect(try session.integer(count) == 4)
    try ModelContext(container).deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try session.integer(count) == 0)
  }
}
