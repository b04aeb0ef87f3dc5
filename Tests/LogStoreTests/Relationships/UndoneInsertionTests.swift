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
