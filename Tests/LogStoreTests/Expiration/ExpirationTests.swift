import Foundation
import LogEngine
import SwiftData
import Synchronization
import Testing

@testable import LogStore

private typealias Pulse = Aging.Pulse
private typealias IndexedPulse = Aging.IndexedPulse

@Suite struct `A model that expires` {
  let store: AgingStore
  let noon = AgingStore.noon

  init() throws { store = try AgingStore() }

  @Test func `is there until its time is over, to the second`() throws {
    let container = try store.open(.init(Pulse.self, after: .seconds(100), since: \.at))
    try container.saving { context in
      for number in 0..<300 { context.insert(Pulse(number, at: noon + Double(number))) }
    }
    store.days.advance(by: 100)
    try container.expire()
    // The first has just reached its hundred seconds, which are not over.
    #expect(try container.numbers() == Array(0..<300))
    store.days.advance(by: 10.5)
    let report = try #require(try container.expire().first)
    #expect(try container.numbers() == Array(11..<300))
    #expect(report.entityName == "Pulse" && report.deletedCount == 11 && report.commitCount == 1)
    #expect(report.keptCount == 0 && report.keptReason == nil && report.failure == nil)
    #expect(try container.expire().first?.deletedCount == 0)
    try container.check()
  }

  @Test func `is found by an index on its date, and without one by the column`() async throws {
    let container = try store.open(
      .init(Pulse.self, after: .zero, since: \.at),
      .init(IndexedPulse.self, after: .zero, since: \.at)
    )
    try container.saving { context in
      for number in 0..<3000 {
        let at = noon + Double(number * 7919 % 3000) - 2000
        context.insert(Pulse(number, at: at))
        context.insert(IndexedPulse(number, at: at))
      }
    }
    let log = try #require(container.stores(of: LogStore.self).first)
    let reports = try await log.expire()
    #expect(reports.map(\.deletedCount) == [2000, 2000])
    let context = ModelContext(container)
    let left = try context.fetch(FetchDescriptor<IndexedPulse>()).map(\.at)
    #expect(left.count == 1000 && left.allSatisfy { $0 >= noon })
    #expect(try container.numbers().count == 1000)
    // What was asked is kept up to date from now on: the index of the one class, and none of the other.
    let indexed = try #require(log.table(forEntityNamed: "IndexedPulse"))
    let plain = try #require(log.table(forEntityNamed: "Pulse"))
    #expect(log.tables.indexes.registered(of: indexed).count == 1)
    #expect(log.tables.indexes.registered(of: plain).isEmpty)
    try container.check()
  }

  @Test func `stays without a date`() throws {
    let container = try store.open(.init(Aging.Login.self, after: .zero, since: \.expiresAt))
    try container.saving { context in
      context.insert(Aging.Login("for ever", expiresAt: nil))
      context.insert(Aging.Login("over", expiresAt: noon - 1))
      context.insert(Aging.Login("later", expiresAt: noon + 1))
      context.insert(Aging.Login("never", expiresAt: Date(timeIntervalSinceReferenceDate: .nan)))
    }
    try container.expire()
    #expect(try container.names(\Aging.Login.token) == ["for ever", "later", "never"])
    // Its unique value is free.
    try container.saving { $0.insert(Aging.Login("over", expiresAt: nil)) }
    try container.check()
  }

  @Test func `may be of a subclass, whose own rule may take it earlier`() throws {
    let container = try store.open(
      .init(Aging.Visit.self, after: .seconds(100), since: \.at),
      .init(Aging.GuidedVisit.self, after: .zero, since: \.endedAt)
    )
    try container.saving { context in
      context.insert(Aging.Visit("old", at: noon - 101))
      context.insert(Aging.Visit("new", at: noon - 99))
      context.insert(Aging.GuidedVisit("old guided", at: noon - 101, endedAt: noon + 1))
      context.insert(Aging.GuidedVisit("new guided", at: noon - 99, endedAt: noon + 1))
      context.insert(Aging.GuidedVisit("ended", at: noon - 99, endedAt: noon - 1))
    }
    let reports = try container.expire()
    #expect(try container.names(\Aging.Visit.name) == ["new", "new guided"])
    #expect(reports.map(\.entityName) == ["Visit", "GuidedVisit"])
    #expect(reports.map(\.deletedCount) == [2, 1])
  }

