import FaultProxy
import Foundation
import ModelRuntime
@testable import PostgresFaults
@testable import PostgresStore
import Synchronization
import Testing

@Suite(.enabled(if: TestServer.isOwn, "a proxy stands before a server of the tests' own"))
struct `A PostgreSQL store behind a proxy` {
  private let proxy: FaultProxy
  private let namespace: TestNamespace

  init() throws {
    let folder = try #require(try TestServer.shared.get().folder)
    let place = "/tmp/logstore-proxy-\(UUID().uuidString.prefix(8))"
    proxy = try FaultProxy(in: place, to: folder, seed: 1)
    namespace = try TestNamespace(by: FaultyServer.url(in: place))
  }

  private func open(
    budget: Duration = .seconds(600),
    idleLimit: Duration = .seconds(600)
  ) throws -> ModelContainer {
    var configuration = namespace.configuration
    configuration.reconnectBudget = budget
    configuration.idleLimit = idleLimit
    let container = try ModelContainer(
      for: Schema([Journey.self, Leg.self]),
      configurations: [configuration]
    )
    // Then a save asks for nothing before it begins. No save comes first, whose bell would ring some time later.
    let store = try #require(container.stores(of: PostgresStore.self).first)
    // Otherwise a fault could strike the session that looks after the history.
    store.historyKeeper.settle()
    for entity in ["Journey", "Leg"] {
      _ = try store.reserveKeys(1, inTable: #require(store.table(forEntityNamed: entity)))
    }
    return container
  }

  private func commitCount() throws -> Int {
    try ServerSession(namespace.server.url).integer(
      "SELECT count(*) FROM \(namespace.name)._logstore_commit"
    )
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `reads what it would read without one, in pieces of any size`(seed: UInt64) throws {
    let place = "/tmp/logstore-proxy-\(UUID().uuidString.prefix(8))"
    let proxy = try FaultProxy(
      in: place,
      to: try #require(namespace.server.folder),
      seed: seed,
      splitting: Splitting(longestPiece: 60, delayedPieces: 200, longestDelay: 500)
    )
    defer { proxy.close() }
    let namespace = try TestNamespace(by: FaultyServer.url(in: place))
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    let journey = Journey("a")
    journey.map = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    journey.legs = (0..<200).map { Leg("\($0)") }
    context.insert(journey)
    try context.save()
    let read = try ModelContext(container).fetch(FetchDescriptor<Journey>())
    #expect(read.map(\.map) == [journey.map], "seed \(seed)")
    #expect(read.map { $0.legs.map(\.place) } == [(0..<200).map { "\($0)" }], "seed \(seed)")
  }

  @Test func `does not write again what a late packet brings`() throws {
    defer { proxy.close() }
    let context = ModelContext(try open())
    context.insert(Leg("a"))
    // The whole save is held back; the store sends it again, and that goes through.
    proxy.arm(.late, in: .toServer, after: 0)
    try context.save()
    #expect(proxy.struckCount == 1)
    let other = ModelContext(try namespace.container(Journey.self, Leg.self))
    for leg in try other.fetch(FetchDescriptor<Leg>()) { other.delete(leg) }
    try other.save()
    #expect(proxy.deliverHeld() > 0)
    // The session that received it ends once it has done what it was told.
    let session = try ServerSession(namespace.server.url)
    let busy =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)' AND state <> 'idle'"
    while try session.integer(busy) > 0 {}
    #expect(try commitCount() == 2)
    #expect(try ModelContext(open()).fetchCount(FetchDescriptor<Leg>()) == 0)
  }

  /// Faults that a batch on its way meets: the first attempt is lost, or nobody hears that it went through.
  enum Loss: CaseIterable { case lateChange, answerToChange, commit, answerToCommit }

  @Test(arguments: Loss.allCases)
  func `adds a number once, whatever of the batch is lost`(loss: Loss) throws {
    defer { proxy.close() }
    let direct = PostgresStoreConfiguration(url: namespace.server.url, namespace: namespace.name)
    let other = ModelContext(
      try ModelContainer(for: Schema([Journey.self, Leg.self]), configurations: [direct])
    )
    for code in ["a", "b"] { other.insert(Journey(code)) }
    try other.save()
    let context = ModelContext(try open())
    let cut = Fault.interlude { [proxy] in
      proxy.refuse()
      proxy.admit()
    }
    let change = "SET \"rating\""
    switch loss {
    case .lateChange: proxy.arm(.late, aheadOf: change)
    case .answerToChange: proxy.arm(cut, behind: change)
    // The next byte for the server is the commit's.
    case .commit:
      proxy.arm(.interlude { [proxy] in proxy.arm(.cut, in: .toServer, after: 1) }, behind: change)
    case .answerToCommit:
      let loss = Fault.interlude { [proxy] in proxy.arm(cut, in: .toClient, after: 1) }
      proxy.arm(.interlude { [proxy] in proxy.arm(loss, in: .toServer, after: 1) }, behind: change)
    }
    let result = try context.batchUpdate(Journey.self, .add(1, to: \.rating))
    #expect(result.updatedCount == 2)
    #expect(proxy.struckCount == (loss == .answerToCommit ? 3 : loss == .commit ? 2 : 1))
    if loss == .lateChange { #expect(proxy.deliverHeld() > 0) }
    // The session that received it ends once it has done what it was told.
    let session = try ServerSession(namespace.server.url)
    let busy =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)' AND state <> 'idle'"
    while try session.integer(busy) > 0 {}
    #expect(try commitCount() == 2)
    #expect(
      try session.integer(
        "SELECT count(*) FROM \(namespace.name)._logstore_change WHERE kind = 'update'"
      ) == 2
    )
    let ratings = try ModelContext(open()).fetch(FetchDescriptor<Journey>()).map(\.rating)
    #expect(ratings == [1, 1])
  }

