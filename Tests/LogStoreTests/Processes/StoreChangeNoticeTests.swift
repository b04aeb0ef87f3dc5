import Foundation
import LogStore
import SwiftData
import Testing

@Model private final class Bulletin {
  @Attribute(.unique) var title: String

  init(_ title: String) { self.title = title }
}

/// `NSPersistentStoreRemoteChange`, by which programs learn that a store has changed.
@Suite struct `The notification of a changed store` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A container that knows as little of others as if it were in a process of its own.
  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Bulletin.self,
      configurations: LogStoreConfiguration.ofAnotherProcess(in: folder)
    )
  }

  /// Runs a closure and returns once the store's change has been told of by a number of containers.
  private func awaitNotices(
    _ count: Int = 1,
    of container: ModelContainer,
    after body: () throws -> Void
  ) async throws {
    let store = try #require(container.stores(of: LogStore.self).first)
    let notices = NotificationCenter.default.notifications(named: .NSPersistentStoreRemoteChange)
    var iterator = notices.makeAsyncIterator()
    try body()
    var left = count
    while left > 0, let notice = await iterator.next() {
      if notice.userInfo?["NSStoreUUID"] as? String == store.identifier { left -= 1 }
    }
  }

  @Test(.timeLimit(.minutes(30)))
  func `follows a save, and a batch, of this process`() async throws {
    let container = try open()
    let context = ModelContext(container)
    try await awaitNotices(of: container) {
      context.insert(Bulletin("saved"))
      try context.save()
    }
    try await awaitNotices(of: container) {
      try context.batchInsert(Bulletin.self, \.title, rows: ["batch"])
    }
  }

  @Test(.timeLimit(.minutes(30)))
  func `follows a save of another process while a context merges it`() async throws {
    let containers = try (open(), open())
    let context = ModelContext(containers.0)
    context.automaticallyMergesChanges = true
    let other = ModelContext(containers.1)
    for title in ["one", "two"] {
      // One of the container that saves, and one of the other.
      try await awaitNotices(2, of: containers.0) {
        other.insert(Bulletin(title))
        try other.save()
      }
    }
    #expect(try context.fetchCount(FetchDescriptor<Bulletin>()) == 2)
  }
}
