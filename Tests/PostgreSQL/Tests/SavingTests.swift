import Foundation
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `Saves on a PostgreSQL server` {
  @Test func `of new models without references are one round trip`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Leg.self, Journey.self)
    let store = try #require(container.stores(of: PostgresStore.self).first)
    let context = ModelContext(container)
    context.insert(Leg("first"))
    try context.save()
    for number in 0..<900 { context.insert(Leg("\(number)")) }
    let before = store.roundTripCount
    try context.save()
    #expect(store.roundTripCount == before + 1)
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Leg>()) == 901)
  }

  @Test(arguments: ["read", "serializable"])
  func `of new models that a database refuses at the end leave nothing`(
    isolation: String
  ) throws {
    let namespace = try TestNamespace()
    let configuration = namespace.configuration(
      with: isolation == "read" ? [] : ["default_transaction_isolation=\(isolation)"]
    )
    let container = try ModelContainer(
      for: Schema([Leg.self, Journey.self]),
      configurations: [configuration]
    )
    let context = ModelContext(container)
    context.insert(Leg("first"))
    try context.save()
    let session = try ServerSession(namespace.url)
    let name = "\"\(namespace.name)\""
    try session.run(
      "CREATE FUNCTION \(name).refuse() RETURNS trigger LANGUAGE plpgsql AS "
        + "'BEGIN RAISE EXCEPTION ''no such place'' USING ERRCODE = ''P0077''; END'"
    )
    try session.run(
      "CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON \(name).\"Leg\" DEFERRABLE INITIALLY DEFERRED "
        + "FOR EACH ROW WHEN (NEW.place = 'nowhere') EXECUTE FUNCTION \(name).refuse()"
    )
    let sessions =
      "SELECT pid::text FROM pg_stat_activity WHERE application_name = '\(namespace.name)'"
    let before = try session.texts(sessions)
    for _ in 0..<3 {
      let refused = ModelContext(container)
      refused.insert(Leg("somewhere"))
      refused.insert(Leg("nowhere"))
      let error = #expect(throws: PostgresStoreError.self) { try refused.save() }
      guard case .server(let refusal) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(refusal.state == "P0077")
    }
    context.insert(Leg("second"))
    try context.save()
    // No session was given up. One more may have been opened, to ring the bell.
    let after = Set(try session.texts(sessions))
    #expect(!before.isEmpty && after.isSuperset(of: before))
    let legs = try ModelContext(container).fetch(
      FetchDescriptor<Leg>(sortBy: [SortDescriptor(\.place)])
    )
    #expect(legs.map(\.place) == ["first", "second"])
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.map(\.changes.count) == [1, 1])
  }

  @Test func `write only the attributes that changed`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let one = ModelContext(container)
    one.insert(Journey("a", title: "old"))
    try one.save()
    let two = ModelContext(try namespace.container(Journey.self, Leg.self))
    let mine = try #require(try one.fetch(FetchDescriptor<Journey>()).first)
    let theirs = try #require(try two.fetch(FetchDescriptor<Journey>()).first)
    mine.title = "new"
    theirs.rating = 5
    try one.save()
    try two.save()
    let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Journey>()).first)
    #expect(read.title == "new")
    #expect(read.rating == 5)
  }

  @Test func `of a change to a row that is gone say so`() throws {
    let namespace = try TestNamespace()
    let one = ModelContext(try namespace.container(Journey.self, Leg.self))
    one.insert(Journey("a"))
    try one.save()
    let two = ModelContext(try namespace.container(Journey.self, Leg.self))
    let theirs = try #require(try two.fetch(FetchDescriptor<Journey>()).first)
    one.delete(try #require(try one.fetch(FetchDescriptor<Journey>()).first))
    try one.save()
    theirs.title = "too late"
    #expect(throws: SwiftDataError.modelValidationFailure) { try two.save() }
  }

  @Test func `beside each other give every unique value to one model`() throws {
    let namespace = try TestNamespace()
    let containers = try (0..<4).map { _ in try namespace.container(Journey.self, Leg.self) }
    let errors = Errors()
    DispatchQueue.concurrentPerform(iterations: 4) { writer in
      errors.collect {
        for round in 0..<25 {
          let context = ModelContext(containers[writer])
          for code in 0..<4 {
            context.insert(Journey("\(round) \((code + writer) % 4)", title: "\(writer)"))
          }
          try context.save()
        }
      }
    }
    #expect(errors.all.map { "\($0)" } == [])
    let journeys = try ModelContext(containers[0]).fetch(FetchDescriptor<Journey>())
    #expect(journeys.count == 100)
    #expect(Set(journeys.map(\.code)).count == 100)
  }

  @Test func `beside deletes leave no reference to a row that is gone`() throws {
    let namespace = try TestNamespace()
    let containers = try (0..<2).map { _ in try namespace.container(Journey.self, Leg.self) }
    let errors = Errors()
    for round in 0..<20 {
      let first = ModelContext(containers[0])
      first.insert(Journey("\(round)"))
      try first.save()
      DispatchQueue.concurrentPerform(iterations: 2) { side in
        errors.collect {
          let context = ModelContext(containers[side])
          guard let journey = try context.fetch(FetchDescriptor<Journey>()).first else { return }
          if side == 0 {
            context.delete(journey)
          } else {
            let leg = Leg("\(round)")
            leg.journey = journey
            context.insert(leg)
          }
          do {
            try context.save()
          } catch let error as SwiftDataError
            where error == .modelValidationFailure && side == 1
          {
            // The journey was deleted first, and its rule is to take its legs along.
          }
        }
      }
    }
    #expect(errors.all.map { "\($0)" } == [])
    let context = ModelContext(containers[0])
    #expect(try context.fetchCount(FetchDescriptor<Journey>()) == 0)
    let legs = try context.fetch(FetchDescriptor<Leg>())
    #expect(legs.filter { $0.journey != nil }.map(\.place) == [])
  }

  @Test func `of moved members keep the order of a list`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    let journey = Journey("order")
    journey.legs = (0..<10).map { Leg("\($0)") }
    context.insert(journey)
    try context.save()
    journey.legs.insert(journey.legs.remove(at: 9), at: 2)
    journey.legs.append(Leg("last"))
    try context.save()
    let other = ModelContext(try namespace.container(Journey.self, Leg.self))
    let read = try #require(try other.fetch(FetchDescriptor<Journey>()).first)
    #expect(
      read.legs.map(\.place) == ["0", "1", "9", "2", "3", "4", "5", "6", "7", "8", "last"]
    )
  }
}

/// Collects what several threads throw.
final class Errors: @unchecked Sendable {
  private let lock = NSLock()
  private var collected: [any Error] = []

  var all: [any Error] { lock.withLock { collected } }

  func collect(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      lock.withLock { collected.append(error) }
    }
  }
}
