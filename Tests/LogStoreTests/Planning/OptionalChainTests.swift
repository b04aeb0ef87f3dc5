import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

private enum Chains {
  @Model final class City {
    var name: String
    var population: Int
    var mayor: Person?
    init(_ name: String, _ population: Int) {
      self.name = name
      self.population = population
    }
  }

  @Model final class Person {
    var name: String
    var age: Int
    var home: City?
    @Relationship(inverse: \Journey.owner) var journeys: [Journey] = []
    init(_ name: String, _ age: Int) {
      self.name = name
      self.age = age
    }
  }

  @Model final class Halt {
    var minutes: Int
    var price: Double?
    var city: City?
    var journey: Journey?
    init(_ minutes: Int) { self.minutes = minutes }
  }

  @Model final class Journey {
    var days: Int
    var isDone = false
    var flag: Bool?
    var parent: Journey?
    var owner: Person?
    @Relationship(inverse: \Halt.journey) var halts: [Halt] = []
    init(_ days: Int) { self.days = days }
  }
}

private typealias Journey = Chains.Journey
private typealias Halt = Chains.Halt

/// Predicates that the compiler found too complex, or took seconds for, as long as all of one was one expression.
@Suite struct `Predicates that compare long optional chains` {
  private let context: ModelContext
  private var journeys: [Journey] = []

  init() throws {
    context = ModelContext(
      try ModelContainer(
        for: Chains.City.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
      )
    )
    var chance = SeededGenerator(seed: 7)
    let cities = (0..<6).map { Chains.City("c\($0 % 3)", Int.random(in: 0..<40, using: &chance)) }
    let people = (0..<10).map {
      Chains.Person("p\($0 % 4)", Int.random(in: 0..<60, using: &chance))
    }
    for city in cities {
      context.insert(city)
      if !chance.oneIn(3) { city.mayor = people.randomElement(using: &chance) }
    }
    for person in people {
      context.insert(person)
      if !chance.oneIn(3) { person.home = cities.randomElement(using: &chance) }
    }
    for _ in 0..<60 {
      let journey = Journey(Int.random(in: 0..<10, using: &chance))
      context.insert(journey)
      journey.isDone = chance.oneIn(2)
      journey.flag = [true, false, nil].randomElement(using: &chance) ?? nil
      if !chance.oneIn(4) { journey.owner = people.randomElement(using: &chance) }
      if !chance.oneIn(4) { journey.parent = journeys.randomElement(using: &chance) }
      for _ in 0..<Int.random(in: 0..<4, using: &chance) {
        let halt = Halt(Int.random(in: 0..<6, using: &chance))
        context.insert(halt)
        if chance.oneIn(2) { halt.price = Double(Int.random(in: 0..<3, using: &chance)) }
        if !chance.oneIn(3) { halt.city = cities.randomElement(using: &chance) }
        halt.journey = journey
      }
      journeys.append(journey)
    }
    try context.save()
  }

  /// Compares what a fetch finds, and what evaluating the predicate says, with plain Swift.
  private func check(
    _ predicate: Predicate<Journey>,
    _ test: (Journey) -> Bool,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let wanted = Set(journeys.filter(test).map(\.persistentModelID))
    #expect(!wanted.isEmpty && wanted.count < journeys.count, sourceLocation: location)
    let found = try context.fetch(FetchDescriptor(predicate: predicate))
    #expect(Set(found.map(\.persistentModelID)) == wanted, sourceLocation: location)
    let evaluated = try journeys.filter { try predicate.evaluate($0) }
    #expect(Set(evaluated.map(\.persistentModelID)) == wanted, sourceLocation: location)
  }

  @Test func `find what plain Swift finds`() throws {
    try check(#Predicate { $0.parent?.owner?.home?.name == $0.owner?.home?.name }) {
      $0.parent?.owner?.home?.name == $0.owner?.home?.name
    }
    try check(#Predicate { $0.parent?.owner?.home?.name == $0.owner?.home?.name && $0.isDone }) {
      $0.parent?.owner?.home?.name == $0.owner?.home?.name && $0.isDone
    }
    try check(#Predicate { $0.parent?.owner?.age ?? 0 > $0.owner?.home?.population ?? 0 }) {
      $0.parent?.owner?.age ?? 0 > $0.owner?.home?.population ?? 0
    }
    try check(#Predicate { $0.parent?.owner?.home?.mayor == $0.owner }) {
      $0.parent?.owner?.home?.mayor == $0.owner
    }
  }

  @Test func `find it in closures, too`() throws {
    try check(
      #Predicate { (journey: Journey) in
        journey.halts.contains { (halt: Halt) in
          halt.price ?? 0 > 1 && halt.minutes > 3
            || halt.city?.mayor?.name == journey.owner?.name && journey.owner != nil
        }
      }
    ) { journey in
      journey.halts.contains { halt in
        halt.price ?? 0 > 1 && halt.minutes > 3
          || halt.city?.mayor?.name == journey.owner?.name && journey.owner != nil
      }
    }
    try check(
      #Predicate { (journey: Journey) in
        journey.owner?.home?.mayor?.journeys.contains {
          $0.isDone && $0.days > 6 && $0.days != 8 || $0.flag == true
        } ?? false
      }
    ) { journey in
      journey.owner?.home?.mayor?.journeys.contains {
        $0.isDone && $0.days > 6 && $0.days != 8 || $0.flag == true
      } ?? false
    }
    try check(
      #Predicate { $0.halts.filter { $0.city?.name == "c1" && $0.minutes > 2 }.count > 0 }
    ) { $0.halts.filter { $0.city?.name == "c1" && $0.minutes > 2 }.count > 0 }
  }

  @Test func `find it in statements`() throws {
    try check(
      #Predicate { (journey: Journey) in
        if journey.isDone && journey.days > 2 {
          return journey.owner == nil || journey.flag == true
        } else if let owner = journey.owner {
          return owner.name == "p1" && !journey.isDone || owner.home?.mayor?.name == owner.name
        } else {
          return !journey.isDone && journey.days < 4 || journey.parent?.owner?.age ?? 0 > 17
        }
      }
    ) { journey in
      if journey.isDone && journey.days > 2 {
        return journey.owner == nil || journey.flag == true
      } else if let owner = journey.owner {
        return owner.name == "p1" && !journey.isDone || owner.home?.mayor?.name == owner.name
      } else {
        return !journey.isDone && journey.days < 4 || journey.parent?.owner?.age ?? 0 > 17
      }
    }
  }
}
