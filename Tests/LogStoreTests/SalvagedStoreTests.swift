import Foundation
import LogEngine
import LogStore
import LogTools
import SwiftData
import Testing

/// Its commits are counted from the beginning, however many the damaged one had.
@Suite struct `A store of models that was salvaged` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func url(_ name: String) -> URL { folder.url.appending(path: name) }

  private func open(_ name: String) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(url: url(name))
    configuration.compaction = .onDemand
    return try ModelContainer(for: Ticket.self, Show.self, configurations: configuration)
  }

  private func salvage(_ name: String, to saved: String) throws {
    let report = try StorageEngine.salvage(at: url(name).path, to: url(saved).path)
    #expect(report.isComplete)
  }

  enum Place: CaseIterable, Sendable { case log, pack }

  /// Makes a store with a list that was written by a late save.
  private func makeList(in place: Place) throws {
    let container = try open("store")
    let context = ModelContext(container)
    let show = Show("show")
    context.insert(show)
    for number in 0..<60 {
      show.title = "show \(number)"
      try context.save()
    }
    for seat in ["a", "b", "c"] { show.tickets.append(Ticket(seat, price: 0)) }
    try context.save()
    if place == .pack { try container.stores(of: LogStore.self).first?.compact() }
  }

  private func change(_ name: String, _ change: (Show, ModelContext) throws -> Void) throws {
    let context = ModelContext(try open(name))
    let show = try #require(try context.fetch(FetchDescriptor<Show>()).first)
    try change(show, context)
    try context.save()
  }

  private func seats(_ name: String) throws -> [String] {
    let shows = try ModelContext(try open(name)).fetch(FetchDescriptor<Show>())
    return try #require(shows.first).tickets.map(\.seat)
  }

  @Test(arguments: Place.allCases)
  func `appends to its lists behind what was in them`(place: Place) throws {
    try makeList(in: place)
    try salvage("store", to: "saved")
    #expect(try seats("saved") == ["a", "b", "c"])
    try change("saved") { show, _ in show.tickets.append(Ticket("d", price: 0)) }
    #expect(try seats("saved") == ["a", "b", "c", "d"])
    try salvage("saved", to: "saved again")
    try change("saved again") { show, _ in show.tickets.append(Ticket("e", price: 0)) }
    #expect(try seats("saved again") == ["a", "b", "c", "d", "e"])
  }

  @Test(arguments: Place.allCases)
  func `has members of its lists move to their ends`(place: Place) throws {
    try makeList(in: place)
    try salvage("store", to: "saved")
    try change("saved") { show, _ in show.tickets.append(show.tickets.removeFirst()) }
    #expect(try seats("saved") == ["b", "c", "a"])
    try change("saved") { show, _ in show.tickets.swapAt(0, 2) }
    #expect(try seats("saved") == ["a", "c", "b"])
  }

  private func transactions(
    _ context: ModelContext,
    _ predicate: Predicate<Transaction>? = nil
  ) throws -> [Transaction] {
    try context.fetchHistory(HistoryDescriptor(predicate: predicate))
  }

  @Test(arguments: [0, 1, 15, 20])
  func `tells what is saved in it, and nothing from before`(deletedCount: Int) throws {
    var tokens: [DefaultHistoryToken] = []
    do {
      let context = ModelContext(try open("store"))
      for number in 0..<20 {
        context.insert(Ticket("\(number)", price: 0))
        try context.save()
      }
      tokens = try transactions(context).map(\.token)
      try #require(tokens.count == 20)
      if deletedCount > 0 {
        let last = tokens[deletedCount - 1]
        let predicate = #Predicate<Transaction> { $0.token <= last }
        try context.deleteHistory(HistoryDescriptor(predicate: predicate))
      }
    }
    try salvage("store", to: "saved")
    let context = ModelContext(try open("saved"))
    #expect(try transactions(context).isEmpty)
    let last = tokens[19]
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try transactions(context, #Predicate { $0.token > last })
    }
    var newest: DefaultHistoryToken?
    for number in 0..<3 {
      context.insert(Ticket("new \(number)", price: 0))
      try context.save()
      #expect(try transactions(context).count == number + 1)
      if let newest {
        #expect(try transactions(context, #Predicate { $0.token > newest }).count == 1)
      }
      newest = try #require(try transactions(context).last?.token)
    }
    #expect(try context.fetchCount(FetchDescriptor<Ticket>()) == 23)
  }
}
