import Foundation
import LogEngineTestSupport
import SwiftData
import Testing

@Model private final class Basin {
  var name: String
  @Relationship(deleteRule: .nullify, inverse: \Vessel.home) var vessels: [Vessel] = []
  @Relationship(deleteRule: .cascade, inverse: \Vessel.yard) var hulls: [Vessel] = []
  init(_ name: String) { self.name = name }
}

@Model private final class Vessel {
  var name: String
  var crew = 0
  var home: Basin?
  var yard: Basin?
  init(_ name: String) { self.name = name }
}

/// An unsaved delete nullifies a member, or deletes it.
///
/// If another context gives the member another owner, that unsaved change ends when the row is read, which may be in the middle of
/// a fetch.
@Suite struct `A fetch beside members whose unsaved change ends` {
  private let container: ModelContainer
  private let context: ModelContext
  private let other: ModelContext

  init() throws {
    container = try ModelContainer(
      for: Basin.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    context = ModelContext(container)
    other = ModelContext(container)
    for name in ["a", "b", "c"] { other.insert(Basin(name)) }
    for number in 0..<6 { other.insert(Vessel("\(number)")) }
    try other.save()
  }

  private static var basins: FetchDescriptor<Basin> {
    FetchDescriptor(sortBy: [SortDescriptor(\.name)])
  }

  private static var vessels: FetchDescriptor<Vessel> {
    FetchDescriptor(sortBy: [SortDescriptor(\.name)])
  }

  private static var evenCrews: FetchDescriptor<Vessel> {
    FetchDescriptor(
      predicate: #Predicate { $0.crew % 2 == 0 },
      sortBy: [SortDescriptor(\.crew), SortDescriptor(\.name)]
    )
  }

  enum Rule: CaseIterable { case nullify, cascade }
  enum Question: CaseIterable { case models, firstModels, count, identifiers, unsorted }

  private func ask(_ question: Question) throws -> Int {
    var fetch = Self.evenCrews
    switch question {
    case .models: return try context.fetch(fetch).count
    case .firstModels:
      fetch.fetchLimit = 4
      return try context.fetch(fetch).count
    case .count: return try context.fetchCount(fetch)
    case .identifiers: return try context.fetchIdentifiers(fetch).count
    case .unsorted:
      fetch.sortBy = []
      return try context.fetch(fetch).count
    }
  }

  @Test(arguments: Rule.allCases, Question.allCases)
  func `counts the members by what they are now`(rule: Rule, question: Question) throws {
    context.automaticallyMergesChanges = rule == .cascade
    let theirs = try (other.fetch(Self.basins), other.fetch(Self.vessels))
    theirs.1[0].home = theirs.0[0]
    if rule == .cascade { theirs.1[0].yard = theirs.0[0] }
    try other.save()
    let mine = try (context.fetch(Self.basins), context.fetch(Self.vessels))
    context.delete(mine.0[0])
    mine.1[3].crew = 1
    theirs.1[0].home = theirs.0[1]
    theirs.1[0].yard = rule == .cascade ? theirs.0[1] : nil
    try other.save()
    let all = rule == .nullify || mine.1[0].isDeleted == false ? 5 : 4
    #expect(try ask(question) == min(all, question == .firstModels ? 4 : 6))
  }

  @Test(arguments: 1...80 as ClosedRange<UInt64>)
  func `finds what a look at each model finds`(seed: UInt64) throws {
    var chance = SeededGenerator(seed: seed)
    context.automaticallyMergesChanges = chance.oneIn(2)
    let observer =
      chance.oneIn(3)
      ? try ResultsObserver<Vessel, Never>(fetchDescriptor: Self.evenCrews, modelContext: context)
      : nil
    for step in 0..<40 {
      switch Int.random(in: 0..<6, using: &chance) {
      case 0:
        try context.fetch(Self.basins).randomElement(using: &chance).map(context.delete)
      case 1:
        let vessel = try context.fetch(Self.vessels).randomElement(using: &chance)
        vessel?.crew += 1
      case 2, 3:
        let basins = try other.fetch(Self.basins)
        guard let vessel = try other.fetch(Self.vessels).randomElement(using: &chance) else {
          return
        }
        let basin = basins.randomElement(using: &chance)
        if chance.oneIn(3) { vessel.yard = basin } else { vessel.home = basin }
        try other.save()
      case 4:
        other.insert(Basin("\(step)"))
        other.insert(Vessel("\(step)"))
        try other.save()
      default:
        if chance.oneIn(3) {
          context.rollback()
        } else if chance.oneIn(4) {
          do { try context.save() } catch is SwiftDataError { context.rollback() }
        }
      }
      var even = Self.evenCrews
      if chance.oneIn(4) { even.fetchLimit = 3 }
      let names = try context.fetch(even).map(\.name)
      let count = try context.fetchCount(Self.evenCrews)
      let shown = try context.fetch(Self.vessels).filter { $0.crew % 2 == 0 }
      let expected = shown.sorted { ($0.crew, $0.name) < ($1.crew, $1.name) }.map(\.name)
      let limit = even.fetchLimit ?? .max
      #expect(names == Array(expected.prefix(limit)), "seed \(seed), step \(step)")
      #expect(count == expected.count, "seed \(seed), step \(step)")
      if let observer {
        #expect(observer.results.map(\.name) == expected, "seed \(seed), step \(step)")
      }
    }
  }
}
