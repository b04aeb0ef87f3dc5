@testable import Appender
import DataStoreTesting
import Foundation
import LogStore
import ModelRuntime
@testable import PostgresStore
import Testing

/// A pooler in transaction mode gives each transaction another session: nothing may be left in one, nor looked for.
@Suite(.enabled(if: TestPooler.isThere, Comment(rawValue: TestPooler.reason)))
struct `A PostgreSQL store behind pgbouncer` {
  private let namespace: TestNamespace

  init() throws { namespace = try TestNamespace(by: try TestPooler.shared.get().url) }

  @Test(arguments: DataStoreContract.clauses)
  func `keeps the contract`(clause: DataStoreContract.Clause) throws {
    try clause.check(unsupported: [.recovery: "the server's files are not the process's"]) {
      namespace.configuration
    }
  }

  @Test func `knows that the server is not at the other end`() throws {
    func isDirect(_ url: String) throws -> Bool {
      try Connection(url, applicationName: "test", RoundTripCounter()).isDirect()
    }
    #expect(try !isDirect(namespace.url))
    #expect(try isDirect(namespace.server.url))
  }

  @Test func `hears of the saves of others, and leaves no session that listens`() async throws {
    let listening = try namespace.container(Journey.self, Leg.self)
    let saving = try namespace.container(Journey.self, Leg.self)
    let store = try #require(listening.stores(of: PostgresStore.self).first)
    let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
    let watch = store.observeRemoteSaves { continuation.yield() }
    let context = ModelContext(saving)
    context.insert(Leg("one"))
    try context.save()
    var iterator = arrivals.makeAsyncIterator()
    await iterator.next()
    let channels = "SELECT count(*) FROM pg_listening_channels()"
    // Whichever sessions the pooler gives: those that are used at once are different ones.
    let sessions = try (0..<8).map { _ in try ServerSession(namespace.url) }
    for session in sessions { try session.run("BEGIN") }
    for session in sessions { #expect(try session.integer(channels) == 0) }
    for session in sessions { try session.run("ROLLBACK") }
    withExtendedLifetime(watch) {}
  }

  @Test func `takes turns`() throws {
    @Sendable func open() throws -> ModelContainer {
      let schema = Schema([Reader.self, Club.self, Note.self, Card.self])
      return try ModelContainer(for: schema, configurations: [namespace.configuration])
    }
    let context = ModelContext(try open())
    context.insert(Reader("Ann"))
    try context.save()
    let errors = Errors()
    DispatchQueue.concurrentPerform(iterations: 3) { writer in
      errors.collect { try Appender.append(6, as: "\(writer)", in: try open()) }
    }
    #expect(errors.all.map { "\($0)" } == [])
    let read = ModelContext(try open())
    let reader = try #require(try read.fetch(FetchDescriptor<Reader>()).first)
    let names = Set((0..<3).flatMap { writer in (0..<6).map { "\(writer) \($0)" } })
    #expect(reader.notes.map(\.text).sorted() == names.sorted())
    #expect(reader.clubs.map(\.name).sorted() == names.sorted())
    let cards = try read.fetch(FetchDescriptor<Card>()).filter { $0.reader != nil }
    #expect(cards.map(\.text) == [reader.card?.text])
  }

  @Test func `limits statements without leaving the limit in a session`() throws {
    var configuration = namespace.configuration
    configuration.statementTimeout = .milliseconds(50)
    let container = try ModelContainer(
      for: Schema([Journey.self, Leg.self]),
      configurations: [configuration]
    )
    let blocker = try ServerSession(namespace.server.url)
    try blocker.run("BEGIN")
    try blocker.run("LOCK TABLE \(namespace.name).\"Leg\"")
    #expect(throws: PostgresStoreError.statementTimedOut(limit: .milliseconds(50))) {
      try ModelContext(container).fetchCount(FetchDescriptor<Leg>())
    }
    try blocker.run("ROLLBACK")
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Leg>()) == 0)
    let sessions = try (0..<8).map { _ in try ServerSession(namespace.url) }
    for session in sessions { try session.run("BEGIN") }
    for session in sessions { #expect(try session.text("SHOW statement_timeout") == "0") }
    for session in sessions { try session.run("ROLLBACK") }
  }

  @Test func `loses no save when the server ends the pooler's sessions`() throws {
    // A session that is ended may have been lent to another client since: in the pooler of all, to another test.
    let pooler = try TestPooler()
    defer { withExtendedLifetime(pooler) {} }
    let namespace = try TestNamespace(by: pooler.url)
    let container = try namespace.container(Journey.self, Leg.self)
    let killer = try ServerSession(namespace.server.url)
    for number in 0..<60 {
      let context = ModelContext(container)
      let journey = Journey("\(number)")
      journey.legs = [Leg("\(number)")]
      context.insert(journey)
      if number % 3 == 0 {
        try killer.run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            + "WHERE application_name = '\(namespace.name)'"
        )
      }
      try context.save()
    }
    let codes = try ModelContext(container).fetch(FetchDescriptor<Journey>()).map(\.code)
    #expect(Set(codes) == Set((0..<60).map { "\($0)" }))
    #expect(codes.count == 60)
  }

  @Test func `can be moved to and from`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "pooler-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (there, back) = (folder.appending(path: "a.store"), folder.appending(path: "b.store"))
    func open(_ url: URL) throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Schema([Journey.self, Leg.self]),
          configurations: [LogStoreConfiguration(url: url)]
        )
      )
    }
    let identifier = try {
      let context = try open(there)
      let journey = Journey("a", title: "North")
      journey.legs = (0..<3000).map { Leg("\($0)") }
      context.insert(journey)
      try context.save()
      return journey.persistentModelID
    }()
    // The inspector tells addresses from folders by their beginning.
    let server =
      "postgresql://postgres@/postgres?host=\(namespace.url.split(separator: " ")[0].dropFirst(5))"
    for (source, target) in [(there.path, server), (server, back.path)] {
      let process = Process()
      process.executableURL = URL(filePath: CommandLine.arguments[0])
        .deletingLastPathComponent().appending(path: "logstore-inspect")
      process.arguments = ["move", source, target, "--namespace", namespace.name]
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    let context = try open(back)
    let journey = try #require(context.model(for: identifier) as? Journey)
    #expect(journey.title == "North")
    #expect(journey.legs.map(\.place) == (0..<3000).map { "\($0)" })
  }
}
