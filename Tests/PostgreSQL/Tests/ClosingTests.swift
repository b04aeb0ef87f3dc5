@testable import Appender
import FaultProxy
import Foundation
import ModelRuntime
@testable import PostgresFaults
@testable import PostgresStore
import Testing

@Suite(.enabled(if: TestServer.isOwn, "a proxy stands before a server of the tests' own"))
struct `A PostgreSQL store that is closed in the middle of a save` {
  private let proxy: FaultProxy
  private let namespace: TestNamespace

  init() throws {
    let folder = try #require(try TestServer.shared.get().folder)
    let place = "/tmp/logstore-proxy-\(UUID().uuidString.prefix(8))"
    proxy = try FaultProxy(in: place, to: folder, seed: 1)
    namespace = try TestNamespace(by: FaultyServer.url(in: place))
  }

  /// Has commits of saves wait until a transaction of the session ends, which this begins.
  private func holdCommits(_ session: ServerSession) throws {
    let lock = "pg_advisory_xact_lock(hashtextextended('\(namespace.name)', 0))"
    let function = "\(namespace.name).wait_at_commit()"
    try session.run(
      "CREATE FUNCTION \(function) RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM \(lock); RETURN NULL; END $$"
    )
    try session.run(
      "CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON \(namespace.name)._logstore_commit "
        + "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION \(function)"
    )
    try session.run("BEGIN")
    try session.run("SELECT \(lock)")
  }

  @Test(arguments: [false, true])
  func `asks in a new session what became of a commit that got no answer`(isTurn: Bool) throws {
    defer { proxy.close() }
    let container = try namespace.container(Reader.self, Club.self, Note.self, Card.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    store.historyKeeper.settle()
    let context = ModelContext(container)
    let reader = Reader("Ann")
    context.insert(reader)
    try context.save()
    let holding = try ServerSession(namespace.server.url)
    try holdCommits(holding)
    // The list is stored with its owner, and written in a turn.
    if isTurn { reader.notes.append(Note("a")) } else { context.insert(Note("a")) }
    let save = Saving(context)
    let watching = try ServerSession(namespace.server.url)
    let sessions =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(namespace.name)'"
    while try watching.integer("\(sessions) AND wait_event = 'advisory'") == 0 {}
    let closing = Working { try store.close() }
    while (try? store.checkOpen()) != nil {}
    proxy.refuse()
    proxy.admit()
    try holding.run("COMMIT")
    #expect(save.errors.map { "\($0)" } == [])
    #expect(closing.errors.map { "\($0)" } == [])
    let commits = "SELECT count(*) FROM \(namespace.name)._logstore_commit"
    #expect(try watching.integer(commits) == 2)
    while try watching.integer(sessions) > 0 {}
    context.insert(Note("late"))
    #expect(throws: SwiftDataError.storeClosed) { try context.save() }
    #expect(try watching.integer(commits) == 2)
  }
}
