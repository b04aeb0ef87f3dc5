import Foundation
import LogStore
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `An observer of history where others may save` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Meter.self,
      Tally.self,
      configurations: LogStoreConfiguration.ofAnotherProcess(in: folder)
    )
  }

  @Test func `keeps few of the container's own saves in mind, and counts each once`() async throws {
    let container = try open()
    let observer = try HistoryObserver(
      observedModels: [Tally.self],
      modelContainer: container
    )
    let context = ModelContext(container)
    let saveCount = 2 * HistoryObserver.heardLimit + 100
    var largest = 0
    for number in 1...saveCount {
      context.insert(Tally(number))
      try context.save()
      largest = max(largest, observer.heardCount)
    }
    #expect(observer.eventCounter == saveCount)
    #expect(largest <= HistoryObserver.heardLimit)
    // Reading the history has counted nothing twice, and forgotten nobody else's.
    let other = ModelContext(try open())
    other.insert(Tally(0))
    try other.save()
    _ = try context.fetchCount(FetchDescriptor<Tally>())
    context.insert(Tally(-1))
    try context.save()
    while observer.eventCounter < saveCount + 2, !Task.isCancelled { await Task.yield() }
    #expect(observer.eventCounter == saveCount + 2)
  }

  @Test(.timeLimit(.minutes(30)))
  func `does not count what others delete from the history`() async throws {
    let container = try open()
    let context = ModelContext(container)
    let other = ModelContext(try open())
    context.insert(Tally(0))
    try context.save()
    let observer = try HistoryObserver(authors: ["importer"], modelContainer: container)
    for number in 1...3 {
      context.insert(Tally(number))
      try context.save()
      let newest = try #require(try other.fetchHistory(HistoryDescriptor<Transaction>()).last).token
      try other.deleteHistory(
        HistoryDescriptor<Transaction>(predicate: #Predicate { $0.token <= newest })
      )
      _ = try context.fetchCount(FetchDescriptor<Tally>())
    }
    other.author = "importer"
    other.insert(Tally(4))
    try other.save()
    try await wait(for: observer, context)
    #expect(observer.eventCounter == 1)
  }

  @Test(.timeLimit(.minutes(30)))
  func `counts what others delete from the middle of the history`() async throws {
    let container = try open()
    let context = ModelContext(container)
    let other = ModelContext(try open())
    context.insert(Tally(0))
    try context.save()
    let observer = try HistoryObserver(authors: ["importer"], modelContainer: container)
    let end = try HistoryObserver(authors: ["end"], modelContainer: container)
    for number in 1...3 {
      other.author = "importer"
      other.insert(Tally(number))
      try other.save()
      try other.deleteHistory(
        HistoryDescriptor<Transaction>(predicate: #Predicate { $0.author == "importer" })
      )
    }
    // One thread tells both observers of a save, in no order, before it tells either of the next save.
    for count in 1...2 {
      other.author = "end"
      other.insert(Tally(3 + count))
      try other.save()
      try await wait(for: end, context, count)
    }
    #expect(observer.eventCounter == 3)
  }

  @Test(arguments: [false, true])
  func `counts what was deleted from the history behind the token it begins with`(
    isLast: Bool
  ) throws {
    let container = try open()
    let context = ModelContext(container)
    context.insert(Tally(0))
    try context.save()
    let token = try #require(try context.fetchHistory(HistoryDescriptor<Transaction>()).last).token
    for (author, number) in [("app", 1), ("importer", 2), ("app", 3)].prefix(isLast ? 2 : 3) {
      context.author = author
      context.insert(Tally(number))
      try context.save()
    }
    try context.deleteHistory(
      HistoryDescriptor<Transaction>(predicate: #Predicate { $0.author == "importer" })
    )
    let observer = try HistoryObserver(
      historyTokens: [container.stores(of: LogStore.self)[0].identifier: token],
      modelContainer: container
    )
    #expect(observer.eventCounter == (isLast ? 2 : 3))
    // And none of them again, when the history is read the next time.
    let other = ModelContext(try open())
    other.insert(Tally(4))
    try other.save()
    while observer.eventCounter == (isLast ? 2 : 3), !Task.isCancelled {
      _ = try context.fetchCount(FetchDescriptor<Tally>())
    }
    #expect(observer.eventCounter == (isLast ? 3 : 4))
  }

  /// Fetches until an observer has counted a save.
  private func wait(
    for observer: HistoryObserver,
    _ context: ModelContext,
    _ count: Int = 1
  ) async throws {
    while observer.eventCounter < count, !Task.isCancelled {
      _ = try context.fetchCount(FetchDescriptor<Tally>())
      await Task.yield()
    }
  }
}
