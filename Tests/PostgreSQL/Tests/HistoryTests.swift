import Foundation
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `The history on a PostgreSQL server` {
  /// The history, once it has so many transactions: those of other tests that go on hold it back.
  private func history(
    _ count: Int,
    _ predicate: Predicate<DefaultHistoryTransaction>? = nil,
    of context: ModelContext
  ) throws -> [DefaultHistoryTransaction] {
    while true {
      let found = try context.fetchHistory(HistoryDescriptor(predicate: predicate))
      if found.count >= count { return found }
    }
  }

  @Test func `tells inserts, changes and deletes with what they left`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    context.author = "Ann"
    let journey = Journey("a", title: "North")
    context.insert(journey)
    try context.save()
    journey.title = "South"
    try context.save()
    context.delete(journey)
    try context.save()
    let transactions = try history(3, of: ModelContext(container))
    #expect(transactions.map(\.author) == ["Ann", "Ann", "Ann"])
    let changes = transactions.flatMap(\.changes)
    guard changes.count == 3, case .insert = changes[0], case .update(let update) = changes[1],
      case .delete(let delete) = changes[2]
    else {
      Issue.record("\(changes)")
      return
    }
    let title = try #require((update as? DefaultHistoryUpdate<Journey>)?.updatedAttributes.first)
    #expect(title as AnyKeyPath == \Journey.title as AnyKeyPath)
    let tombstone = try #require(delete as? DefaultHistoryDelete<Journey>).tombstone
    #expect(tombstone[\.title] as? String == "South")
  }

  @Test func `goes on behind a token`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    for number in 0..<5 {
      context.insert(Leg("\(number)"))
      try context.save()
    }
    let all = try history(5, of: context)
    #expect(all.count == 5)
    let token = all[2].token
    let later = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > token }
    )
    #expect(try context.fetchHistory(later).map(\.token) == all[3...].map(\.token))
  }

  @Test func `that was deleted makes older tokens expire`() throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    for number in 0..<3 {
      context.insert(Leg("\(number)"))
      try context.save()
    }
    let all = try history(3, of: context)
    let (first, second) = (all[0].token, all[1].token)
    try context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= second })
    )
    let after = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > first }
    )
    #expect(throws: SwiftDataError.historyTokenExpired) { try context.fetchHistory(after) }
    let rest = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > second }
    )
    #expect(try context.fetchHistory(rest).count == 1)
  }

  @Test func `misses nobody who commits late`() throws {
    let namespace = try TestNamespace()
    let containers = try (0..<4).map { _ in try namespace.container(Journey.self, Leg.self) }
    let errors = Errors()
    let reader = ModelContext(try namespace.container(Journey.self, Leg.self))
    let group = DispatchGroup()
    for writer in 0..<4 {
      group.enter()
      Thread.detachNewThread {
        errors.collect {
          for round in 0..<40 {
            let context = ModelContext(containers[writer])
            for member in 0...(round % 7) { context.insert(Leg("\(writer) \(round) \(member)")) }
            try context.save()
          }
        }
        group.leave()
      }
    }
    var token: DefaultHistoryToken?
    var seen: [PersistentIdentifier] = []
    func read() throws {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      if let token { descriptor.predicate = #Predicate { $0.token > token } }
      let transactions = try reader.fetchHistory(descriptor)
      token = transactions.last?.token ?? token
      seen += transactions.flatMap(\.changes).map(\.changedPersistentIdentifier)
    }
    while group.wait(timeout: .now()) == .timedOut { try read() }
    let legs = try reader.fetch(FetchDescriptor<Leg>()).map(\.persistentModelID)
    while seen.count < legs.count { try read() }
    #expect(errors.all.map { "\($0)" } == [])
    #expect(seen.count == legs.count)
    #expect(Set(seen) == Set(legs))
  }
}
