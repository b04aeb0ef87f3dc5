import Foundation
import LogStore
import SwiftData
import Testing

@Model private final class Haulier {
  var name: String
  @Relationship(inverse: \Relay.haulier) var relays: [Relay] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Relay {
  var city: String
  var haulier: Haulier?
  @Relationship(inverse: \Carton.relay) var cartons: [Carton] = []

  init(_ city: String) { self.city = city }
}

@Model private final class Carton {
  var number: Int
  var relay: Relay?

  init(_ number: Int) { self.number = number }
}

/// A saved carton and an unsaved one lead to the same models, which this context holds and another changes.
@Suite struct `A predicate that leads from unsaved models to others` {
  private let context: ModelContext
  private let other: ModelContext
  private let relay: Relay

  init() throws {
    let container = try ModelContainer(
      for: Haulier.self,
      Relay.self,
      Carton.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    other = ModelContext(container)
    context = ModelContext(container)
    for name in ["north", "south"] { other.insert(Haulier(name)) }
    let stored = Relay("Ulm")
    other.insert(stored)
    stored.haulier = try other.fetch(.named("north")).first
    for number in 1...2 {
      let carton = Carton(number)
      other.insert(carton)
      carton.relay = stored
    }
    try other.save()
    relay = try #require(try context.fetch(FetchDescriptor<Relay>()).first)
    #expect(relay.city == "Ulm" && relay.haulier?.name == "north")
    let new = Carton(3)
    context.insert(new)
    new.relay = relay
    try #require(try context.fetch(FetchDescriptor<Carton>()).first).number += 10
  }

  private func numbers(_ predicate: Predicate<Carton>) throws -> [Int] {
    let fetch = FetchDescriptor(predicate: predicate)
    let numbers = try context.fetch(fetch).map(\.number).sorted()
    #expect(try context.fetchCount(fetch) == numbers.count)
    #expect(try context.aggregate(fetch, .sum(\.number)) == numbers.reduce(0, +))
    return numbers
  }

  @Test func `is about what these are by now`() throws {
    let stored = try #require(try other.fetch(FetchDescriptor<Relay>()).first)
    stored.city = "Bonn"
    try other.save()
    #expect(try numbers(#Predicate { $0.relay?.city == "Ulm" }) == [])
    #expect(try numbers(#Predicate { $0.relay?.city == "Bonn" }) == [2, 3, 11])
  }

  @Test func `is about the models that these are related to by now`() throws {
    let stored = try #require(try other.fetch(FetchDescriptor<Relay>()).first)
    stored.haulier = try other.fetch(.named("south")).first
    try other.save()
    #expect(try numbers(#Predicate { $0.relay?.haulier?.name == "south" }) == [2, 3, 11])
    stored.haulier?.name = "east"
    try other.save()
    #expect(try numbers(#Predicate { $0.relay?.haulier?.name == "south" }) == [])
    #expect(try numbers(#Predicate { $0.relay?.haulier?.name == "east" }) == [2, 3, 11])
  }

  @Test func `keeps the unsaved changes of these`() throws {
    relay.city = "Celle"
    let stored = try #require(try other.fetch(FetchDescriptor<Relay>()).first)
    stored.city = "Bonn"
    try other.save()
    #expect(try numbers(#Predicate { $0.relay?.city == "Celle" }).contains(3))
    #expect(relay.city == "Celle")
  }
}

extension FetchDescriptor<Haulier> {
  fileprivate static func named(_ name: String) -> FetchDescriptor {
    FetchDescriptor(predicate: #Predicate { $0.name == name })
  }
}
