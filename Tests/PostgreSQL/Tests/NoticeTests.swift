import Foundation
@testable import ModelRuntime
@testable import PostgresStore
import Testing

@Suite struct `Saves of others on a PostgreSQL server` {
  @Test func `are heard of`() async throws {
    let namespace = try TestNamespace()
    let listening = try namespace.container(Journey.self, Leg.self)
    let saving = try namespace.container(Journey.self, Leg.self)
    let store = try #require(listening.stores(of: PostgresStore.self).first)
    let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
    let watch = store.observeRemoteSaves { continuation.yield() }
    let context = ModelContext(saving)
    context.insert(Leg("one"))
    try context.save()
    var iterator = arrivals.makeAsyncIterator()
    // Without a notice the test does not end.
    await iterator.next()
    let history = try ModelContext(listening).fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>()
    )
    #expect(history.count == 1)
    withExtendedLifetime(watch) {}
  }

  private func changes(in container: ModelContainer) throws -> Received {
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let received = Received()
    received.watch = store.observeRemoteRows { rows in
      received.note(rows)
      return []
    }
    return received
  }

  @Test func `are told row by row, each once`() throws {
    let namespace = try TestNamespace()
    let listening = try namespace.container(Journey.self, Leg.self)
    let store = try #require(listening.stores(of: PostgresStore.self).first)
    let received = try changes(in: listening)
    let context = ModelContext(try namespace.container(Journey.self, Leg.self))
    let (stays, goes) = (Leg("stays"), Leg("goes"))
    context.insert(stays)
    context.insert(goes)
    try context.save()
    stays.place = "changed"
    try context.save()
    context.delete(goes)
    try context.save()
    // What the store saves itself is not news to it.
    let own = ModelContext(listening)
    own.insert(Leg("own"))
    try own.save()
    // The transactions of other tests hold the history back.
    while received.all.deleted.isEmpty { store.lookForRemoteSaves() }
    let all = received.all
    #expect(all.inserted.count == 2)
    #expect(all.updated == [try #require(store.reference(of: stays.persistentModelID))])
    #expect(all.deleted.count == 1)
    #expect(all.isComplete)
  }

  @Test func `are told of the rows that a batch has the server change`() throws {
    let namespace = try TestNamespace()
    let listening = try namespace.container(Journey.self, Leg.self)
    let store = try #require(listening.stores(of: PostgresStore.self).first)
    let context = ModelContext(try namespace.container(Journey.self, Leg.self))
    let journeys = [Journey("a"), Journey("b"), Journey("c")]
    for journey in journeys { context.insert(journey) }
    try context.save()
    let received = try changes(in: listening)
    let result = try context.batchUpdate(
      Journey.self,
      where: #Predicate { $0.code != "b" },
      .add(1, to: \.rating)
    )
    let rows = try result.updatedIdentifiers.map { try #require(store.reference(of: $0)) }
    // The transactions of other tests hold the history back.
    while received.all.updated.count < 2 { store.lookForRemoteSaves() }
    #expect(received.all.updated == rows)
    #expect(received.all.isComplete)
    // Those that hold the models see what the server has added.
    #expect(journeys.map(\.rating) == [1, 0, 1])
  }

  @Test func `are told of a transaction that began before the observation and ended later`() throws
  {
    let namespace = try TestNamespace()
    let listening = try namespace.container(Journey.self, Leg.self)
    let store = try #require(listening.stores(of: PostgresStore.self).first)
    let context = ModelContext(try namespace.container(Journey.self, Leg.self))
    let leg = Leg("early")
    context.insert(leg)
    let table = Int(try #require(store.table(forEntityNamed: "Leg")))
    let row = table << 48 + 900_000
    // Another machine is in the middle of a save, with a smaller number than the one that has ended.
    let other = try ServerSession(namespace.server.url)
    try other.run("BEGIN")
    try other.run("INSERT INTO \(namespace.name)._logstore_commit (id) VALUES (gen_random_uuid())")
    try other.run(
      "INSERT INTO \(namespace.name)._logstore_change (ordinal, row, kind) VALUES (0, \(row), 'insert')"
    )
    try context.save()
    let received = try changes(in: listening)
    try other.run("COMMIT")
    while received.all.inserted.count < 2 { store.lookForRemoteSaves() }
  }

  @Test func `are looked for behind what the store has saved itself`() throws {
    let namespace = try TestNamespace()
    let listening = try namespace.container(Journey.self, Leg.self)
    let store = try #require(listening.stores(of: PostgresStore.self).first)
    let received = try changes(in: listening)
    let feed = try #require(store.feeds.all.first)
    let own = ModelContext(listening)
    for number in 0..<3 {
      own.insert(Leg("\(number)"))
      try own.save()
    }
    let newest = try ServerSession(namespace.server.url)
      .integer("SELECT max(xid) FROM \(namespace.name)._logstore_commit")
    // Otherwise each look would read all of them again.
    while feed.position < Int64(newest) { store.lookForRemoteSaves() }
    #expect(received.all.inserted.isEmpty)
    #expect(received.all.isComplete)
  }

  @Test func `are looked for ever more rarely while they cannot be told`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let context = ModelContext(container)
    context.insert(Leg("a"))
    try context.save()
    let target = RemoteSaveWatch.Target(
      url: namespace.configuration.url,
      channel: store.channel,
      saves: RemoteSaves(namespace: namespace.name, source: UUID(), horizon: store.horizon),
      after: 0
    )
    let (clock, attempts) = (ContinuousClock(), DispatchSemaphore(value: 0))
    let watch = RemoteSaveWatch(target) {
      attempts.signal()
      throw SwiftDataError.storeClosed
    }
    attempts.wait()
    let time = clock.measure { for _ in 0..<8 { attempts.wait() } }
    // 2 ms, 4 ms and so on; a machine that is slow takes longer.
    #expect(time >= .milliseconds(500))
    withExtendedLifetime(watch) {}
  }

  @Test func `are followed by objects and lists of results`() throws {
    let namespace = try TestNamespace()
    let showing = ModelContext(try namespace.container(Journey.self, Leg.self))
    let results = try ResultsObserver<Leg, Never>(
      filterBy: #Predicate { $0.place != "hidden" },
      sortBy: [SortDescriptor(\.place)],
      modelContext: showing
    )
    #expect(results.results.map(\.place) == [])
    let saving = ModelContext(try namespace.container(Journey.self, Leg.self))
    let legs = ["c", "a", "b"].map(Leg.init)
    for leg in legs { saving.insert(leg) }
    try saving.save()
    while results.results.count < 3 { showing.processPendingChanges() }
    #expect(results.results.map(\.place) == ["a", "b", "c"])
    let held = try #require(results.results.first)
    legs[1].place = "z"
    legs[2].place = "hidden"
    saving.delete(legs[0])
    try saving.save()
    while held.place != "z" { showing.processPendingChanges() }
    #expect(results.results.map(\.place) == ["z"])
  }

  /// What a store has told of the saves of others.
  private final class Received: @unchecked Sendable {
    private let lock = NSLock()
    private var rows = ChangedRows()
    var watch: (any AnyObject & Sendable)?

    var all: ChangedRows { lock.withLock { rows } }

    func note(_ more: ChangedRows) {
      lock.withLock {
        rows.inserted += more.inserted
        rows.updated += more.updated
        rows.deleted += more.deleted
        rows.isComplete = rows.isComplete && more.isComplete
      }
    }
  }
}
