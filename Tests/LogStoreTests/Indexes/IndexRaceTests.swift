import Foundation
import LogEngine
import ModelRuntime
import RowFormat
import SwiftData
import Synchronization
import Testing

@testable import LogStore

@Suite struct `Indexes beside saves` {
  let rows: ShowRows
  let store: TableStore

  init() throws {
    rows = try ShowRows()
    store = rows.store
  }

  func insertShows(_ count: Int) throws -> [RowReference] {
    let shows = (0..<count).map { _ in rows.newShow() }
    try store.save(author: nil) { for show in shows { rows.insert(show: show, into: $0) } }
    return shows
  }

  func keys(of show: RowReference) throws -> [UInt64] {
    try rows.members(of: show).map(\.reference.key)
  }

  /// What a scan of the tickets finds, however the index was come by.
  func scanned(_ show: RowReference) throws -> [UInt64] {
    var found: [UInt64] = []
    try store.engine.scan(rows.tickets.number) { key, layout, row in
      let target = try rows.tickets.withCurrentRow(row, layout: layout, key: key) {
        rows.tickets.target(of: $0, rows.showColumn)
      }
      if target == show { found.append(key) }
      return .proceed
    }
    return found
  }

  @Test func `know a save that was collected before they were made`() throws {
    let show = try insertShows(1)[0]
    let tickets = (0..<3).map { _ in rows.newTicket() }
    try store.save(author: nil) { sink in
      rows.insert(ticket: tickets[0], of: show, into: sink)
      // Between collecting and committing, another reads the list.
      let list = try rows.members(of: show)
      #expect(list.isEmpty)
      rows.insert(ticket: tickets[1], of: show, into: sink)
    }
    try store.checkIndexes()
    #expect(try keys(of: show) == tickets[..<2].map(\.key))
    try store.save(author: nil) { rows.insert(ticket: tickets[2], of: show, into: $0) }
    #expect(try keys(of: show) == tickets.map(\.key))
  }

  @Test(arguments: [false, true])
  func `follow two saves that move one row from the same list`(isMade: Bool) throws {
    let shows = try insertShows(3)
    let ticket = rows.newTicket()
    try store.save(author: nil) { rows.insert(ticket: ticket, of: shows[0], into: $0) }
    if isMade { #expect(try keys(of: shows[0]) == [ticket.key]) }
    try store.save(author: nil) { first in
      rows.move(ticket, to: shows[1], in: first)
      // Collected later, and committed earlier.
      try store.save(author: nil) { rows.move(ticket, to: shows[2], in: $0) }
    }
    try store.checkIndexes()
    let lists = try shows.map { try keys(of: $0) }
    #expect(lists == [[], [ticket.key], []])
  }

  @Test func `follow a row that is moved there and back`() throws {
    let shows = try insertShows(2)
    let ticket = rows.newTicket()
    try store.save(author: nil) { rows.insert(ticket: ticket, of: shows[0], rank: 5, into: $0) }
    _ = try keys(of: shows[0])
    let view = store.engine.makeReadView()
    for (show, rank) in [(1, 1), (0, 2), (1, 3), (0, 5)] {
      try store.save(author: nil) { rows.move(ticket, to: shows[show], rank: Int64(rank), in: $0) }
      try store.checkIndexes()
    }
    #expect(try rows.members(of: shows[0]) == [ReferringRow(reference: ticket, rank: 5)])
    let index = try #require(store.indexes.references(rows.tickets.number, rows.showColumn))
    let before = try #require(try index.keys(as: view, in: store))
    #expect(try before.rows(referringTo: shows[0]).map(\.reference) == [ticket])
  }

  @Test func `let go of a row that is moved and deleted at once`() throws {
    let shows = try insertShows(2)
    let ticket = rows.newTicket()
    try store.save(author: nil) { rows.insert(ticket: ticket, of: shows[0], into: $0) }
    _ = try keys(of: shows[0])
    #expect(throws: VanishedRow.self) {
      try store.save(author: nil) { first in
        rows.move(ticket, to: shows[1], in: first)
        try store.save(author: nil) { $0.delete(ticket) }
      }
    }
    try store.checkIndexes()
    var lists = try shows.map { try keys(of: $0) }
    #expect(lists == [[], []])

    let other = rows.newTicket()
    try store.save(author: nil) { rows.insert(ticket: other, of: shows[0], into: $0) }
    try store.save(author: nil) { first in
      first.delete(other)
      try store.save(author: nil) { rows.move(other, to: shows[1], in: $0) }
    }
    try store.checkIndexes()
    lists = try shows.map { try keys(of: $0) }
    #expect(lists == [[], []])
  }