  @Test func `does not keep others waiting when it falls silent in a save`() throws {
    defer { proxy.close() }
    // Long enough for the test to see the session while it holds its locks.
    let silent = ModelContext(try open(idleLimit: .seconds(3)))
    silent.insert(Journey("a", title: "silent"))
    proxy.arm(.stall, in: .toClient, after: 1)
    let errors = Errors()
    let done = DispatchSemaphore(value: 0)
    let sent = Sent(context: silent)
    Thread.detachNewThread {
      errors.collect { try sent.context.save() }
      done.signal()
    }
    while !proxy.isStalled {}
    let session = try ServerSession(namespace.server.url)
    let holding =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)' "
      + "AND state = 'idle in transaction'"
    while try session.integer(holding) == 0 {}
    // Another machine gives the same value, for which it waits until the server has ended the silent save.
    let direct = PostgresStoreConfiguration(url: namespace.server.url, namespace: namespace.name)
    let other = ModelContext(
      try ModelContainer(for: Schema([Journey.self, Leg.self]), configurations: [direct])
    )
    other.insert(Journey("a", title: "other"))
    try other.save()
    #expect(try other.fetch(FetchDescriptor<Journey>()).map(\.title) == ["other"])
    proxy.release()
    done.wait()
    #expect(errors.all.map { "\($0)" } == [])
    let titles = try ModelContext(open()).fetch(FetchDescriptor<Journey>()).map(\.title)
    #expect(titles == ["silent"])
  }

  private struct Sent: @unchecked Sendable { let context: ModelContext }

  @Test func `says that a save may be there if nobody can be asked`() throws {
    defer { proxy.close() }
    let context = ModelContext(try open(budget: .milliseconds(20)))
    context.insert(Leg("a"))
    proxy.arm(.interlude { [proxy] in proxy.refuse() }, in: .toClient, after: 1)
    let error = try #require(throws: PostgresStoreError.self) { try context.save() }
    guard case .saveUnresolved = error else {
      Issue.record("\(error)")
      return
    }
    #expect(try commitCount() == 1)
    proxy.admit()
    #expect(try ModelContext(open()).fetchCount(FetchDescriptor<Leg>()) == 1)
  }

  @Test func `finds a save that went through, though its history is deleted at that moment`() throws
  {
    defer { proxy.close() }
    let context = ModelContext(try open())
    context.insert(Leg("a"))
    let watching = try ServerSession(namespace.server.url)
    let deleting = try ServerSession(namespace.server.url)
    let (errors, done) = (Errors(), DispatchSemaphore(value: 0))
    let deletion = "DELETE FROM \(namespace.name)._logstore_commit"
    let hasAsked =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)' "
      + "AND state = 'idle in transaction'"
    let hasDeleted =
      "SELECT (SELECT count(*) FROM \(namespace.name)._logstore_commit) = 0 OR EXISTS "
      + "(SELECT FROM pg_stat_activity WHERE query = '\(deletion)' AND wait_event_type = 'Lock')"
    // Once the next attempt has looked for the first one, and before it says anything more.
    let intrusion = Fault.interlude {
      errors.collect {
        while try watching.integer(hasAsked) == 0 {}
        Thread.detachNewThread {
          errors.collect { try deleting.run(deletion) }
          done.signal()
        }
        while try watching.integer("SELECT (\(hasDeleted))::integer") == 0 {}
      }
    }
    // The answer to the first attempt is lost.
    let loss = Fault.interlude { [proxy] in
      proxy.arm(intrusion, behind: "ON CONFLICT (id)")
      proxy.refuse()
      proxy.admit()
    }
    proxy.arm(loss, in: .toClient, after: 1)
    try context.save()
    done.wait()
    #expect(errors.all.map { "\($0)" } == [])
    #expect(proxy.struckCount == 2)
    #expect(try commitCount() == 0)
    #expect(try ModelContext(open()).fetchCount(FetchDescriptor<Leg>()) == 1)
  }

  @Test func `finds a save that went through, though its history was deleted before it could ask`()
    throws
  {
    defer { proxy.close() }
    let context = ModelContext(try open())
    context.insert(Leg("a"))
    let direct = PostgresStoreConfiguration(url: namespace.server.url, namespace: namespace.name)
    let other = Sent(
      context: ModelContext(
        try ModelContainer(for: Schema([Journey.self, Leg.self]), configurations: [direct])
      )
    )
    let errors = Errors()
    // The answer is lost, and no new session is to be had until the history is gone.
    let loss = Fault.interlude { [proxy] in
      proxy.refuse()
      errors.collect {
        let everything = HistoryDescriptor<DefaultHistoryTransaction>()
        while try other.context.fetchHistory(everything).isEmpty {}
        try other.context.deleteHistory(everything)
      }
      proxy.admit()
    }
    proxy.arm(loss, in: .toClient, after: 1)
    try context.save()
    #expect(errors.all.map { "\($0)" } == [])
    #expect(proxy.struckCount == 1)
    let history = try other.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.isEmpty)
    #expect(try other.context.fetchCount(FetchDescriptor<Leg>()) == 1)
  }

  @Test func `reads on behind what is deleted from its history meanwhile`() throws {
    defer { proxy.close() }
    let context = ModelContext(try open())
    context.insert(Leg("a"))
    try context.save()
    let session = try ServerSession(namespace.server.url)
    // Older than any transaction of the server.
    try session.run(
      "INSERT INTO \(namespace.name)._logstore_commit (id, xid, author) "
        + "SELECT gen_random_uuid(), n, 'Ann' FROM generate_series(1, 4) AS n"
    )
    var known: [DefaultHistoryTransaction] = []
    while known.count < 5 {
      known = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    let direct = PostgresStoreConfiguration(url: namespace.server.url, namespace: namespace.name)
    let other = Sent(
      context: ModelContext(
        try ModelContainer(for: Schema([Journey.self, Leg.self]), configurations: [direct])
      )
    )
    let (errors, page) = (Errors(), "SELECT xid, at, author")
    let busy =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)' AND state <> 'idle'"
    // Between the look at what was deleted by then, and the first page.
    let intrusion = Fault.interlude { [proxy] in
      errors.collect {
        while try session.integer(busy) > 0 {}
        try other.context.deleteHistory(
          HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == "Ann" })
        )
      }
      proxy.count(page)
    }
    let token = known[3].token
    proxy.arm(intrusion, aheadOf: page)
    let found = try context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
    )
    #expect(errors.all.map { "\($0)" } == [])
    #expect(found.map(\.transactionIdentifier) == [known[4].transactionIdentifier])
    // The second is empty, and no third begins anew.
    #expect(proxy.countedCount == 2)
  }

  @Test func `says that nothing was saved if the server was away before the commit`() throws {
    defer { proxy.close() }
    let container = try open(budget: .milliseconds(20))
    let context = ModelContext(container)
    context.insert(Leg("a"))
    proxy.refuse()
    let error = try #require(throws: PostgresStoreError.self) { try context.save() }
    switch error {
    // What was sent last may have been the commit, as far as the store knows.
    case .saveUnresolved, .cannotConnect, .connectionLost: break
    default: Issue.record("\(error)")
    }
    #expect(try commitCount() == 0)
    proxy.admit()
    // The same context has the change still, and comes to the server by itself.
    try context.save()
    #expect(try commitCount() == 1)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Leg>()) == 1)
  }
}