  @Test func `takes its files of external storage along`() async throws {
    let container = try store.open(.init(Aging.Clip.self, after: .zero, since: \.at))
    try container.saving { context in
      context.insert(Aging.Clip(at: noon - 1, film: Data(repeating: 1, count: 5000)))
      context.insert(Aging.Clip(at: noon + 1, film: Data(repeating: 2, count: 5000)))
    }
    func files() -> Int {
      let blobs = store.url.appending(path: "blobs")
      let found = FileManager.default.enumerator(at: blobs, includingPropertiesForKeys: nil)
      return (found?.compactMap { $0 as? URL } ?? []).count { $0.pathExtension == "blob" }
    }
    #expect(files() == 2)
    try container.expire()
    // A store that is closed has removed what waited for it.
    try await container.close()
    #expect(files() == 1)
  }

  @Test func `is not deleted in a store that is only read, nor by one without rules`() async throws
  {
    let expiration = LogStoreConfiguration.Expiration(Pulse.self, after: .zero, since: \.at)
    let container = try store.open()
    try container.saving { $0.insert(Pulse(1, at: noon - 1)) }
    #expect(try await container.stores(of: LogStore.self)[0].expire() == [])
    var configuration = LogStoreConfiguration(url: store.url, allowsSave: false)
    configuration.expirations = [expiration]
    configuration.expirationInterval = .milliseconds(10)
    let reader = try store.open(configuration)
    #expect(try await reader.stores(of: LogStore.self)[0].expire() == [])
    #expect(try container.numbers() == [1])
  }

  @Test func `is deleted by a store without a container`() async throws {
    try store.open().saving { $0.insert(Pulse(1, at: noon - 1)) }
    var configuration = store.configuration([.init(Pulse.self, after: .zero, since: \.at)])
    configuration.schema = Schema(Aging.models)
    let log = try LogStore(configuration, migrationPlan: nil)
    #expect(try await log.expire().first?.deletedCount == 1)
    try log.close()
  }
}

@Suite struct `What expires, and who hears of it` {
  let store: AgingStore
  let noon = AgingStore.noon

  init() throws { store = try AgingStore() }

  @Test func `is in the history as deletes by "expiry", a thousand at a time, with tombstones`()
    throws
  {
    let container = try store.open(.init(IndexedPulse.self, after: .zero, since: \.at))
    try container.saving { context in
      for number in 0..<2500 { context.insert(IndexedPulse(number, at: noon - 1)) }
    }
    #expect(try container.expire().first?.commitCount == 3)
    let author = LogStore.expirationAuthor
    #expect(author == "expiry")
    let transactions = try ModelContext(container).fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.author == author })
    )
    #expect(transactions.map(\.changes.count) == [1000, 1000, 500])
    var numbers: Set<Int> = []
    for case .delete(let change as DefaultHistoryDelete<IndexedPulse>) in transactions.flatMap(
      \.changes
    ) {
      numbers.insert(try #require(change.tombstone[\.number] as? Int))
    }
    #expect(numbers == Set(0..<2500))
  }

  @Test func `leaves contexts, lists and observers as the delete of another context does`() throws {
    let container = try store.open(.init(Aging.Task.self, after: .zero, since: \.doneAt))
    try container.saving { context in
      for name in ["a", "b", "c"] {
        let task = Aging.Task(name, doneAt: name == "b" ? noon - 1 : nil)
        context.insert(task)
        task.memos = [Aging.Memo("of \(name)")]
      }
    }
    let context = ModelContext(container)
    context.automaticallyMergesChanges = true
    let tasks = try context.fetch(FetchDescriptor<Aging.Task>(sortBy: [SortDescriptor(\.name)]))
    let memo = try #require(tasks[1].memos.first)
    let observer = try ResultsObserver<Aging.Task, Never>(
      sortBy: [SortDescriptor(\.name)],
      modelContext: context
    )
    #expect(observer.results.map(\.name) == ["a", "b", "c"])
    try container.expire()
    context.processPendingChanges()
    #expect(observer.results.map(\.name) == ["a", "c"])
    #expect(tasks[1].isDeleted && !tasks[0].isDeleted)
    #expect(memo.task == nil)
    try context.save()
  }

  @Test func `is an event, once for each class of which something went`() throws {
    let events = Events()
    var configuration = store.configuration([
      .init(Pulse.self, after: .zero, since: \.at),
      .init(Aging.Clip.self, after: .zero, since: \.at),
      .init(Aging.Task.self, after: .zero, since: \.doneAt),
    ])
    configuration.onEvent = { events.record($0) }
    let container = try store.open(configuration)
    try container.saving { context in
      for number in 0..<1200 { context.insert(Pulse(number, at: noon - 1)) }
      let task = Aging.Task("kept", doneAt: noon - 1)
      context.insert(task)
      task.bills = [Aging.Bill("unpaid")]
    }
    try container.expire()
    // What is kept is news once.
    try container.expire()
    let reports = events.expirations
    #expect(reports.map(\.entityName) == ["Pulse", "Task"])
    #expect(reports.map(\.deletedCount) == [1200, 0])
    #expect(reports.map(\.keptCount) == [0, 1])
    #expect(reports.map(\.commitCount) == [2, 0])
    #expect(reports[1].keptReason?.contains("deny") == true)
    #expect(reports.allSatisfy { $0.failure == nil && $0.duration >= $0.searchDuration })
    let text = EngineEvent.rowsExpired(reports[0]).description
    #expect(text.hasPrefix("rows expired entity=Pulse deleted_rows=1200 kept_rows=0 commits=2 "))
  }
}

