import Foundation
import ModelRuntime
import SwiftData
import Testing

@testable import LogStore

@Model private final class Country {
  var name: String

  init(name: String) { self.name = name }
}

@Model private final class Harbour {
  #Index<Harbour>([\.name])

  var name: String
  var depth: Int
  var country: Country?

  init(name: String, depth: Int) {
    self.name = name
    self.depth = depth
  }
}

@Model private final class Ship {
  #Index<Ship>([\.tonnage])

  var name: String
  var tonnage: Int
  var home: Harbour?
  var builtAt: Harbour

  init(number: Int, home: Harbour?, builtAt: Harbour) {
    name = "ship \(number)"
    tonnage = number * 7 % 1000
    self.home = home
    self.builtAt = builtAt
  }
}

/// Ships, of which every eleventh has no home, in a store of its own.
private struct Fleet {
  let container: ModelContainer
  let url: URL
  static let count = 2000

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID())")
    container = try Fleet.open(url)
    let context = ModelContext(container)
    let countries = (0..<3).map { Country(name: "country \($0)") }
    let harbours = (0..<40).map { Harbour(name: "harbour \($0)", depth: $0 % 10) }
    for (number, harbour) in harbours.enumerated() {
      context.insert(harbour)
      harbour.country = number % 4 == 3 ? nil : countries[number % 4]
    }
    for number in 0..<Fleet.count {
      let home = number % 11 == 0 ? nil : harbours[number * 13 % 40]
      context.insert(Ship(number: number, home: home, builtAt: harbours[number * 17 % 40]))
    }
    try context.save()
    // Some ships come home to nowhere: their harbour is gone.
    context.delete(harbours[39])
    try context.save()
  }

  static func open(_ url: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Ship.self,
      Harbour.self,
      Country.self,
      configurations: LogStoreConfiguration(url: url, durability: .relaxed)
    )
  }
}

