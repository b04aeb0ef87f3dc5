import Foundation
import ModelRuntime
import Testing

@testable import PostgresStore

@Suite struct `Saves of others than one store` {
  @Test func `are news until they were looked at, also where their history was deleted`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let context = ModelContext(container)
    context.insert(Leg("one"))
    try context.save()
    let session = try ServerSession(namespace.server.url)
    let number = Int64(
      try session.integer("SELECT max(xid) FROM \(namespace.name)._logstore_commit")
    )
    func news(of source: UUID, after: Int64, before: Int64 = .max) throws -> RemoteSaves.News {
      let saves = RemoteSaves(namespace: namespace.name, source: source, horizon: store.horizon)
      let question = saves.news(after: after, before: before)
      return .init(try store.pool.withConnection { try $0.run([question])[0] }, after: after)
    }
    let own = try news(of: store.source, after: 0)
    #expect(own.newest == number)
    #expect(!own.hasOthers && !own.isPending && !own.isIncomplete)
    let other = try news(of: UUID(), after: 0)
    #expect(other.newest == number)
    #expect(other.hasOthers && !other.isPending && !other.isIncomplete)
    let pending = try news(of: UUID(), after: 3, before: number)
    #expect(pending.newest == 3)
    #expect(!pending.hasOthers && pending.isPending)
    #expect(try !news(of: UUID(), after: number).hasOthers)
    var rest = 1
    while rest > 0 {
      try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
      rest = try session.integer(
        "SELECT count(*) FROM \(namespace.name)._logstore_commit WHERE xid > 0"
      )
    }
    let deleted = try news(of: UUID(), after: 0)
    #expect(deleted.newest == number)
    #expect(deleted.hasOthers && deleted.isIncomplete)
    #expect(try !news(of: UUID(), after: number).hasOthers)
  }
}
