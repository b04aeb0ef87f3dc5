import Foundation
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `References that two machines write and delete at once` {
  private let namespace: TestNamespace

  init() throws { namespace = try TestNamespace() }

  /// What the sessions of a store begin transactions with, unless they say so.
  enum Isolation: String, CaseIterable {
    case readCommitted = "read\\ committed"
    case repeatableRead = "repeatable\\ read"
  }

  private func open(_ isolation: Isolation = .readCommitted) throws -> ModelContainer {
    let given = namespace.configuration.url
    let option = "-c default_transaction_isolation=\(isolation.rawValue)"
    let escaped = option.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let url =
      given.contains("://")
      ? "\(given)&options=\(escaped)"
      : "\(given) options='\(option.replacing("\\", with: "\\\\"))'"
    var configuration = PostgresStoreConfiguration(url: url, namespace: namespace.name)
    configuration.reconnectBudget = .seconds(600)
    return try ModelContainer(
      for: Schema([Journey.self, Leg.self]),
      configurations: [configuration]
    )
  }

  private func waitUntilBlocked(_ watcher: ServerSession) throws {
    let blocked =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
      + "AND application_name = '\(namespace.name)'"
    while try watcher.integer(blocked) == 0 {}
  }

  private func danglingCount(_ watcher: ServerSession) throws -> Int {
    let schema = namespace.name
    return try watcher.integer(
      "SELECT count(*) FROM \(schema).\"Leg\" AS l WHERE journey IS NOT NULL "
        + "AND NOT EXISTS (SELECT 1 FROM \(schema).\"Journey\" WHERE _id = l.journey)"
    )
  }

  @Test(arguments: Isolation.allCases)
  func `follow the delete rule for a member that came while the owner was being deleted`(
    isolation: Isolation
  ) throws {
    let context = ModelContext(try open(isolation))
    let journey = Journey("a")
    context.insert(journey)
    try context.save()
    let (other, watcher) = (
      try ServerSession(namespace.server.url), try ServerSession(namespace.server.url)
    )
    let schema = namespace.name
    // As a save does: the member is written, and the owner locked against its deletion.
    try other.run("BEGIN")
    try other.run(
      "INSERT INTO \(schema).\"Leg\" (_id, place, journey) SELECT (number::bigint << 48) + 900000, 'theirs', "
        + "(SELECT _id FROM \(schema).\"Journey\") FROM \(schema)._logstore_entity WHERE name = 'Leg'"
    )
    try other.run("SELECT 1 FROM \(schema).\"Journey\" FOR KEY SHARE")
    context.delete(journey)
    let save = Saving(context)
    try waitUntilBlocked(watcher)
    try other.run("COMMIT")
    #expect(save.errors.map { "\($0)" } == [])
    #expect(try danglingCount(watcher) == 0)
    let read = ModelContext(try open())
    #expect(try read.fetchCount(FetchDescriptor<Journey>()) == 0)
    #expect(try read.fetchCount(FetchDescriptor<Leg>()) == 0)
  }

  @Test(arguments: Isolation.allCases)
  func `refuse a member whose owner was deleted meanwhile`(isolation: Isolation) throws {
    let context = ModelContext(try open(isolation))
    let journey = Journey("a")
    context.insert(journey)
    try context.save()
    let (other, watcher) = (
      try ServerSession(namespace.server.url), try ServerSession(namespace.server.url)
    )
    try other.run("BEGIN")
    try other.run("DELETE FROM \(namespace.name).\"Journey\"")
    let leg = Leg("mine")
    context.insert(leg)
    leg.journey = journey
    let save = Saving(context)
    try waitUntilBlocked(watcher)
    try other.run("COMMIT")
    #expect(save.errors.map { $0 as? SwiftDataError } == [.modelValidationFailure])
    #expect(try watcher.integer("SELECT count(*) FROM \(namespace.name).\"Leg\"") == 0)
  }

  @Test func `lead to rows that are there, whoever comes first`() throws {
    let watcher = try ServerSession(namespace.server.url)
    let containers = [try open(), try open()]
    for round in 0..<40 {
      let context = ModelContext(containers[0])
      context.insert(Journey("\(round)"))
      try context.save()
      let errors = Errors()
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        errors.collect {
          let context = ModelContext(containers[number])
          guard let journey = try context.fetch(FetchDescriptor<Journey>()).first else { return }
          if number == 0 {
            context.delete(journey)
          } else {
            let leg = Leg("\(round)")
            context.insert(leg)
            leg.journey = journey
          }
          try context.save()
        }
      }
      #expect(errors.all.allSatisfy { $0 as? SwiftDataError == .modelValidationFailure })
      #expect(try danglingCount(watcher) == 0, "round \(round)")
    }
  }
}