@Suite struct `A question about the other end of a relationship` {
  /// What is asked, and the same of objects.
  private static let questions: [(words: String, Predicate<Ship>, @Sendable (Ship) -> Bool)] = [
    ("one name", #Predicate { $0.home?.name == "harbour 7" }, { $0.home?.name == "harbour 7" }),
    (
      "a constant first", #Predicate { "harbour 7" == $0.home?.name },
      { $0.home?.name == "harbour 7" }
    ),
    (
      "either of two names", #Predicate { $0.home?.name == "harbour 1" || $0.home?.name == "x" },
      { $0.home?.name == "harbour 1" }
    ),
    (
      "several attributes",
      #Predicate { $0.home.flatMap { $0.depth == 3 && $0.name.contains("2") } ?? false },
      { $0.home?.depth == 3 && $0.home?.name.contains("2") == true }
    ),
    (
      "an attribute of the ship besides",
      #Predicate { $0.home?.name == "harbour 7" && $0.tonnage < 300 },
      { $0.home?.name == "harbour 7" && $0.tonnage < 300 }
    ),
    (
      "two other ends", #Predicate { $0.home?.depth == 3 && $0.builtAt.depth == 1 },
      { $0.home?.depth == 3 && $0.builtAt.depth == 1 }
    ),
    (
      "one that is never nil", #Predicate { $0.builtAt.name == "harbour 4" },
      { $0.builtAt.name == "harbour 4" }
    ),
    ("what a missing row has", #Predicate { $0.builtAt.depth == 0 }, { $0.builtAt.depth == 0 }),
    (
      "two steps away", #Predicate { $0.home?.country?.name == "country 1" },
      { $0.home?.country?.name == "country 1" }
    ),
    ("no home", #Predicate { $0.home?.name == nil }, { $0.home?.name == nil }),
    (
      "any other home", #Predicate { $0.home?.name != "harbour 7" },
      { $0.home?.name != "harbour 7" }
    ),
    ("nothing at all", #Predicate { $0.home?.name == "harbour 99" }, { _ in false }),
    ("a home that is gone", #Predicate { $0.home?.name == "harbour 39" }, { _ in false }),
  ]

  @Test(arguments: questions.indices)
  func `finds what looking at each object finds`(number: Int) throws {
    let (words, predicate, isWanted) = Self.questions[number]
    let fleet = try Fleet()
    defer { try? FileManager.default.removeItem(at: fleet.url) }
    let all = ModelContext(fleet.container)
    let wanted = try all.fetch(FetchDescriptor<Ship>()).filter(isWanted).map(\.name).sorted()
    let context = ModelContext(fleet.container)
    var descriptor = FetchDescriptor(predicate: predicate)
    #expect(try context.fetchCount(descriptor) == wanted.count, "\(words)")
    #expect(try context.fetchIdentifiers(descriptor).count == wanted.count, "\(words)")
    #expect(try context.fetch(descriptor).map(\.name).sorted() == wanted, "\(words)")
    descriptor.sortBy = [SortDescriptor(\.tonnage), SortDescriptor(\.name)]
    descriptor.fetchLimit = 5
    let first = try all.fetch(FetchDescriptor<Ship>()).filter(isWanted)
      .sorted { ($0.tonnage, $0.name) < ($1.tonnage, $1.name) }.prefix(5).map(\.name)
    #expect(try context.fetch(descriptor).map(\.name) == first, "\(words)")
  }

  @Test func `sees homes that were changed and saved, and those that are not saved yet`() throws {
    let fleet = try Fleet()
    defer { try? FileManager.default.removeItem(at: fleet.url) }
    let context = ModelContext(fleet.container)
    let wanted = FetchDescriptor<Ship>(predicate: #Predicate { $0.home?.name == "harbour 7" })
    let before = try context.fetchCount(wanted)
    let ship = try #require(context.fetch(wanted).first)
    ship.home = nil
    #expect(try context.fetchCount(wanted) == before - 1)
    try context.save()
    #expect(try ModelContext(fleet.container).fetchCount(wanted) == before - 1)
    let harbours = FetchDescriptor<Harbour>(predicate: #Predicate { $0.name == "harbour 7" })
    let harbour = try #require(context.fetch(harbours).first)
    harbour.name = "old harbour"
    try context.save()
    #expect(try ModelContext(fleet.container).fetchCount(wanted) == 0)
  }

  @Test func `is explained as the way along the references`() throws {
    let fleet = try Fleet()
    defer { try? FileManager.default.removeItem(at: fleet.url) }
    let context = ModelContext(fleet.container)
    let wanted = FetchDescriptor<Ship>(predicate: #Predicate { $0.home?.name == "harbour 7" })
    let count = try context.fetchCount(wanted)
    let access = try #require(
      context.explain(wanted).accesses.first { $0.entity == "Ship" }
    )
    #expect(access.path == .references("home"))
    #expect(access.candidateCount == count)
    #expect(access.readRowCount == count)
  }

  @Test func `reads only rows that refer to what was found`() async throws {
    let fleet = try Fleet()
    defer { try? FileManager.default.removeItem(at: fleet.url) }
    try await fleet.container.close()
    var configuration = LogStoreConfiguration(url: fleet.url, durability: .relaxed)
    configuration.schema = Schema([Ship.self, Harbour.self, Country.self])
    let store = try LogStore(configuration, migrationPlan: nil)
    let table = try #require(store.tables.tables(for: Ship.self).first)
    for (predicate, isNamed) in [
      (#Predicate<Ship> { $0.home?.name == "harbour 7" }, true),
      (#Predicate<Ship> { $0.home?.country?.name == "country 9" }, true),
      (#Predicate<Ship> { $0.home?.name != "harbour 7" }, false),
    ] {
      let expression = try QueryExpression(predicate)
      let fetch = try TableFetch(
        store.tables,
        table,
        expression,
        CandidatePlan(expression, store.tables.textHash),
        for: .rows,
        StoreResolver(store.tables)
      )
      #expect(fetch.namesRows == isNamed)
    }
  }
}
