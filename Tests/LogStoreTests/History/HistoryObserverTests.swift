import Foundation
import LogStore
import SwiftData
import Synchronization
import Testing

@Suite struct `An observer of history` {
  private let store: HistoryStore

  init() throws { store = try HistoryStore() }

  private func insert(_ model: some PersistentModel, by author: String? = nil) throws {
    let context = store.context(author)
    context.insert(model)
    try context.save()
  }

  @Test func `counts the saves of all contexts from now on`() throws {
    try insert(Voyage("before"))
    let observer = try HistoryObserver(modelContainer: store.container)
    #expect(observer.eventCounter == 0)
    try insert(Voyage("after"))
    try insert(Cabin(1))
    #expect(observer.eventCounter == 2)
    try store.context().save()
    #expect(observer.eventCounter == 2)
  }

  @Test func `counts what it is to observe, by classes and authors`() throws {
    let voyages = try HistoryObserver(
      observedModels: [Voyage.self],
      modelContainer: store.container
    )
    let own = try HistoryObserver(authors: ["me", "us"], modelContainer: store.container)
    try insert(Voyage("a"), by: "me")
    try insert(Cabin(1), by: "us")
    try insert(Voyage("b"))
    try insert(Cabin(2), by: "them")
    #expect(voyages.eventCounter == 2)
    #expect(own.eventCounter == 2)
    #expect(voyages.observedModels.count == 1)
    #expect(own.authors == ["me", "us"])
  }

  @Test func `begins at the tokens it is given`() throws {
    try insert(Voyage("a"), by: "me")
    let token = try #require(try store.newestToken())
    try insert(Voyage("b"), by: "me")
    try insert(Voyage("c"), by: "them")
    let observer = try HistoryObserver(
      historyTokens: [token.storeIdentifier: token],
      authors: ["me"],
      modelContainer: store.container
    )
    #expect(observer.eventCounter == 1)
    try insert(Voyage("d"), by: "me")
    #expect(observer.eventCounter == 2)
  }

  @Test func `is not made with tokens it cannot begin at`() throws {
    try insert(Voyage("a"))
    let first = try #require(try store.newestToken())
    try insert(Voyage("b"))
    try store.context().deleteHistory(HistoryDescriptor<Transaction>())
    #expect(throws: SwiftDataError.historyTokenExpired) {
      try HistoryObserver(
        historyTokens: [first.storeIdentifier: first],
        modelContainer: store.container
      )
    }
    #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
      try HistoryObserver(historyTokens: ["elsewhere": first], modelContainer: store.container)
    }
  }

  @Test func `tells who tracks it`() throws {
    let observer = try HistoryObserver(modelContainer: store.container)
    let changes = Mutex(0)
    withObservationTracking {
      _ = observer.eventCounter
    } onChange: {
      changes.withLock { $0 += 1 }
    }
    try insert(Voyage("a"))
    try insert(Voyage("b"))
    #expect(changes.withLock { $0 } == 1)
    #expect(observer.eventCounter == 2)
  }

  @Test(.timeLimit(.minutes(30)))
  func `counts once a save that a fetch noticed in a store that is only read`() async throws {
    try insert(Voyage("before"), by: "me")
    let reading = try HistoryStore.open(store.folder, allowsSave: false)
    let observer = try HistoryObserver(
      observedModels: [Voyage.self],
      authors: ["me"],
      modelContainer: reading
    )
    #expect(observer.eventCounter == 0)
    try insert(Voyage("a"), by: "me")
    try insert(Voyage("b"), by: "them")
    try insert(Cabin(1), by: "me")
    let context = ModelContext(reading)
    #expect(try context.fetchCount(FetchDescriptor<Voyage>()) == 3)
    // The watching thread may have noticed the saves first; then it counts them.
    while observer.eventCounter == 0, !Task.isCancelled { await Task.yield() }
    #expect(try context.fetchCount(FetchDescriptor<Voyage>()) == 3)
    #expect(observer.eventCounter == 1)
  }

  @Test(.timeLimit(.minutes(30)))
  func `hears of another process by itself`() async throws {
    let reading = try HistoryStore.open(store.folder, allowsSave: false)
    let observer = try HistoryObserver(modelContainer: reading)
    await withCheckedContinuation { continuation in
      withObservationTracking {
        _ = observer.eventCounter
      } onChange: {
        continuation.resume()
      }
      #expect(throws: Never.self) { try insert(Voyage("a")) }
    }
    while observer.eventCounter == 0, !Task.isCancelled { await Task.yield() }
    #expect(observer.eventCounter == 1)
  }

  @Test func `hears the tokens of a save in its notification`() throws {
    let context = store.context()
    let told = Mutex<[String: DefaultHistoryToken]>([:])
    let listener = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave,
      object: context,
      queue: nil
    ) { notice in
      let tokens =
        notice.userInfo?[ModelContext.NotificationKey.historyTokens] as? [String: any HistoryToken]
      told.withLock { $0 = tokens?.compactMapValues { $0 as? DefaultHistoryToken } ?? [:] }
    }
    defer { NotificationCenter.default.removeObserver(listener) }
    context.insert(Voyage("a"))
    try context.save()
    let token = try #require(try store.newestToken())
    #expect(told.withLock { $0 } == [token.storeIdentifier: token])
  }
}
