import Foundation
import SwiftData
import Testing

@testable import ModelRuntime

@Model final class Barrel {
  var number: Int
  var lorry: Lorry?
  var label: BarrelLabel?
  var yard: Yard?
  init(_ number: Int) { self.number = number }
}

@Model class Lorry {
  var name: String
  @Relationship(inverse: \Barrel.lorry) var barrels: [Barrel] = []
  init(name: String) { self.name = name }
}

@Model final class ElectricLorry: Lorry {
  var charge = 0.5
  init(charge: Double) {
    self.charge = charge
    super.init(name: "electric")
  }
}

@Model final class BarrelLabel {
  var text: String
  @Relationship(inverse: \Barrel.label) var barrel: Barrel?
  init(_ text: String) { self.text = text }
}

/// Nothing leads back from here.
@Model final class Yard {
  var town: String
  init(_ town: String) { self.town = town }
}

@Suite struct `A to-one relationship of an object without a state` {
  private let container: ModelContainer

  init() throws {
    container = try ModelContainer(
      for: Schema([Barrel.self, Lorry.self, ElectricLorry.self, BarrelLabel.self, Yard.self]),
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    let context = ModelContext(container)
    let lorries = [Lorry(name: "red"), Lorry(name: "blue"), ElectricLorry(charge: 0.75)]
    let yard = Yard("Ulm")
    for number in 0..<40 {
      let barrel = Barrel(number)
      context.insert(barrel)
      barrel.lorry = number % 4 < 3 ? lorries[number % 4] : nil
      barrel.label = BarrelLabel("label \(number)")
      barrel.yard = yard
    }
    try context.save()
  }

  enum Prefetching: CaseIterable {
    case none, lorries, all

    var keyPaths: [PartialKeyPath<Barrel>] {
      switch self {
      case .none: []
      case .lorries: [\.lorry]
      case .all: [\.lorry, \.label, \.yard]
      }
    }
  }

  private func barrels(
    _ context: ModelContext,
    prefetching: Prefetching = .none
  ) throws -> [Barrel] {
    var descriptor = FetchDescriptor<Barrel>(sortBy: [SortDescriptor(\.number)])
    descriptor.relationshipKeyPathsForPrefetching = prefetching.keyPaths
    return try context.fetch(descriptor)
  }

  private func isFault(_ barrel: Barrel) -> Bool { barrel._$fetchedRow.stored != nil }

  @Test(arguments: Prefetching.allCases)
  func `leads to the model of its row`(prefetching: Prefetching) throws {
    let context = ModelContext(container)
    let found = try barrels(context, prefetching: prefetching)
    for barrel in found {
      let name = [0: "red", 1: "blue", 2: "electric"][barrel.number % 4]
      #expect(barrel.lorry?.name == name)
      #expect(((barrel.lorry as? ElectricLorry)?.charge == 0.75) == (barrel.number % 4 == 2))
      // Neither made a state for it, unless it was asked for what only a state can tell.
      #expect(isFault(barrel) == (prefetching != .all))
    }
    let blue = try #require(found[1].lorry)
    #expect(found.filter { $0.lorry === blue }.count == 10)
    #expect(blue.barrels.count == 10)
    #expect(found[5].label?.text == "label 5")
    #expect(found[6].yard?.town == "Ulm")
  }

  @Test func `leads to a model that was fetched before, with or without a state`() throws {
    let context = ModelContext(container)
    let lorries = try context.fetch(FetchDescriptor<Lorry>())
    lorries.first { $0.name == "red" }?.name = "green"
    let found = try barrels(context)
    #expect(found[0].lorry?.name == "green")
    #expect(lorries.contains { $0 === found[1].lorry })
    #expect(lorries.contains { $0 === found[2].lorry })
    #expect(isFault(found[0]) && isFault(found[1]) && isFault(found[2]))
  }

  @Test(arguments: Prefetching.allCases)
  func `leads nowhere once the other model is deleted here`(prefetching: Prefetching) throws {
    let context = ModelContext(container)
    let lorry = try #require(try context.fetch(FetchDescriptor<Lorry>()).first { $0.name == "red" })
    context.delete(lorry)
    let found = try barrels(context, prefetching: prefetching)
    #expect(found[0].lorry == nil)
    #expect(found[1].lorry?.name == "blue")
    context.rollback()
    #expect(found[0].lorry === lorry)
  }

  @Test func `leads to what was set, from either end`() throws {
    let context = ModelContext(container)
    let found = try barrels(context)
    let (red, blue) = (try #require(found[0].lorry), try #require(found[1].lorry))
    found[0].lorry = blue
    #expect(found[0].lorry === blue)
    red.barrels.append(found[5])
    #expect(found[5].lorry === red)
    red.barrels.removeAll { $0 === found[4] }
    #expect(found[4].lorry == nil)
    try context.save()
    let after = try barrels(ModelContext(container))
    #expect(after[0].lorry?.name == "blue")
    #expect(after[5].lorry?.name == "red")
    #expect(after[4].lorry == nil)
  }

  @Test func `leads elsewhere once another context has saved that and it is fetched again`() throws
  {
    let context = ModelContext(container)
    let found = try barrels(context)
    #expect(found[0].lorry?.name == "red")
    let other = ModelContext(container)
    let theirs = try barrels(other)
    theirs[0].lorry = theirs[1].lorry
    theirs[1].lorry = nil
    try other.save()
    _ = try barrels(context)
    #expect(found[0].lorry?.name == "blue")
    #expect(found[1].lorry == nil)
  }

  @Test func `keeps neither its context nor what was prefetched for ever`() throws {
    weak var weakContext: ModelContext?
    do {
      let context = ModelContext(container)
      weakContext = context
      let found = try barrels(context, prefetching: .lorries)
      #expect(found.compactMap { $0.lorry?.name }.count == 30)
    }
    #expect(weakContext == nil)
  }

  @Test func `can be followed from a model that outlives all else`() throws {
    let barrel = try #require(try barrels(ModelContext(container))[2...].first)
    #expect((barrel.lorry as? ElectricLorry)?.charge == 0.75)
    #expect(isFault(barrel))
  }
}
