import Foundation
import SwiftData
import Testing

@testable import LogStore

@Suite struct `Undoing the saved insertion of a model whose list has the rule deny` {
  private let club: Club
  private let context: ModelContext
  private let trophies: [Trophy]

  init() throws {
    club = try Club()
    _ = try club.context { context in
      for key in 0..<2 { context.insert(Trophy(key)) }
    }
    context = ModelContext(club.container)
    trophies = try context.fetch(FetchDescriptor<Trophy>(sortBy: [SortDescriptor(\.key)]))
    context.undoManager = UndoManager()
  }

  /// When the list gets its members.
  enum Filling: CaseIterable { case before, after, oneByOne }

  @Test(arguments: Filling.allCases)
  func `can be saved, and gives the members back`(filling: Filling) throws {
    let team = Team(1)
    if filling == .before { team.trophies = trophies }
    context.insert(team)
    if filling == .after { team.trophies = trophies }
    if filling == .oneByOne { for trophy in trophies { trophy.team = team } }
    try context.save()
    context.undoManager?.undo()
    #expect(trophies.allSatisfy { $0.team == nil })
    try context.save()
    let other = ModelContext(club.container)
    #expect(try other.fetchCount(FetchDescriptor<Team>()) == 0)
    let stored = try other.fetch(FetchDescriptor<Trophy>())
    #expect(stored.count == 2 && stored.allSatisfy { $0.team == nil })
    #expect(context.invariantViolations() == [])
  }

  @Test func `throws where another model was added since`() throws {
    let team = Team(1)
    team.trophies = trophies
    context.insert(team)
    try context.save()
    context.undoManager?.disableUndoRegistration()
    Trophy(7).team = team
    try context.save()
    context.undoManager?.enableUndoRegistration()
    context.undoManager?.undo()
    let error = #expect(throws: (any Error).self) { try context.save() }
    #expect("\(error, default: "none")".contains("trophies"))
  }
}

@Model private final class Thicket {
  @Relationship(deleteRule: .deny, inverse: \Bramble.thickets) var brambles: [Bramble] = []
  init() {}
}

@Model private final class Bramble {
  var thickets: [Thicket] = []
  init() {}
}

@Suite struct `Undoing the saved insertion of a model whose list of many to many has the rule deny`
{
  @Test(arguments: [false, true])
  func `can be saved`(isAppended: Bool) throws {
    let container = try ModelContainer(
      for: Thicket.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let brambles = [Bramble(), Bramble()]
    for bramble in brambles { context.insert(bramble) }
    try context.save()
    context.undoManager = UndoManager()
    let thicket = Thicket()
    if isAppended {
      for bramble in brambles { thicket.brambles.append(bramble) }
    } else {
      thicket.brambles = brambles
    }
    context.insert(thicket)
    try context.save()
    context.undoManager?.undo()
    try context.save()
    let other = ModelContext(container)
    #expect(try other.fetchCount(FetchDescriptor<Thicket>()) == 0)
    #expect(try other.fetch(FetchDescriptor<Bramble>()).allSatisfy { $0.thickets.isEmpty })
    #expect(brambles.allSatisfy { $0.thickets.isEmpty })
  }
}

@Model private final class Orchard {
  @Relationship(inverse: \Pear.orchard) var pears: [Pear] = []
  init() {}
}

@Model private final class Pear {
  @Attribute(.unique) var number: Int
  var orchard: Orchard?

  init(_ number: Int, _ orchard: Orchard? = nil) {
    self.number = number
    self.orchard = orchard
  }
}

@Suite struct `Undoing the saved insertion of a model that its save made an update` {
  /// How the new model comes into the list.
  enum Way: CaseIterable { case initializer, end, inserted, initializedAndInserted }

  @Test(arguments: Way.allCases, [false, true])
  func `leaves the model in the list that the update has put there`(
    way: Way,
    isHeld: Bool
  ) throws {
    let container = try ModelContainer(
      for: Orchard.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let first = ModelContext(container)
    let orchard = Orchard()
    first.insert(orchard)
    first.insert(Pear(7))
    first.insert(Pear(8, orchard))
    try first.save()
    let context = ModelContext(container)
    context.undoManager = UndoManager()
    let same = try #require(try context.fetch(FetchDescriptor<Orchard>()).first)
    let held = isHeld ? try context.fetch(FetchDescriptor<Pear>()) : []
    #expect(same.pears.count == 1)
    switch way {
    case .initializer: context.insert(Pear(7, same))
    case .end: Pear(7).orchard = same
    case .inserted: same.pears.insert(Pear(7), at: 0)
    case .initializedAndInserted: same.pears.insert(Pear(7, same), at: 0)
    }
    try context.save()
    #expect(same.pears.count == 2)
    context.undoManager?.undo()
    try context.save()
    let other = try #require(try ModelContext(container).fetch(FetchDescriptor<Orchard>()).first)
    #expect(same.pears.map(\.number) == other.pears.map(\.number))
    #expect(Set(same.pears.map(\.number)) == (isHeld ? [7, 8] : [8]))
    #expect(held.allSatisfy { $0.orchard === same })
    #expect(context.invariantViolations() == [])
  }
}