@Suite struct `A delete rule of a model that expires` {
  let store: AgingStore
  let container: ModelContainer
  let noon = AgingStore.noon

  init() throws {
    store = try AgingStore()
    container = try store.open(
      .init(Aging.Task.self, after: .zero, since: \.doneAt),
      .init(Aging.Engine.self, after: .zero, since: \.retiredAt)
    )
  }

  /// Makes tasks, of which each has one model at the other end of a relationship.
  private func makeTasks(
    _ count: Int,
    _ relate: (Aging.Task, Int) -> Void
  ) throws {
    try container.saving { context in
      for number in 0..<count {
        let task = Aging.Task("\(number)", doneAt: noon - 1)
        context.insert(task)
        relate(task, number)
      }
    }
  }

  @Test func `takes along what it cascades to`() throws {
    try makeTasks(230) { task, number in task.steps = [Aging.Step("\(number)"), Aging.Step("x")] }
    let report = try container.expire()[0]
    #expect(report.deletedCount == 690 && report.commitCount == 3)
    #expect(try container.names(\Aging.Step.name).isEmpty)
    try container.check()
  }

  @Test func `makes references nil`() throws {
    try makeTasks(230) { task, number in task.memos = [Aging.Memo("\(number)")] }
    #expect(try container.expire()[0].deletedCount == 230)
    let memos = try ModelContext(container).fetch(FetchDescriptor<Aging.Memo>())
    #expect(memos.count == 230 && memos.allSatisfy { $0.task == nil })
    try container.check()
  }

  @Test(arguments: [1, 2, 7, 100, 150])
  func `keeps what it denies until that can go, and nothing else`(every: Int) throws {
    try makeTasks(230) { task, number in
      if number % every == 0 { task.bills = [Aging.Bill("\(number)")] }
    }
    let keptCount = (229 / every) + 1
    let report = try container.expire()[0]
    #expect(report.keptCount == keptCount && report.deletedCount == 230 - keptCount)
    #expect(report.keptReason?.contains("bills is deny") == true)
    let kept = try ModelContext(container).fetch(FetchDescriptor<Aging.Task>())
    #expect(kept.count == keptCount && kept.allSatisfy { $0.bills.count == 1 })
    try container.saving { context in
      for bill in try context.fetch(FetchDescriptor<Aging.Bill>()) { bill.task = nil }
    }
    #expect(try container.expire()[0].deletedCount == keptCount)
    #expect(try container.names(\Aging.Task.name).isEmpty)
    try container.check()
  }

  @Test func `keeps what others must refer to`() throws {
    try container.saving { context in
      for name in ["used", "free"] { context.insert(Aging.Engine(name, retiredAt: noon - 1)) }
      let used = try #require(
        try context.fetch(FetchDescriptor<Aging.Engine>()).first { $0.name == "used" }
      )
      context.insert(Aging.Part(used))
    }
    let report = try container.expire()[1]
    #expect(report.deletedCount == 1 && report.keptCount == 1)
    #expect(try container.names(\Aging.Engine.name) == ["used"])
    try container.check()
  }
}

/// The events of a store.
final class Events: Sendable {
  private let all = Mutex<[EngineEvent]>([])

  func record(_ event: EngineEvent) { all.withLock { $0.append(event) } }

  var expirations: [ExpirationReport] {
    all.withLock { $0 }
      .compactMap { if case .rowsExpired(let report) = $0 { report } else { nil } }
  }
}
