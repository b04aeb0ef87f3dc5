import Foundation
import ModelRuntime
import Synchronization
import Testing

@testable import PostgresStore

@Suite struct `A store that was closed` {
  @Test func `opens no session, whatever is still to be done in the background`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    store.historyKeeper.settle()
    try store.close()
    let question = [Statement("SELECT 1")]
    #expect(throws: SwiftDataError.storeClosed) {
      try store.pool.withConnection { try $0.run(question) }
    }
    #expect(throws: SwiftDataError.storeClosed) {
      try store.pool.lendBeyondLimit { try $0.run(question) }
    }
    store.bell.scheduleRing()
    store.historyKeeper.notice(1 << 60)
    store.historyKeeper.settle()
    let session = try ServerSession(namespace.server.url)
    let count =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)'"
    // Those that were open end when the server notices it.
    while try session.integer(count) > 0 {}
  }

  @Test func `hears of no save of others, and has no session to hear of one in`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let heard = Mutex(false)
    let rows = store.observeRemoteRows { _ in
      heard.withLock { $0 = true }
      return []
    }
    let saves = store.observeRemoteSaves { heard.withLock { $0 = true } }
    #expect(rows != nil && saves != nil)
    let session = try ServerSession(namespace.server.url)
    let count =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)'"
    // Until both have looked for news.
    while try session.integer("\(count) AND query LIKE '%bool\\_or(xid%'") < 2 {}
    try store.close()
    let direct = PostgresStoreConfiguration(url: namespace.server.url, namespace: namespace.name)
    let other = ModelContext(
      try ModelContainer(for: Schema([Journey.self, Leg.self]), configurations: [direct])
    )
    other.insert(Leg("a"))
    try other.save()
    while try session.integer(count) > 0, !heard.withLock({ $0 }) {}
    #expect(!heard.withLock { $0 })
    #expect(store.observeRemoteRows { _ in [] } == nil)
    #expect(store.observeRemoteSaves {} == nil)
    withExtendedLifetime((rows, saves)) {}
  }
}
