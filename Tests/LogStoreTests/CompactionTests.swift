import LogEngine
import LogStore
import SwiftData
import Testing

@Suite struct `A store of models that is compacted` {
  let folder: TemporaryFolder
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "tickets.store")
  }

  private func open(_ compaction: LogStoreConfiguration.Compaction) throws -> ModelContext {
    var configuration = LogStoreConfiguration(url: url)
    configuration.compaction = compaction
    return ModelContext(
      try ModelContainer(for: Ticket.self, Show.self, configurations: configuration)
    )
  }

  private var size: Int {
    let found = FileManager.default.enumerator(at: url, includingPropertiesForKeys: [.fileSizeKey])
    return (found?.compactMap { $0 as? URL } ?? []).reduce(0) { sum, file in
      sum + ((try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0)
    }
  }

  @Test func `is so in the background, unless something else is said`() {
    let configuration = LogStoreConfiguration(url: url)
    #expect(configuration.compaction == .automatic)
    #expect(configuration.compaction.timing == .automatic)
    #expect(configuration.compaction.historyAge == .seconds(30 * 24 * 60 * 60))
    #expect(configuration.compaction.historyByteCount == 32 << 20)
  }

  @Test(arguments: [0, 1 << 20, LogStoreConfiguration.defaultCacheByteCount])
  func `keeps no more unpacked than it is told`(byteCount: Int) throws {
    var configuration = LogStoreConfiguration(url: url)
    #expect(32 << 20...256 << 20 ~= configuration.cacheByteCount)
    configuration.cacheByteCount = byteCount
    let container = try ModelContainer(
      for: Ticket.self,
      Show.self,
      configurations: configuration
    )
    let store = try #require(container.stores(of: LogStore.self).first)
    #expect(store.statistics().blockCache.byteLimit == byteCount)
  }

  /// Saves a few megabytes of notes that replace each other.
  private func rewriteNotes(_ context: ModelContext, rounds: Int) throws -> [String] {
    for seat in 0..<100 { context.insert(Ticket("seat \(seat)", price: seat)) }
    try context.save()
    var notes: [String] = []
    for round in 0..<rounds {
      notes = (0..<100).map { String(repeating: "\(round) \($0) ", count: 60) }
      for ticket in try context.fetch(FetchDescriptor<Ticket>()) {
        ticket.note = notes[ticket.price]
      }
      try context.save()
    }
    return notes
  }

  private func checkNotes(_ notes: [String], _ context: ModelContext) throws {
    let tickets = try context.fetch(FetchDescriptor<Ticket>(sortBy: [SortDescriptor(\.price)]))
    #expect(tickets.map(\.note) == notes)
  }

  @Test func `on demand is smaller afterwards, and holds what it held`() throws {
    let kept = LogStoreConfiguration.Compaction(.onDemand, historyByteCount: 0)
    var notes: [String] = []
    do {
      let context = try open(kept)
      notes = try rewriteNotes(context, rounds: 60)
    }
    let before = size
    do {
      var configuration = LogStoreConfiguration(url: url)
      configuration.schema = Schema([Ticket.self, Show.self])
      configuration.compaction = kept
      let store = try LogStore(configuration, migrationPlan: nil)
      #expect(try store.compact() > 1 << 20)
    }
    #expect(size < before / 2)
    try checkNotes(notes, try open(kept))
  }

  @Test func `keeps its history where it is told to`() throws {
    do { _ = try rewriteNotes(open(.onDemand), rounds: 60) }
    let before = size
    var configuration = LogStoreConfiguration(url: url)
    configuration.schema = Schema([Ticket.self, Show.self])
    do {
      let store = try LogStore(configuration, migrationPlan: nil)
      #expect(try store.compact() == 0)
    }
    #expect(size >= before)
  }
}
