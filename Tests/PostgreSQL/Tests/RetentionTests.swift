import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Suite struct `The partitions of the history on a PostgreSQL server` {
  private let namespace: TestNamespace
  private let session: ServerSession

  init() throws {
    namespace = try TestNamespace()
    session = try ServerSession(namespace.configuration.url)
  }

  private func open(age: Duration? = nil) throws -> (store: PostgresStore, context: ModelContext) {
    var configuration = namespace.configuration
    configuration.historyPartitionWidth = 8...8
    configuration.historyAge = age
    let container = try ModelContainer(
      for: Schema([Leg.self, Journey.self]),
      configurations: [configuration]
    )
    let store = try #require(container.stores(of: PostgresStore.self).first)
    // The first look after an opening would make partitions beside those that a test makes.
    store.historyKeeper.settle()
    return (store, ModelContext(container))
  }

  private func save(_ count: Int, in context: ModelContext) throws {
    for number in 0..<count {
      context.insert(Leg("\(number)"))
      try context.save()
    }
  }

  private func name(_ table: String) -> String { "\"\(namespace.name)\".\"\(table)\"" }

  /// How many saves the history has.
  private func commitCount() throws -> Int {
    try session.integer("SELECT count(*) FROM \(name("_logstore_commit")) WHERE xid > 0")
  }

  private func partitions() throws -> [String] {
    let list = try session.text(
      "SELECT string_agg(c.relname, ' ' ORDER BY c.oid) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
        + "WHERE i.inhparent = '\(name("_logstore_change"))'::regclass"
    )
    return (list ?? "").split(separator: " ").map(String.init)
  }

  private func count(_ table: String) throws -> Int {
    try session.integer("SELECT count(*) FROM \(name(table))")
  }

  /// Waits until every save so far is part of the history: transactions of other tests hold it back.
  private func waitForHistory(_ count: Int, of context: ModelContext) throws {
    while try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).count < count {}
  }

  private func keepAhead(_ store: PostgresStore) throws {
    _ = try store.pool.withConnection(store.historyKeeper.work)
  }

  @Test func `are made ahead, and are dropped with what is deleted`() throws {
    let (store, context) = try open()
    #expect(try partitions().count == 2)
    // The first one spans more than this server has transactions.
    let first = try #require(try partitions().first { $0.hasPrefix("_logstore_change_0_") })
    try session.run("ALTER TABLE \(name("_logstore_change")) DETACH PARTITION \(name(first))")
    try session.run("DROP TABLE \(name(first))")
    try save(3, in: context)
    // No partition had a place for them.
    #expect(try count("_logstore_change_rest") == 3)
    let next = try session.integer("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    try session.run(
      "CREATE TABLE \(name("_logstore_change_\(next)_\(next + 4)")) PARTITION OF \(name("_logstore_change")) "
        + "FOR VALUES FROM (\(next)) TO (\(next + 4))"
    )
    var saved = 3
    while try partitions().count < 6 {
      try save(1, in: context)
      saved += 1
      try? keepAhead(store)
    }
    try waitForHistory(saved, of: context)
    let last = try session.integer("SELECT max(xid) FROM \(name("_logstore_commit"))")
    let ended = try partitions().compactMap(HistoryPartitions.Partition.init)
      .filter { $0.upper <= last }.map(\.name)
    #expect(!ended.isEmpty)
    #expect(try count("_logstore_change") == saved)
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try count("_logstore_change") == 0)
    // Older transactions of other tests may keep partitions for a while.
    while try partitions().contains(where: ended.contains) { try keepAhead(store) }
    #expect(try commitCount() == 0)
    try save(2, in: context)
    try waitForHistory(2, of: context)
    #expect(try count("Leg") == saved + 2)
  }

  @Test func `are made again when all have ended and were dropped`() throws {
    let (store, context) = try open()
    for partition in try partitions().compactMap(HistoryPartitions.Partition.init) {
      try session.run("DROP TABLE \(name(partition.name))")
    }
    while try partitions().count < 3 {
      try save(1, in: context)
      try? keepAhead(store)
    }
    let saved = try count("_logstore_commit")
    #expect(try count("_logstore_change") == saved)
    try waitForHistory(saved, of: context)
  }

  @Test func `are made later when the session was lost in which they would have been`() throws {
    let store = try open().store
    for partition in try partitions().compactMap(HistoryPartitions.Partition.init) {
      try session.run("DROP TABLE \(name(partition.name))")
    }
    // The pool has no session that lives; nothing was saved, of which a bell would tell in one.
    let others =
      "FROM pg_stat_activity WHERE application_name = '\(namespace.name)' AND pid <> pg_backend_pid()"
    try session.run("SELECT pg_terminate_backend(pid) \(others)")
    while try session.integer("SELECT count(*) \(others)") > 0 {}
    let next = try session.integer("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    let number = Int64(next) + 1_000_000
    store.historyKeeper.notice(number)
    store.historyKeeper.settle()
    #expect(try partitions() == ["_logstore_change_rest"])
    // Some thousands of transactions later; not only one session may have been lost.
    for step in 1...9 as ClosedRange<Int64> {
      store.historyKeeper.notice(number + step * 20_000)
      store.historyKeeper.settle()
    }
    #expect(try partitions().count > 1)
  }

  @Test func `get the changes of a save that waits while one is made for them`() throws {
    let (store, context) = try open()
    store.historyKeeper.settle()
    for partition in try partitions().compactMap(HistoryPartitions.Partition.init) {
      try session.run("DROP TABLE \(name(partition.name))")
    }
    let next = try session.integer("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
    let partition = "_logstore_change_\(next)_\(next + 1_000_000)"
    try session.run("BEGIN")
    try session.run(
      "CREATE TABLE \(name(partition)) PARTITION OF \(name("_logstore_change")) "
        + "FOR VALUES FROM (\(next)) TO (\(next + 1_000_000))"
    )
    let (errors, done) = (Errors(), DispatchSemaphore(value: 0))
    let saving = Saving(context: context)
    // The server has chosen the default partition for the change by the time it waits.
    Thread.detachNewThread {
      errors.collect {
        saving.context.insert(Leg("a"))
        try saving.context.save()
      }
      done.signal()
    }
    let watching = try ServerSession(namespace.server.url)
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)' AND wait_event_type = 'Lock'"
    while try watching.integer(waiting) == 0 {}
    try session.run("COMMIT")
    done.wait()
    #expect(errors.all.map { "\($0)" } == [])
    #expect(try count(partition) == 1)
    #expect(try count("_logstore_commit") == 1)
    #expect(try count("Leg") == 1)
  }

  private struct Saving: @unchecked Sendable { let context: ModelContext }

  @Test func `keep what is not deleted`() throws {
    let (store, context) = try open()
    try save(3, in: context)
    context.author = "Ann"
    try save(3, in: context)
    try waitForHistory(6, of: context)
    try context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "Ann" })
    )
    try keepAhead(store)
    let rest = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(rest.map(\.author) == [nil, nil, nil])
    #expect(rest.map(\.changes.count) == [1, 1, 1])
    #expect(try count("_logstore_change") == 3)
  }

  @Test func `lose what is older than the configuration says`() throws {
    let (store, context) = try open(age: .seconds(3600))
    try save(4, in: context)
    try waitForHistory(4, of: context)
    try session.run(
      "UPDATE \(name("_logstore_commit")) SET at = at - interval '2 hours' WHERE xid IN "
        + "(SELECT xid FROM \(name("_logstore_commit")) ORDER BY xid LIMIT 3)"
    )
    let token = try #require(
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).first?.token
    )
    while try commitCount() > 1 { try keepAhead(store) }
    #expect(try count("_logstore_change") == 1)
    let later = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > token }
    )
    #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(later) }
  }

  @Test func `leave the names of saves for as long as one may be sent again`() throws {
    let (store, context) = try open()
    context.author = "Ann"
    try save(3, in: context)
    try waitForHistory(3, of: context)
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).isEmpty)
    #expect(try commitCount() == 0)
    #expect(try count("_logstore_commit") == 3)
    #expect(try session.text("SELECT max(author) FROM \(name("_logstore_commit"))") == nil)
    try keepAhead(store)
    #expect(try count("_logstore_commit") == 3)
    try session.run("UPDATE \(name("_logstore_commit")) SET at = at - interval '2 hours'")
    try keepAhead(store)
    #expect(try count("_logstore_commit") == 0)
  }

  @Test func `are never read in part while they are dropped`() throws {
    let (_, context) = try open()
    let errors = Errors()
    let group = DispatchGroup()
    group.enter()
    let container = try open().context.container
    Thread.detachNewThread {
      errors.collect {
        let deleting = ModelContext(container)
        for _ in 0..<60 {
          for number in 0..<4 {
            deleting.insert(Leg("\(number)"))
            try deleting.save()
          }
          try deleting.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        }
      }
      group.leave()
    }
    while group.wait(timeout: .now()) == .timedOut {
      let found = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      #expect(found.allSatisfy { $0.changes.count == 1 }, "\(found.map(\.changes.count))")
    }
    #expect(errors.all.map { "\($0)" } == [])
  }

  @Test func `are brought to a namespace of format 1`() throws {
    try makeFormat1()
    try session.run("GRANT SELECT, INSERT ON \(name("_logstore_change")) TO PUBLIC")
    let container = try ModelContainer(
      for: Schema(versionedSchema: HikersV1.self),
      configurations: [namespace.configuration]
    )
    let context = ModelContext(container)
    #expect(
      try session.text("SELECT value FROM \(name("_logstore_meta")) WHERE key = 'format'") == "2"
    )
    #expect(try partitions().count == 3)
    #expect(
      try session.text(
        "SELECT relacl::text FROM pg_class WHERE oid = '\(name("_logstore_change"))'::regclass"
      )?.contains("=ar/") == true
    )
    context.insert(HikersV1.Hut("Pass"))
    try context.save()
    try waitForHistory(2, of: context)
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.map(\.transactionIdentifier).first == 700)
    #expect(history.map(\.changes.count) == [11, 1])
    #expect(try context.fetch(FetchDescriptor<HikersV1.Hiker>()).count == 3)
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try count("_logstore_change") == 0)
  }

  @Test func `are left to a role that owns the tables`() throws {
    try makeFormat1()
    let role = "r" + namespace.name.dropFirst()
    try session.run("CREATE ROLE \(role) LOGIN")
    defer {
      try? session.run("DROP OWNED BY \(role)")
      try? session.run("DROP ROLE \(role)")
    }
    try session.run("GRANT USAGE ON SCHEMA \"\(namespace.name)\" TO \(role)")
    try session.run("GRANT USAGE ON ALL SEQUENCES IN SCHEMA \"\(namespace.name)\" TO \(role)")
    try session.run(
      "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"\(namespace.name)\" TO \(role)"
    )
    let configuration = PostgresStoreConfiguration(
      url: namespace.configuration.url.replacing("user=postgres", with: "user=\(role)"),
      namespace: namespace.name
    )
    for format in ["1", "2"] {
      let context = ModelContext(
        try ModelContainer(
          for: Schema(versionedSchema: HikersV1.self),
          configurations: [configuration]
        )
      )
      #expect(
        try session.text("SELECT value FROM \(name("_logstore_meta")) WHERE key = 'format'")
          == format
      )
      context.insert(HikersV1.Hut("Pass"))
      try context.save()
      // The first time what the older version saved is there, too.
      try waitForHistory(format == "1" ? 2 : 1, of: context)
      try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      #expect(try count("_logstore_change") == 0)
      _ = try ModelContainer(
        for: Schema(versionedSchema: HikersV1.self),
        configurations: [namespace.configuration]
      )
    }
  }

  /// Makes the namespace as an older version has left it.
  private func makeFormat1() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/format1.sql")
    let text = try String(contentsOf: file, encoding: .utf8)
      .replacing("NAMESPACE", with: namespace.name)
    for statement in text.split(separator: ";\n") { try session.run(String(statement)) }
  }
}
