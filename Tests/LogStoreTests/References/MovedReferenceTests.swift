import Foundation
import LogEngine
import SchedulePoints
import SwiftData
import Testing

@testable import LogStore

@Suite struct `A reference that a delete rule makes nil` {
  let club: Club

  init() throws {
    club = try Club()
    try club.context { context in
      let (team, other) = (Team(1), Team(2))
      context.insert(team)
      context.insert(other)
      team.members = [Player(3), Player(4)]
      team.captain = team.members[0]
    }
  }

  @Test(arguments: [SchedulePoint.beforeClaim, .beforeCommit], [false, true])
  func `gives way to what another save has set before it is committed`(
    at point: SchedulePoint,
    hasOtherChanges: Bool
  ) throws {
    let container = club.container
    let context = ModelContext(container)
    let (player, mate) = (try context.player(3), try context.player(4))
    context.delete(try context.team(1))
    if hasOtherChanges { player.points = 9 }
    try atFirst(point) {
      let other = ModelContext(container)
      try other.player(3).team = try other.team(2)
      try other.save()
    } during: {
      try context.save()
    }
    let fresh = ModelContext(container)
    #expect(try fresh.player(3).team?.key == 2)
    #expect(try fresh.player(3).points == (hasOtherChanges ? 9 : 0))
    #expect(try fresh.player(4).team == nil)
    #expect(try fresh.team(2).members.map(\.key) == [3])
    #expect(try fresh.fetchCount(FetchDescriptor<Team>()) == 1)
    #expect(player.team?.key == 2)
    #expect(mate.team == nil)
    #expect(context.invariantViolations() == [])
    #expect(try container.storeInvariantViolations() == [])
  }

  @Test func `stays nil if another save has made it nil too`() throws {
    let container = club.container
    let context = ModelContext(container)
    context.delete(try context.team(1))
    try atFirst(.beforeCommit) {
      let other = ModelContext(container)
      try other.player(3).team = nil
      try other.save()
    } during: {
      try context.save()
    }
    #expect(try ModelContext(container).player(3).team == nil)
    #expect(try container.storeInvariantViolations() == [])
  }

  @Test(arguments: [false, true])
  func `gives way at each of two references of one row`(isCaptain: Bool) throws {
    let container = club.container
    let context = ModelContext(container)
    let player = try context.player(3)
    context.delete(try context.team(1))
    try atFirst(.beforeCommit) {
      let other = ModelContext(container)
      let team = try other.team(2)
      if isCaptain {
        team.captain = try other.player(3)
      } else {
        team.members = [try other.player(3)]
      }
      try other.save()
    } during: {
      try context.save()
    }
    let fresh = ModelContext(container)
    #expect(try fresh.player(3).captainOf?.key == (isCaptain ? 2 : nil))
    #expect(try fresh.player(3).team?.key == (isCaptain ? nil : 2))
    #expect(player.captainOf?.key == (isCaptain ? 2 : nil))
    #expect(player.team?.key == (isCaptain ? nil : 2))
    #expect(try container.storeInvariantViolations() == [])
  }

  @Test func `leaves it known what was shown of a model that gives way`() throws {
    let container = club.container
    let context = ModelContext(container)
    let mate = try context.player(4)
    #expect(mate.points == 0)
    context.delete(try context.team(1))
    try atFirst(.beforeCommit) {
      let other = ModelContext(container)
      try other.player(4).team = try other.team(2)
      try other.save()
    } during: {
      try context.save()
    }
    let other = ModelContext(container)
    try other.player(4).points = 5
    try other.save()
    mate.points = 1
    #expect(throws: SwiftDataError.modelValidationFailure) {
      try context.save(mergePolicy: .throw)
    }
    #expect(try ModelContext(container).player(4).points == 5)
  }

  @Test func `of rows that a predicate deletes gives way, too`() throws {
    let rows = try ShowRows()
    let (show, other, ticket) = (rows.newShow(), rows.newShow(), rows.newTicket())
    try rows.store.save(author: nil) {
      rows.insert(show: show, into: $0)
      rows.insert(show: other, into: $0)
      rows.insert(ticket: ticket, of: show, into: $0)
    }
    let dangling = DanglingReferences.Reference(row: ticket, column: rows.showColumn, target: show)
    #expect(throws: MovedReference(ticket, column: rows.showColumn)) {
      try atFirst(.beforeCommit) {
        try rows.store.save(author: nil) { rows.move(ticket, to: other, in: $0) }
      } during: {
        try rows.store.save(author: nil) {
          $0.delete(show)
          try rows.store.nullify([dangling], in: $0)
        }
      }
    }
    #expect(try rows.members(of: other).map(\.reference) == [ticket])
    #expect(try rows.store.engine.contains(show))
  }
}