  @Test func `answer for a view what was so then`() throws {
    let shows = try insertShows(2)
    let tickets = (0..<200).map { _ in rows.newTicket() }
    try store.save(author: nil) { sink in
      for ticket in tickets { rows.insert(ticket: ticket, of: shows[0], into: sink) }
    }
    _ = try keys(of: shows[0])
    let index = try #require(store.indexes.references(rows.tickets.number, rows.showColumn))
    var views: [(ReadView, moved: Int)] = []
    for (number, ticket) in tickets.enumerated() {
      if number % 20 == 0 { views.append((store.engine.makeReadView(), number)) }
      try store.save(author: nil) { rows.move(ticket, to: shows[1], in: $0) }
    }
    for (view, moved) in views.shuffled() {
      let keys = try #require(try index.keys(as: view, in: store))
      #expect(try keys.rows(referringTo: shows[0]).count == tickets.count - moved)
      #expect(try keys.rows(referringTo: shows[1]).count == moved)
    }
  }

  @Test(arguments: [1, 2])
  func `hold what a scan finds, whatever eight threads do`(seed: UInt64) throws {
    let shows = try insertShows(5)
    let tickets = (0..<64).map { _ in rows.newTicket() }
    try store.save(author: nil) { sink in
      for ticket in tickets { rows.insert(ticket: ticket, of: shows[0], into: sink) }
    }
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      var random = SeededRandom(seed: seed * 100 + UInt64(thread))
      for _ in 0..<150 {
        let show = shows[random.next(below: shows.count)]
        do {
          switch random.next(below: 10) {
          case 0: _ = try rows.members(of: show)
          case 1: try store.checkIndexes()
          case 2:
            let new = rows.newTicket()
            try store.save(author: nil) { rows.insert(ticket: new, of: show, into: $0) }
          case 3:
            try store.save(author: nil) { $0.delete(tickets[random.next(below: 64)]) }
          default:
            let some = Set((0..<3).map { _ in tickets[random.next(below: 64)] })
            let rank = Int64(random.next(below: 50))
            try store.save(author: nil) { sink in
              for ticket in some { rows.move(ticket, to: show, rank: rank, in: sink) }
            }
          }
        } catch {
          #expect(error is VanishedRow, "seed \(seed)")
        }
      }
    }
    try store.checkIndexes()
    for show in shows {
      let stored = try scanned(show)
      #expect(try keys(of: show).sorted() == stored, "seed \(seed)")
    }
  }
}

@Suite struct `A fetch beside saves` {
  @Test(arguments: [false, true])
  func `sees all of a commit or nothing, on every access path`(isSorted: Bool) throws {
    let container = try ModelContainer(
      for: indexedSchema,
      configurations: [ModelConfiguration(isStoredInMemoryOnly: true)]
    )
    let filler = ModelContext(container)
    for number in 0..<2000 {
      let place = number < 2 ? "pair" : "place \(number)"
      filler.insert(Measurement(0, place: place, level: 0, taken: .distantPast))
    }
    try filler.save()
    let torn = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)
    DispatchQueue.concurrentPerform(iterations: 3) { thread in
      let context = ModelContext(container)
      var descriptor = FetchDescriptor<Measurement>(
        predicate: #Predicate { $0.place == "pair" }
      )
      if isSorted {
        descriptor.sortBy = [SortDescriptor(\.level)]
        descriptor.fetchLimit = 2
      }
      do {
        if thread == 0 {
          let pair = try context.fetch(descriptor)
          for round in 1...2000 {
            for measurement in pair { measurement.value = round }
            try context.save()
          }
          isOver.store(true, ordering: .releasing)
        } else {
          while !isOver.load(ordering: .acquiring) {
            let pair = try ModelContext(container).fetch(descriptor).map(\.value)
            if pair.count != 2 || pair[0] != pair[1] { torn.add(1, ordering: .relaxed) }
          }
        }
      } catch {
        Issue.record(error)
        isOver.store(true, ordering: .releasing)
      }
    }
    #expect(torn.load(ordering: .relaxed) == 0)
  }
}
