import Foundation
import SwiftData
import Testing

@Model final class Departure {
  var name: String

  init(_ name: String) { self.name = name }
}

@Model final class Memorandum {
  var text: String

  init(_ text: String) { self.text = text }
}

@Suite struct `The history of two stores` {
  private typealias Token = DefaultHistoryToken
  private let context: ModelContext

  init() throws {
    // Stores in memory of one name are one.
    let name = UUID().uuidString
    let configurations = [
      ModelConfiguration(
        name + " one",
        schema: Schema([Departure.self]),
        isStoredInMemoryOnly: true
      ),
      ModelConfiguration(
        name + " two",
        schema: Schema([Memorandum.self]),
        isStoredInMemoryOnly: true
      ),
    ]
    context = ModelContext(
      try ModelContainer(
        for: Schema([Departure.self, Memorandum.self]),
        configurations: configurations
      )
    )
  }

  private func save(_ models: any PersistentModel...) throws {
    for model in models { context.insert(model) }
    try context.save()
  }

  private func transactions(since token: Token) throws -> [DefaultHistoryTransaction] {
    try context.fetchHistory(HistoryDescriptor(predicate: #Predicate { $0.token > token }))
  }

  private func newestToken() throws -> Token {
    var newest = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [SortDescriptor(\.token, order: .reverse)]
    )
    newest.fetchLimit = 1
    return try #require(try context.fetchHistory(newest).first?.token)
  }

  @Test func `is told once, although only one of them has news`() throws {
    for number in 0..<3 { try save(Departure("\(number)"), Memorandum("\(number)")) }
    var last = try newestToken()
    try save(Departure("news"))
    for expected in [1, 0, 0] {
      let news = try transactions(since: last)
      #expect(news.count == expected)
      last = news.last?.token ?? last
      #expect(last.tokenValue?.count == 2)
    }
    try save(Memorandum("news"))
    let news = try transactions(since: last)
    #expect(news.map(\.changes.count) == [1])
    last = news.last?.token ?? last
    #expect(try transactions(since: last).isEmpty)
  }

  @Test func `is told page by page, each transaction once`() throws {
    for number in 0..<5 { try save(Departure("\(number)"), Memorandum("\(number)")) }
    for number in 5..<8 { try save(Departure("\(number)")) }
    var last: Token?
    var told: [String] = []
    repeat {
      var page = HistoryDescriptor<DefaultHistoryTransaction>()
      if let token = last { page.predicate = #Predicate { $0.token > token } }
      page.fetchLimit = 2
      let found = try context.fetchHistory(page)
      told += found.map { "\($0.storeIdentifier) \($0.id)" }
      if found.isEmpty { break }
      last = found.last?.token
    } while told.count < 100
    #expect(told.count == 13)
    #expect(Set(told).count == 13)
  }

  @Test func `says that it is incomplete where the quiet store has forgotten some`() throws {
    try save(Departure("a"), Memorandum("a"))
    let first = try newestToken()
    try save(Memorandum("b"))
    try save(Departure("b"))
    // As a program does that reads on from page to page.
    var page = HistoryDescriptor<DefaultHistoryTransaction>(
      predicate: #Predicate { $0.token > first }
    )
    page.fetchLimit = 1
    let next = try #require(try context.fetchHistory(page).last?.token)
    try save(Departure("c"))
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(throws: SwiftDataError.historyTokenExpired) { try transactions(since: next) }
  }

  @Test func `is observed in both, from a token of both`() throws {
    try save(Departure("a"), Memorandum("a"))
    for number in 0..<4 { try save(Departure("\(number)")) }
    let last = try newestToken()
    let stores = try #require(last.tokenValue).keys
    #expect(stores.count == 2)
    let observer = try HistoryObserver(
      historyTokens: Dictionary(uniqueKeysWithValues: stores.map { ($0, last) }),
      modelContainer: context.container
    )
    #expect(observer.eventCounter == 0)
    try save(Departure("b"))
    #expect(observer.eventCounter == 1)
    try save(Memorandum("b"))
    #expect(observer.eventCounter == 2)
  }
}
