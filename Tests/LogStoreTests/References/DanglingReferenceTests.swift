import Foundation
import LogEngine
import ModelRuntime
import RowFormat
import SwiftData
import Synchronization
import Testing

@testable import LogStore

/// A store of shows and their tickets, written to row by row, as a context would.
struct ShowRows {
  let store: TableStore
  let shows: EntityTable
  let tickets: EntityTable
  var showColumn: Int { ModelDescriptor.of(Ticket.self).property(named: "show")?.ordinal ?? 0 }

  init() throws {
    store = try TableStore(inMemoryFor: Schema([Ticket.self, Show.self]), migrationPlan: nil)
    shows = try #require(store.tables.first { $0.descriptor.entityName == "Show" })
    tickets = try #require(store.tables.first { $0.descriptor.entityName == "Ticket" })
  }

  func newShow() -> RowReference {
    RowReference(table: shows.number, key: store.engine.reserveKeys(1, in: shows.number).lowerBound)
  }

  func newTicket() -> RowReference {
    let key = store.engine.reserveKeys(1, in: tickets.number).lowerBound
    return RowReference(table: tickets.number, key: key)
  }

  func insert(show: RowReference, into sink: any RowChangeSink) {
    write(shows, { _ in }) { sink.insert(show, row: $0) }
  }

  func insert(
    ticket: RowReference,
    of show: RowReference?,
    rank: Int64 = 0,
    into sink: any RowChangeSink
  ) {
    write(tickets, { refer(&$0, to: show, rank) }) { sink.insert(ticket, row: $0) }
  }

  /// Moves a ticket to another show, or to none.
  func move(
    _ ticket: RowReference,
    to show: RowReference?,
    rank: Int64 = 0,
    in sink: any RowChangeSink
  ) {
    var changed = ColumnSet()
    changed.insert(showColumn)
    if let rank = tickets.descriptor.rankColumns[showColumn] { changed.insert(rank) }
    write(tickets, { refer(&$0, to: show, rank) }) {
      sink.update(ticket, changed: changed, row: $0)
    }
  }

  func members(of show: RowReference) throws -> [ReferringRow] {
    try store.rows(referringTo: show, inTable: tickets.number, column: showColumn)
  }

  private func refer(_ writer: inout RowWriter, to show: RowReference?, _ rank: Int64) {
    guard let show else { return }
    writer.set(showColumn, reference: show)
    if let column = tickets.descriptor.rankColumns[showColumn] { writer.set(column, integer: rank) }
  }

  private func write(
    _ table: EntityTable,
    _ fill: (inout RowWriter) -> Void,
    _ body: (RawSpan) -> Void
  ) {
    let defaults = table.descriptor.defaultRow()
    var writer = RowWriter()
    writer.begin(table.layout)
    defaults.withUnsafeBytes { bytes in
      for property in table.descriptor.properties where !property.isRelationship {
        writer.copy(
          property.ordinal,
          from: bytes.bytes,
          column: property.ordinal,
          layout: table.layout
        )
      }
    }
    fill(&writer)
    let range = writer.finish()
    body(writer.bytes.extracting(range))
  }
}

@Suite struct `A save that would leave a reference to a row that does not exist` {
  let rows: ShowRows
  let show: RowReference
  let ticket: RowReference

  init() throws {
    let rows = try ShowRows()
    let (show, ticket) = (rows.newShow(), rows.newTicket())
    try rows.store.save(author: nil) {
      rows.insert(show: show, into: $0)
      rows.insert(ticket: ticket, of: show, into: $0)
    }
    (self.rows, self.show, self.ticket) = (rows, show, ticket)
  }

  var reference: DanglingReferences.Reference {
    .init(row: ticket, column: rows.showColumn, target: show)
  }

