import Foundation
import JSONStore
import SwiftData
import Testing

@Suite struct `The session on model changes` {
  typealias Trip = TrackModelChanges.Trip
  typealias Lodging = TrackModelChanges.Lodging

  @Test(arguments: [TestStore.Kind.memory, .file])
  func `finds what another author changed since`(in kind: TestStore.Kind) throws {
    let store = try TestStore(kind, Trip.self, Lodging.self)
    let handler = TrackModelChanges.Handler(modelContainer: store.container)
    let app = store.makeContext()
    app.author = "app"
    let trip = Trip(name: "A birthday", destination: "New York")
    let lodging = Lodging(place: "Harbour")
    app.insert(trip)
    trip.lodging = lodging
    try app.save()
    let token = try #require(try handler.newestToken())
    #expect(handler.findTransactions(after: token, author: "widget").isEmpty)

    let widget = store.makeContext()
    widget.author = "widget"
    let confirmed = try #require(try widget.fetch(FetchDescriptor<Lodging>()).first)
    confirmed.isConfirmed = true
    try widget.save()
    let transactions = handler.findTransactions(after: token, author: "widget")
    #expect(handler.findTrips(in: transactions).0.map(\.name) == ["A birthday"])
    #expect(handler.confirmations(in: transactions) == [lodging.persistentModelID])

    app.delete(trip)
    try app.save()
    let last = handler.findTransactions(after: token, author: "app")
    #expect(handler.namesOfDeletedTrips(in: last) == ["A birthday"])
    #expect(handler.findTrips(in: last).0.isEmpty)
    try handler.deleteTransactions(before: try #require(last.last?.token))
    #expect(handler.findTransactions(after: nil, author: "").count == 1)
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try app.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
      )
    }
  }

  @Test func `lets a store keep a history of its own`() throws {
    let container = try ModelContainer(for: Lodging.self, configurations: LedgerConfiguration())
    let context = ModelContext(container)
    context.author = "ledger"
    let observer = try HistoryObserver(
      historyTokens: ["ledger": LedgerToken(tokenValue: 0)],
      observedModels: [Lodging.self],
      modelContainer: container
    )
    let lodging = Lodging(place: "Inn")
    context.insert(lodging)
    try context.save()
    let token = LedgerToken(tokenValue: 1)
    context.delete(lodging)
    try context.save()
    #expect(observer.eventCounter == 2)
    let all = try context.fetchHistory(HistoryDescriptor<LedgerTransaction>())
    #expect(all.map(\.author) == ["ledger", "ledger"])
    let later = try context.fetchHistory(
      HistoryDescriptor<LedgerTransaction>(predicate: #Predicate { $0.token > token })
    )
    #expect(later == Array(all.dropFirst()))
    guard case .delete(let delete as LedgerDelete<Lodging>)? = later.first?.changes.first else {
      Issue.record("no delete in \(later)")
      return
    }
    #expect(delete.tombstone[\.place] as? String == "gone")
    try context.deleteHistory(
      HistoryDescriptor<LedgerTransaction>(predicate: #Predicate { $0.token <= token })
    )
    #expect(try context.fetchHistory(HistoryDescriptor<LedgerTransaction>()) == later)
    #expect(throws: DataStoreError.unsupportedFeature) {
      try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
  }

  @Test func `is not for a store that remembers nothing`() throws {
    let store = try TestStore(.json, Trip.self, Lodging.self)
    #expect(throws: DataStoreError.unsupportedFeature) {
      try store.makeContext().fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    }
    // That something was saved can be observed all the same.
    let observer = try HistoryObserver(modelContainer: store.container)
    let context = store.makeContext()
    context.insert(Lodging(place: "Inn"))
    try context.save()
    #expect(observer.eventCounter == 1)
  }

  @Test func `merges the histories of two stores, with bookmarks for both`() throws {
    let configurations = [
      ModelConfiguration(
        "one",
        schema: Schema([Trip.self, Lodging.self]),
        isStoredInMemoryOnly: true
      ),
      ModelConfiguration(
        "two",
        schema: Schema([CustomDataStore.Memo.self]),
        isStoredInMemoryOnly: true
      ),
    ]
    let container = try ModelContainer(
      for: Schema([Trip.self, Lodging.self, CustomDataStore.Memo.self]),
      configurations: configurations
    )
    let context = ModelContext(container)
    var bookmark: DefaultHistoryToken?
    for number in 0..<6 {
      if number % 2 == 0 {
        context.insert(Lodging(place: "\(number)"))
      } else {
        context.insert(CustomDataStore.Memo(text: "\(number)", stars: 0))
      }
      try context.save()
      if number == 3 {
        bookmark = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).last?
          .token
      }
    }
    let all = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(all.count == 6)
    #expect(all.map(\.token) == all.map(\.token).sorted() || Set(all.map(\.timestamp)).count < 6)
    let token = try #require(bookmark)
    #expect(token.tokenValue?.count == 2)
    let kept = try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(token))
    let later = try context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > kept })
    )
    #expect(later.map(\.id) == all.suffix(2).map(\.id))
    let names = later.flatMap(\.changes).map(\.changedPersistentIdentifier.entityName)
    #expect(Set(names) == ["Lodging", "Memo"])
  }
}
