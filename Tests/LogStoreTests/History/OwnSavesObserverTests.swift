import Foundation
import LogStore
import SwiftData
import Testing

@testable import ModelRuntime

@Suite struct `An observer of history where others may save` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> ModelContainer {
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "store"),
      durability: .relaxed
    )
    configuration.writers = .severalProcesses
    configuration.sharesOpenStore = false
    return try ModelContainer(for: Meter.self, Tally.self, configurations: configuration)
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
}
