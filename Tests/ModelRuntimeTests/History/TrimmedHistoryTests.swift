import Foundation
import Synchronization
import Testing

@testable import ModelRuntime

/// A store without rows, whose history a test writes and deletes, as other processes do.
private final class WrittenStore: DataStore, RemoteSaveReporting, DeletedHistoryReading {
  struct Configuration: DataStoreConfiguration {
    typealias Store = WrittenStore
    var name = "written"
    var schema: Schema?
    let history = History()

    static func == (lhs: Configuration, rhs: Configuration) -> Bool { lhs.history === rhs.history }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(history)) }
  }

  /// What the processes share.
  final class History: Sendable {
    struct State: Sendable {
      var authors: [Int64: String] = [:]
      var lowWaterMark: Int64 = 0
      /// Up to where the log has no transactions any more.
      var oldest: Int64 = 0
      var arrival: (@Sendable () -> Void)?
    }
    let state = Mutex(State())
  }

  private final class Watch: Sendable {}

  typealias Snapshot = DefaultSnapshot
  typealias HistoryType = DefaultHistoryTransaction

  let configuration: Configuration
  let identifier = "written"
  let schema: Schema

  init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
    self.configuration = configuration
    schema = configuration.schema ?? Schema()
  }

  func fetch<T>(
    _ request: DataStoreFetchRequest<T>
  ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
    DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: [])
  }

  func save(
    _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
  ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
    DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: [:])
  }

  func fetchHistory(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
  ) throws -> [DefaultHistoryTransaction] {
    let plan = HistoryPlan(descriptor, store: identifier)
    let state = configuration.history.state.withLock { $0 }
    if let bookmark = plan.bookmark,
      bookmark < state.lowWaterMark || bookmark > state.authors.keys.max() ?? state.lowWaterMark
    {
      throw SwiftDataError.historyTokenExpired
    }
    let all = transactions(after: max(plan.after, state.lowWaterMark), in: state)
    let sorted = plan.order == .reverse ? all.reversed() : all
    return descriptor.fetchLimit == 0 ? sorted : Array(sorted.prefix(Int(descriptor.fetchLimit)))
  }

  func deleteHistory(_: HistoryDescriptor<DefaultHistoryTransaction>) throws {}

  func transactionsWithDeleted(
    since token: DefaultHistoryToken
  ) throws -> [DefaultHistoryTransaction]? {
    let state = configuration.history.state.withLock { $0 }
    guard token.value >= state.oldest, state.authors.keys.contains(where: { $0 >= token.value })
    else { return nil }
    return transactions(after: token.value, in: state)
  }

  private func transactions(
    after number: Int64,
    in state: History.State
  ) -> [DefaultHistoryTransaction] {
    state.authors.filter { $0.key > number }.sorted { $0.key < $1.key }.map {
      DefaultHistoryTransaction(
        token: DefaultHistoryToken(HistoryStoreName(identifier), $0.key),
        timestamp: Date(timeIntervalSinceReferenceDate: 0),
        author: $0.value,
        changes: []
      )
    }
  }

  func observeRemoteSaves(
    _ arrival: @escaping @Sendable () -> Void
  ) -> (any AnyObject & Sendable)? {
    configuration.history.state.withLock { $0.arrival = arrival }
    return Watch()
  }
}

@Suite struct `An observer of a history that others delete` {
  private let history: WrittenStore.History
  private let observer: HistoryObserver

  init() throws {
    let configuration = WrittenStore.Configuration()
    history = configuration.history
    history.state.withLock { $0.authors = [1: "before", 2: "importer"] }
    let container = try ModelContainer(
      for: Schema([Book.self, Author.self, Chapter.self, Reader.self]),
      configurations: [configuration]
    )
    observer = try HistoryObserver(authors: ["importer"], modelContainer: container)
  }

  /// Writes transactions, without a word.
  private func write(_ authors: String..., from number: Int64) {
    history.state.withLock { state in
      for (place, author) in authors.enumerated() { state.authors[number + Int64(place)] = author }
    }
  }

  /// Deletes transactions from the history, and perhaps from the log.
  private func delete(upTo number: Int64, fromLog: Bool) {
    history.state.withLock { state in
      state.lowWaterMark = number
      if fromLog { state.oldest = number }
    }
  }

  private func look() { history.state.withLock { $0.arrival }?() }

  @Test(arguments: [false, true])
  func `counts nothing where no matching save was made`(isGone: Bool) {
    for number in Int64(3)...8 {
      write("ui", from: number)
      delete(upTo: number, fromLog: isGone)
      look()
    }
    #expect(observer.eventCounter == 0)
    write("importer", "ui", from: 9)
    look()
    look()
    #expect(observer.eventCounter == 1)
  }

  @Test(arguments: [false, true])
  func `counts each matching save that is left, once`(isGone: Bool) {
    write("ui", "importer", "importer", "ui", "importer", from: 3)
    delete(upTo: 3, fromLog: isGone)
    look()
    look()
    #expect(observer.eventCounter == 3)
  }

  @Test func `counts those that were deleted, as long as the log has them`() {
    write("importer", "ui", "importer", "ui", from: 3)
    delete(upTo: 6, fromLog: false)
    look()
    look()
    #expect(observer.eventCounter == 2)
    write("importer", from: 7)
    look()
    #expect(observer.eventCounter == 3)
  }

  @Test func `counts one where an earlier state was restored, and goes on from there`() {
    history.state.withLock { $0.authors = [1: "before"] }
    look()
    #expect(observer.eventCounter == 1)
    write("importer", from: 2)
    look()
    #expect(observer.eventCounter == 2)
  }
}
