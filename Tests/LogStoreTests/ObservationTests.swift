import LogEngine
import SwiftData
import Synchronization
import Testing

@Suite final class `A store that is observed` {
  private let url = FileManager.default.temporaryDirectory
    .appending(path: "observed-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(at: url) }

  @Test func `tells its configuration's handler what happens`() throws {
    let names = Mutex<[String]>([])
    do {
      var configuration = LogStoreConfiguration(url: url)
      configuration.schema = Schema([Ticket.self, Show.self])
      configuration.onEvent = { event in names.withLock { $0.append(event.name) } }
      let container = try ModelContainer(
        for: Ticket.self,
        Show.self,
        configurations: configuration
      )
      #expect(names.withLock { $0 } == ["store opened"])
      let context = ModelContext(container)
      context.insert(Show("Cabaret"))
      try context.save()
      #expect(names.withLock { $0 } == ["store opened"])
      _ = try context.fetch(FetchDescriptor<Show>())
    }
    #expect(names.withLock { $0.first } == "store opened")
    #expect(names.withLock { $0.last } == "store closed")
  }

  @Test func `gives its figures through the container`() throws {
    let container = try ModelContainer(
      for: Ticket.self,
      Show.self,
      configurations: LogStoreConfiguration(url: url)
    )
    let context = ModelContext(container)
    context.insert(Show("Cabaret"))
    try context.save()
    let store = try #require(container.stores(of: LogStore.self).first)
    let statistics = store.statistics()
    #expect(statistics.tables.first { $0.name == "Show" }?.rowCount == 1)
    #expect(statistics.writing.commitCount >= 2)
    let usage = try store.spaceUsage()
    #expect(usage[.log].byteCount == statistics.fileByteCount)
    #expect(usage[.manifests].fileCount > 0)
    #expect(container.stores(of: DefaultStore.self).isEmpty)
  }

  @Test func `gives those of a store in memory, too`() throws {
    let container = try ModelContainer(
      for: Ticket.self,
      Show.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let context = ModelContext(container)
    context.insert(Show("Cabaret"))
    try context.save()
    let store = try #require(container.stores(of: DefaultStore.self).first)
    #expect(store.statistics().tables.first { $0.name == "Show" }?.rowCount == 1)
    #expect(try store.spaceUsage().byteCount > 0)
  }
}
