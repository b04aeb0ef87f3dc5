import Foundation
import LogStore
import SwiftData
import Testing

/// As the class of the same name in Apple's sample "Backyard Birds".
@Model private final class Backyard {
  @Relationship(inverse: \Shrub.backyard) var leadingPlants: [Shrub] = []
  @Relationship(inverse: \Shrub.backyard) var trailingPlants: [Shrub] = []

  init() {}
}

@Model private final class Shrub {
  var variant: Int
  var backyard: Backyard?

  init(_ variant: Int) { self.variant = variant }
}

/// Its plants name one of its lists, and another names them.
@Model private final class Terrace {
  var leading: [Fern] = []
  @Relationship(inverse: \Fern.terrace) var trailing: [Fern] = []

  init() {}
}

@Model private final class Fern {
  var variant: Int
  @Relationship(inverse: \Terrace.leading) var terrace: Terrace?

  init(_ variant: Int) { self.variant = variant }
}

@Suite struct `Two lists that name one inverse` {
  @Test func `hold what each was given, and lose what is deleted`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "backyards")
    func open() throws -> ModelContext {
      ModelContext(
        try ModelContainer(
          for: Backyard.self,
          Shrub.self,
          configurations: ModelConfiguration(url: url)
        )
      )
    }
    do {
      let context = try open()
      let backyard = Backyard()
      context.insert(backyard)
      backyard.leadingPlants = (0..<3).map { Shrub($0) }
      backyard.trailingPlants = (3..<6).map { Shrub($0) }
      try context.save()
    }
    do {
      let context = try open()
      let backyard = try #require(try context.fetch(FetchDescriptor<Backyard>()).first)
      #expect(backyard.leadingPlants.map(\.variant) == [0, 1, 2])
      #expect(backyard.trailingPlants.map(\.variant) == [3, 4, 5])
      #expect(backyard.leadingPlants.allSatisfy { $0.backyard === backyard })
      let plant = backyard.leadingPlants[0]
      backyard.trailingPlants.append(plant)
      backyard.leadingPlants.removeFirst()
      context.delete(backyard.trailingPlants[0])
      try context.save()
    }
    let context = try open()
    let backyard = try #require(try context.fetch(FetchDescriptor<Backyard>()).first)
    #expect(backyard.leadingPlants.map(\.variant) == [1, 2])
    #expect(backyard.trailingPlants.map(\.variant) == [4, 5, 0])
    let leading = #Predicate<Backyard> { $0.trailingPlants.contains { $0.variant == 0 } }
    #expect(try context.fetchCount(FetchDescriptor(predicate: leading)) == 1)
  }

  enum Place: CaseIterable { case owner, members }

  @Test(arguments: Place.allCases)
  func `hold their own models, where the inverse names one of them`(first: Place) throws {
    let folder = try TemporaryFolder()
    let schema = Schema(
      first == .owner ? [Terrace.self, Fern.self] : [Fern.self, Terrace.self]
    )
    let configuration = LogStoreConfiguration(url: folder.url.appending(path: "terraces"))
    let container = try ModelContainer(for: schema, configurations: [configuration])
    do {
      let context = ModelContext(container)
      let terrace = Terrace()
      context.insert(terrace)
      terrace.leading = (0..<2).map { Fern($0) }
      terrace.trailing = (2..<4).map { Fern($0) }
      try context.save()
    }
    let context = ModelContext(container)
    let terrace = try #require(try context.fetch(FetchDescriptor<Terrace>()).first)
    #expect(terrace.leading.map(\.variant) == [0, 1])
    #expect(terrace.trailing.map(\.variant) == [2, 3])
    #expect(terrace.leading.allSatisfy { $0.terrace === terrace })
    #expect(terrace.trailing.allSatisfy { $0.terrace == nil })
  }
}
