import Foundation
import LogEngineTestSupport
import LogStore
import SwiftData
import Testing

@Model private final class Pier {
  var name: String
  var depth = 0
  @Relationship(inverse: \Punt.pier) var punts: [Punt] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Punt {
  #Index<Punt>([\.number], [\.color])
  var number: Int
  var color: String
  var note = ""
  var pier: Pier?

  init(_ number: Int) {
    self.number = number
    color = ["red", "blue", "green"][number % 3]
  }
}

/// Punts with unsaved notes are found by their piers as the store has them, unless piers have unsaved changes that are read.
@Suite struct `A question about related models beside unsaved changes` {
  private let container: ModelContainer
  private let context: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Pier.self,
      Punt.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let filling = ModelContext(container)
    let piers = (0..<4).map { Pier("pier \($0)") }
    for pier in piers { filling.insert(pier) }
    for number in 0..<120 {
      let punt = Punt(number)
      filling.insert(punt)
      punt.pier = number % 7 == 0 ? nil : piers[number % 4]
    }
    try filling.save()
    context = ModelContext(container)
  }

  private func predicates(_ chance: inout SeededRandom) throws -> [Predicate<Punt>] {
    let name = "pier \(chance.next(below: 5))"
    let color = ["red", "blue", "grey"][chance.next(below: 3)]
    let number = chance.next(below: 130)
    let piers = try context.fetch(FetchDescriptor<Pier>(sortBy: [SortDescriptor(\.name)]))
    let pier = piers[chance.next(below: piers.count)]
    let id = pier.persistentModelID
    return [
      #Predicate { $0.pier?.name == name },
      #Predicate { $0.pier?.persistentModelID == id },
      #Predicate { $0.pier == nil && $0.number < number },
      #Predicate { ($0.pier?.depth ?? 0) > 1 && $0.color == color },
      #Predicate { $0.color == color || $0.number == number },
      #Predicate { ($0.color == color && $0.number > 9) || $0.number == number || $0.note == "n" },
    ]
  }

  private func changeSomething(_ chance: inout SeededRandom, _ step: Int) throws {
    let punts = try context.fetch(FetchDescriptor<Punt>(sortBy: [SortDescriptor(\.number)]))
    let piers = try context.fetch(FetchDescriptor<Pier>(sortBy: [SortDescriptor(\.name)]))
    let pier = piers[chance.next(below: piers.count)]
    for _ in 0..<1 + chance.next(below: 30) {
      let punt = punts[chance.next(below: punts.count)]
      if punt.isDeleted { continue }
      switch chance.next(below: 40) {
      case 0: punt.pier = chance.next(below: 2) == 0 ? nil : pier
      case 1: punt.color = ["red", "grey"][chance.next(below: 2)]
      case 2: punt.number += 1000
      case 3: context.delete(punt)
      case 4:
        let new = Punt(step + 200)
        context.insert(new)
        new.pier = pier
      default: punt.note = chance.next(below: 9) == 0 ? "n" : "\(step)"
      }
    }
    switch chance.next(below: 16) {
    case 0: pier.name = "pier \(chance.next(below: 5))"
    case 1: pier.depth += 1
    case 2: context.insert(Pier("pier 9"))
    case 3 where piers.count > 2: context.delete(pier)
    case 4: context.rollback()
    case 5, 6: try context.save()
    default: break
    }
  }

  @Test(arguments: Thoroughness.seeds(60))
  func `finds what a look at each model finds`(seed: UInt64) throws {
    var chance = SeededRandom(seed: seed)
    for step in 0..<30 {
      try changeSomething(&chance, step)
      let all = try context.fetch(FetchDescriptor<Punt>())
      for (place, predicate) in try predicates(&chance).enumerated() {
        // The store decides about models that have no unsaved changes.
        let saved = try ModelContext(container)
          .fetchIdentifiers(FetchDescriptor(predicate: predicate))
        let expected = try all.filter {
          $0.hasChanges ? try predicate.evaluate($0) : saved.contains($0.persistentModelID)
        }
        let what: Comment = "seed \(seed), step \(step), predicate \(place)"
        let fetch = FetchDescriptor(predicate: predicate)
        let found = try context.fetch(fetch).map(\.persistentModelID)
        #expect(found == expected.map(\.persistentModelID), what)
        #expect(try context.fetchCount(fetch) == expected.count, what)
        #expect(try context.fetchIdentifiers(fetch) == found, what)
        var first = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.number)])
        first.fetchLimit = 5
        let numbers = try context.fetch(first).map(\.number)
        #expect(numbers == Array(expected.map(\.number).sorted().prefix(5)), what)
        #expect(try context.fetch(fetch, \.number) == expected.map(\.number), what)
      }
    }
  }
}
