import Foundation
import ModelRuntime
import PostgresStore
import Testing

@Suite struct `An identifier that comes from outside` {
  @Test(arguments: [1 << 48, 1 << 62] as [UInt64])
  func `and has a key that no row can have is that of no model`(key: UInt64) throws {
    let namespace = try TestNamespace()
    let container = try namespace.container(Journey.self, Leg.self)
    let context = ModelContext(container)
    let journey = Journey("one")
    journey.legs = [Leg("a")]
    context.insert(journey)
    try context.save()
    let store = try #require(container.stores(of: PostgresStore.self).first).identifier
    let leg = try #require(PersistentIdentifier(urlComponent: "Leg.p\(key).\(store)"))
    let owner = try #require(PersistentIdentifier(urlComponent: "Journey.p\(key).\(store)"))
    func count(_ predicate: Predicate<Leg>) throws -> Int {
      try ModelContext(container).fetchCount(FetchDescriptor(predicate: predicate))
    }
    let legs = [leg, journey.legs[0].persistentModelID]
    #expect(try count(#Predicate { $0.persistentModelID == leg }) == 0)
    #expect(try count(#Predicate { $0.persistentModelID != leg }) == 1)
    #expect(try count(#Predicate { legs.contains($0.persistentModelID) }) == 1)
    #expect(try count(#Predicate { $0.journey?.persistentModelID == owner }) == 0)
  }
}
