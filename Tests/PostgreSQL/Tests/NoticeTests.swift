import Foundation
import ModelRuntime
import PostgresStore
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
}