  @Test func `is refused, with the rows that refer to what it deletes`() throws {
    #expect(throws: DanglingReferences(toDeletedRows: [reference], toMissingRows: [])) {
      try rows.store.save(author: nil) { $0.delete(show) }
    }
    #expect(try rows.store.engine.contains(show))
    #expect(try rows.members(of: show).map(\.reference) == [ticket])
  }

  @Test func `goes through if it deletes those rows too, or points them elsewhere`() throws {
    let (other, second) = (rows.newShow(), rows.newTicket())
    try rows.store.save(author: nil) {
      rows.insert(show: other, into: $0)
      rows.insert(ticket: second, of: show, into: $0)
    }
    try rows.store.save(author: nil) {
      rows.move(second, to: other, in: $0)
      $0.delete(ticket)
      $0.delete(show)
    }
    #expect(try rows.members(of: other).map(\.reference) == [second])
    try rows.store.save(author: nil) {
      rows.move(second, to: nil, in: $0)
      $0.delete(other)
    }
    #expect(try rows.members(of: other).isEmpty)
  }

  @Test func `is refused, with what it writes of references to a row that is gone`() throws {
    let (gone, other) = (rows.newShow(), rows.newTicket())
    let written = DanglingReferences.Reference(row: other, column: rows.showColumn, target: gone)
    #expect(throws: DanglingReferences(toDeletedRows: [], toMissingRows: [written])) {
      try rows.store.save(author: nil) { rows.insert(ticket: other, of: gone, into: $0) }
    }
    let moved = DanglingReferences.Reference(row: ticket, column: rows.showColumn, target: gone)
    #expect(throws: DanglingReferences(toDeletedRows: [], toMissingRows: [moved])) {
      try rows.store.save(author: nil) { rows.move(ticket, to: gone, in: $0) }
    }
  }

  @Test func `is refused if it refers to what it deletes`() throws {
    let other = rows.newTicket()
    let written = DanglingReferences.Reference(row: other, column: rows.showColumn, target: show)
    #expect(throws: DanglingReferences(toDeletedRows: [], toMissingRows: [written])) {
      try rows.store.save(author: nil) {
        rows.insert(ticket: other, of: show, into: $0)
        $0.delete(ticket)
        $0.delete(show)
      }
    }
  }

  @Test func `goes through for rows that refer to each other and come together`() throws {
    let (new, other) = (rows.newShow(), rows.newTicket())
    try rows.store.save(author: nil) {
      rows.insert(ticket: other, of: new, into: $0)
      rows.insert(show: new, into: $0)
    }
    #expect(try rows.members(of: new).map(\.reference) == [other])
  }

  @Test func `becomes an error that names model and property in a context`() throws {
    let container = try ModelContainer(
      for: Ticket.self,
      Show.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    let show = Show("The Tempest")
    let ticket = Ticket("A1", price: 10)
    context.insert(show)
    context.insert(ticket)
    try context.save()
    let other = ModelContext(container)
    for show in try other.fetch(FetchDescriptor<Show>()) { other.delete(show) }
    ticket.show = show
    try other.save()
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.propertyName == "show")
    #expect(error?.entityName == "Ticket")
    #expect(error?.underlyingError is DanglingReferences)
  }

  @Test func `loses to one or the other of two threads, and never leaves a ghost`() throws {
    let rows = rows
    let refused = Mutex((deleting: 0, attaching: 0))
    for _ in 0..<300 {
      let show = rows.newShow()
      try rows.store.save(author: nil) { rows.insert(show: show, into: $0) }
      let gate = Atomic<Int>(0)
      @Sendable func meet() {
        gate.add(1, ordering: .acquiringAndReleasing)
        while gate.load(ordering: .acquiring) < 2 {}
      }
      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        meet()
        do {
          try rows.store.save(author: nil) {
            if thread == 0 {
              $0.delete(show)
            } else {
              rows.insert(ticket: rows.newTicket(), of: show, into: $0)
            }
          }
        } catch {
          #expect(error is DanglingReferences)
          refused.withLock {
            if thread == 0 { $0.deleting += 1 } else { $0.attaching += 1 }
          }
        }
      }
      let members = try rows.members(of: show)
      let stands = try rows.store.engine.contains(show)
      #expect(members.isEmpty || stands)
    }
    let (deleting, attaching) = refused.withLock { $0 }
    #expect(deleting + attaching == 300)
  }
}

@Suite struct `Rows that refer to a row` {
  @Test func `come in the order of their ranks, then of their keys`() throws {
    let rows = try ShowRows()
    let show = rows.newShow()
    let tickets = (0..<6).map { _ in rows.newTicket() }
    let ranks: [Int64] = [3, 1, 2, 1, -5, 3]
    try rows.store.save(author: nil) { sink in
      rows.insert(show: show, into: sink)
      for (ticket, rank) in zip(tickets, ranks) {
        rows.insert(ticket: ticket, of: show, rank: rank, into: sink)
      }
    }
    #expect(
      try rows.members(of: show)
        == [(4, -5), (1, 1), (3, 1), (2, 2), (0, 3), (5, 3)].map {
          ReferringRow(reference: tickets[$0.0], rank: $0.1)
        }
    )
  }

  @Test func `lose the reference when a predicate deletes the row`() throws {
    let rows = try ShowRows()
    let (show, ticket) = (rows.newShow(), rows.newTicket())
    try rows.store.save(author: nil) {
      rows.insert(show: show, into: $0)
      rows.insert(ticket: ticket, of: show, into: $0)
    }
    let dangling = DanglingReferences.Reference(row: ticket, column: rows.showColumn, target: show)
    try rows.store.save(author: nil) {
      $0.delete(show)
      try rows.store.nullify([dangling], in: $0)
    }
    #expect(try rows.members(of: show).isEmpty)
    _ = try rows.store.withRow(at: ticket) {
      let isNull = rows.tickets.layout.isNull(rows.showColumn, in: $0)
      #expect(isNull)
    }
  }
}
