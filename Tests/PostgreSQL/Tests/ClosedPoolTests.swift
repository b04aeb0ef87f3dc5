import Foundation
import ModelRuntime
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
}
