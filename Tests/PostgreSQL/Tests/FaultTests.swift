import Foundation
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `A PostgreSQL store whose sessions end` {
  @Test(arguments: [1, 2] as [UInt64])
  func `loses no save and doubles none`(seed: UInt64) throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let killer = try SessionKiller(namespace, seed: seed)
    killer.start()
    var saved = 0
    for number in 0..<300 {
      let context = ModelContext(container)
      let journey = Journey("\(number)")
      journey.legs = [Leg("\(number) a"), Leg("\(number) b")]
      context.insert(journey)
      try context.save()
      saved += 1
      killer.noteProgress()
    }
    let killed = try killer.stop()
    let context = ModelContext(try namespace.container(Journey.self, Leg.self))
    let codes = try context.fetch(FetchDescriptor<Journey>()).map(\.code)
    #expect(codes.count == saved, "seed \(seed)")
    #expect(Set(codes).count == saved, "seed \(seed)")
    #expect(try context.fetchCount(FetchDescriptor<Leg>()) == 2 * saved, "seed \(seed)")
    let session = try ServerSession(namespace.server.url)
    let commits = try session.integer("SELECT count(*) FROM \(namespace.name)._logstore_commit")
    #expect(commits == saved, "seed \(seed)")
    #expect(killed > 0)
  }

  @Test func `says at once that an address leads nowhere, and no password`() throws {
    let configuration = PostgresStoreConfiguration(
      url: "postgresql://ann:secret@127.0.0.1:1/nowhere",
      namespace: "trips"
    )
    let error = try #require(throws: PostgresStoreError.self) {
      try ModelContainer(for: Schema([Leg.self]), configurations: [configuration])
    }
    guard case .cannotConnect = error else {
      Issue.record("\(error)")
      return
    }
    #expect(!"\(error)".contains("secret"))
    #expect(!"\(configuration) \(String(reflecting: configuration))".contains("secret"))
  }

  @Test func `waits for a session no longer than it may`() throws {
    let namespace = try TestNamespace()
    var configuration = namespace.configuration
    configuration.connectionLimit = 1
    configuration.reconnectBudget = .milliseconds(50)
    let container = try ModelContainer(
      for: Schema([Leg.self, Journey.self]),
      configurations: [configuration]
    )
    let errors = Errors()
    // More threads than sessions: each waits for its turn.
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      errors.collect { _ = try ModelContext(container).fetchCount(FetchDescriptor<Leg>()) }
    }
    for error in errors.all {
      guard case PostgresStoreError.noFreeConnection(limit: 1, waited: .milliseconds(50)) = error
      else {
        Issue.record("\(error)")
        continue
      }
    }
  }
}

/// Ends the sessions of a namespace's stores, again and again, with `pg_terminate_backend`.
///
/// It strikes three times at most for each step that the test has made: however slow the machine is, a save that is
/// tried again gets through.
private final class SessionKiller: @unchecked Sendable {
  private static let strikesPerStep = 3

  private let session: ServerSession
  private let condition: String
  private let lock = NSLock()
  private var isStopped = false
  private var strikesLeft = SessionKiller.strikesPerStep
  private var killed = 0
  private var error: (any Error)?
  private let done = DispatchSemaphore(value: 0)
  private var random: SeededGenerator

  init(_ namespace: TestNamespace, seed: UInt64) throws {
    session = try ServerSession(namespace.server.url)
    condition = "application_name = '\(namespace.name)'"
    random = SeededGenerator(seed: seed)
  }

  func start() {
    Thread.detachNewThread { [self] in
      do {
        while !lock.withLock({ isStopped }) {
          // Somewhere in the middle of whatever the sessions do.
          for _ in 0..<Int.random(in: 1...600, using: &random) { try session.run("SELECT 1") }
          let mayStrike = lock.withLock {
            guard strikesLeft > 0 else { return false }
            strikesLeft -= 1
            return true
          }
          if !mayStrike { continue }
          killed += try session.integer(
            "SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \(condition)) AS k"
          )
        }
      } catch {
        self.error = error
      }
      done.signal()
    }
  }

  /// Says that the test has made a step.
  func noteProgress() { lock.withLock { strikesLeft = SessionKiller.strikesPerStep } }

  /// Stops.
  ///
  /// - Returns: How many sessions were ended.
  func stop() throws -> Int {
    lock.withLock { isStopped = true }
    done.wait()
    if let error { throw error }
    return killed
  }
}