/// Short forms of the campaigns that `Tools/postgres-faults` runs at length.
@Suite(.enabled(if: TestServer.isOwn, "the campaigns start servers of their own"), .serialized)
struct `Faults between stores and a PostgreSQL server` {
  @Test(arguments: [11, 12] as [UInt64])
  func `lose no acknowledged save and double none`(seed: UInt64) throws {
    let campaign = try PointCampaign(seed: seed)
    campaign.run(points: 60, restarts: 1)
    #expect(campaign.violations == [])
    #expect(campaign.struck[.restart] == 1)
    #expect(campaign.struck[.cut] ?? 0 > 0)
    #expect(campaign.struck[.terminate] ?? 0 > 0)
  }

  @Test(.enabled(if: FullDisk.isPossible, Comment(rawValue: FullDisk.reason)))
  func `lose nothing when the server's disk is full, and go on once it is not`() throws {
    let outcome = try FullDisk(seed: 1).run()
    #expect(outcome.violations == [])
    #expect(outcome.savedCount > 10)
  }

  @Test func `leave one model for each unique value that two processes give`() throws {
    let outcome = try UpsertCampaign(seed: 3, processes: 2, rounds: 30).run()
    #expect(outcome.violations == [])
    #expect(outcome.cutCount > 0)
  }

  @Test func `hide no save of eight processes from those that observe`() throws {
    let outcome = try HistoryCampaign(seed: 4, writers: 8, observers: 2, seconds: 1).run()
    #expect(outcome.violations == [])
    #expect(outcome.saveCount > 8)
  }
}
