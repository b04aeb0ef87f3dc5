import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Suite struct `Old history on a PostgreSQL server` {
  private let namespace: TestNamespace
  private let session: ServerSession

  init() throws {
    namespace = try TestNamespace()
    session = try ServerSession(namespace.server.url)
  }

  private func open() throws -> (store: PostgresStore, context: ModelContext) {
    var configuration = namespace.configuration
    configuration.historyAge = .seconds(3600)
    configuration.historySliceSize = 3
    let container = try ModelContainer(
      for: Schema([Leg.self, Journey.self]),
      configurations: [configuration]
    )
    let store = try #require(container.stores(of: PostgresStore.self).first)
    store.historyKeeper.settle()
    return (store, ModelContext(container))
  }

  private func name(_ table: String) -> String { "\(namespace.name).\(table)" }

  /// Adds transactions from 1 on, which are older than any of the server and than the store keeps, with a change each.
  private func addOldTransactions(_ count: Int) throws {
    let numbers = "generate_series(1, \(count)) AS n"
    try session.run(
      "INSERT INTO \(name("_logstore_commit")) (id, xid, at) "
        + "SELECT gen_random_uuid(), n, now() - interval '2 hours' FROM \(numbers)"
    )
    try session.run(
      "INSERT INTO \(name("_logstore_change")) (xid, ordinal, row, kind) SELECT n, 0, n, 'insert' FROM \(numbers)"
    )
  }

  private func numbers(in table: String) throws -> String? {
    try session.text("SELECT string_agg(xid::text, ' ' ORDER BY xid) FROM \(name(table))")
  }

  /// Has something done for each row of a table that is deleted.
  private func atDeletion(from table: String, _ body: String) throws {
    let function = name("note\(table)()")
    try session.run(
      "CREATE FUNCTION \(function) RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \(body); RETURN OLD; END $$"
    )
    try session.run(
      "CREATE TRIGGER note BEFORE DELETE ON \(name(table)) FOR EACH ROW EXECUTE FUNCTION \(function)"
    )
  }

  enum Way: CaseIterable { case keeper, request }

  @Test(arguments: Way.allCases)
  func `is deleted in short transactions, which hold nobody's news back`(_ way: Way) throws {
    let (store, context) = try open()
    try addOldTransactions(8)
    try session.run("CREATE TABLE \(name("deletion")) (transaction xid8, xid bigint)")
    try atDeletion(
      from: "_logstore_commit",
      "INSERT INTO \(name("deletion")) VALUES (pg_current_xact_id(), OLD.xid)"
    )
    switch way {
    case .keeper: _ = try store.pool.withConnection(store.historyKeeper.work)
    case .request: try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    let slices = try session.texts(
      "SELECT string_agg(xid::text, ' ' ORDER BY xid) FROM \(name("deletion")) "
        + "GROUP BY transaction ORDER BY min(xid)"
    )
    #expect(slices == ["1 2 3", "4 5 6", "7 8"])
    #expect(try numbers(in: "_logstore_commit") == nil)
    #expect(try numbers(in: "_logstore_change") == nil)
  }

  @Test func `is deleted no further when the store is closed, and by the next one`() throws {
    let store = try open().store
    try addOldTransactions(9)
    let holding = try ServerSession(namespace.server.url)
    try holding.run("BEGIN")
    try holding.run("SELECT 1 FROM \(name("_logstore_commit")) WHERE xid = 5 FOR UPDATE")
    store.historyKeeper.begin()
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)' AND wait_event_type = 'Lock'"
    while try session.integer(waiting) == 0 {}
    try store.close()
    try holding.run("ROLLBACK")
    store.historyKeeper.settle()
    #expect(try numbers(in: "_logstore_commit") == "7 8 9")
    #expect(try numbers(in: "_logstore_change") == "7 8 9")
    _ = try open()
    #expect(try numbers(in: "_logstore_commit") == nil)
    #expect(try numbers(in: "_logstore_change") == nil)
  }

  @Test func `is dropped with its partition, whose rows no slice visits`() throws {
    let store = try open().store
    let first = try #require(
      try session.text(
        "SELECT relname FROM pg_class WHERE relnamespace = '\(namespace.name)'::regnamespace "
          + "AND relname LIKE '\\_logstore\\_change\\_0\\_%' AND relkind = 'r'"
      )
    )
    try session.run("DROP TABLE \(name(first))")
    for bounds in [(1, 6), (6, 12)] {
      try session.run(
        "CREATE TABLE \(name("_logstore_change_\(bounds.0)_\(bounds.1)")) PARTITION OF \(name("_logstore_change")) "
          + "FOR VALUES FROM (\(bounds.0)) TO (\(bounds.1))"
      )
    }
    try addOldTransactions(9)
    // One of the second partition is young.
    try session.run("UPDATE \(name("_logstore_commit")) SET at = now() WHERE xid = 8")
    try atDeletion(
      from: "_logstore_change",
      "IF OLD.xid < 6 THEN RAISE 'the partition is dropped'; END IF"
    )
    _ = try store.pool.withConnection(store.historyKeeper.work)
    #expect(try numbers(in: "_logstore_commit") == "8")
    #expect(try numbers(in: "_logstore_change") == "8")
    #expect(try session.text("SELECT to_regclass('\(name("_logstore_change_1_6"))')::text") == nil)
  }
}
