import Foundation
import LogEngineTestSupport
import LogStore
import Synchronization
import Testing

@testable import ModelRuntime

/// A container that knows as little of the other one as if that were in a process of its own.
@MainActor @Suite(.timeLimit(.minutes(30)))
struct `Objects and results that other processes change` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Who the one that looks is, beside the one that saves.
  enum Looker: CaseIterable {
    /// Another that writes.
    case writer
    /// One that only reads, where several write.
    case reader
    /// One that only reads, where one process writes.
    case readerOfOne
  }

  private func open(_ looker: Looker, looks: Bool) throws -> ModelContainer {
    var configuration = LogStoreConfiguration(
      url: folder.url.appending(path: "store"),
      allowsSave: !looks || looker == .writer,
      durability: .relaxed
    )
    if looker != .readerOfOne { configuration.writers = .severalProcesses }
    configuration.sharesOpenStore = false
    return try ModelContainer(for: Meter.self, Tally.self, configurations: configuration)
  }

  private func openBoth(_ looker: Looker) throws -> (own: ModelContainer, other: ModelContext) {
    let other = ModelContext(try open(looker, looks: false))
    return (try open(looker, looks: true), other)
  }

  @Test(arguments: Looker.allCases)
  func `are followed by the changes of results`(looker: Looker) async throws {
    let (own, other) = try openBoth(looker)
    let observer = try ResultsObserver(
      filterBy: #Predicate<Meter> { $0.count < 10 },
      sortBy: [SortDescriptor(\.count)],
      modelContext: own.mainContext
    )
    var changes = observer.changes.makeAsyncIterator()
    let first = await changes.next(isolation: #isolation)
    #expect(first?.results.isEmpty == true)
    let meters = (1...3).map { Meter("\($0)", count: $0) }
    for meter in meters {
      other.insert(meter)
      try other.save()
      let change = await changes.next(isolation: #isolation)
      #expect(change?.results.last?.name == meter.name)
      #expect(change?.difference.count == 1)
    }
    meters[0].place = "there"
    try other.save()
    let update = await changes.next(isolation: #isolation)
    #expect(update?.updated.map(\.element.place) == ["there"])
    #expect(update?.difference.isEmpty == true)
    meters[1].count = 20
    try other.save()
    let departure = await changes.next(isolation: #isolation)
    #expect(departure?.results.map(\.name) == ["1", "3"])
    other.delete(meters[0])
    try other.save()
    let deletion = await changes.next(isolation: #isolation)
    #expect(deletion?.results.map(\.name) == ["3"])
  }

  @Test(arguments: Looker.allCases)
  func `are followed by an object that is held, and by its list`(looker: Looker) async throws {
    let (own, other) = try openBoth(looker)
    let meter = Meter("held", count: 1)
    other.insert(meter)
    try other.save()
    let held = try #require(try own.mainContext.fetch(FetchDescriptor<Meter>()).first)
    #expect(held.count == 1)
    await changes({ _ = held.count }) {
      meter.count = 2
      try other.save()
    }
    #expect(held.count == 2)
    #expect(held.tallies.isEmpty)
    await changes({ _ = held.tallies }) {
      meter.tallies.append(Tally(5))
      try other.save()
    }
    #expect(held.tallies.map(\.number) == [5])
  }

  /// Returns once something has changed that was read.
  private func changes(_ read: () -> Void, _ change: () throws -> Void) async {
    let hasChanged = Mutex(false)
    withObservationTracking(read) { hasChanged.withLock { $0 = true } }
    #expect(throws: Never.self) { try change() }
    while !hasChanged.withLock({ $0 }) { await Task.yield() }
    // It is told before the change, and the owner's turn ends after it.
    await Task { @MainActor in }.value
  }

  @Test(arguments: Looker.allCases)
  func `are followed by the state of a query`(looker: Looker) async throws {
    let (own, other) = try openBoth(looker)
    var drawings: [[String]] = []
    var query: QueryState<Meter>?
    func draw() { drawings.append(query?.results.map { $0.name + $0.place } ?? []) }
    query = QueryState(FetchDescriptor(sortBy: [SortDescriptor(\Meter.name)])) { draw() }
    query?.update(in: own.mainContext)
    draw()
    let meters = ["a", "b"].map { Meter($0) }
    let changes = [
      { other.insert(meters[0]) }, { other.insert(meters[1]) }, { meters[0].place = "!" },
      { other.delete(meters[1]) },
    ]
    for change in changes {
      let count = drawings.count
      change()
      try other.save()
      while drawings.count == count { await Task.yield() }
    }
    #expect(drawings == [[], ["a"], ["a", "b"], ["a!", "b"], ["a!"]])
    query = nil
  }

  @Test func `are followed by an observer that an actor has`() async throws {
    let (own, other) = try openBoth(.writer)
    let lister = MeterLister(modelContainer: own)
    let (names, continuation) = AsyncStream.makeStream(of: [String].self)
    let listing = Task { try await lister.list(into: continuation) }
    var iterator = names.makeAsyncIterator()
    let first = await iterator.next()
    #expect(first == [])
    other.insert(Meter("a"))
    try other.save()
    let second = await iterator.next()
    #expect(second == ["a"])
    listing.cancel()
    _ = await listing.result
  }

  @Test(arguments: Looker.allCases)
  func `are followed at once when pending changes are processed`(looker: Looker) throws {
    let (own, other) = try openBoth(looker)
    let context = ModelContext(own)
    let observer = try ResultsObserver<Meter, Never>(modelContext: context)
    for number in 1...20 {
      other.insert(Meter("\(number)"))
      try other.save()
      context.processPendingChanges()
      #expect(observer.results.count == number)
    }
  }

  @Test func `keep their unsaved changes`() async throws {
    let (own, other) = try openBoth(.writer)
    let meter = Meter("held", count: 1, place: "here")
    other.insert(meter)
    try other.save()
    let held = try #require(try own.mainContext.fetch(FetchDescriptor<Meter>()).first)
    held.count = 7
    await changes({ _ = held.place }) {
      (meter.count, meter.place) = (2, "there")
      try other.save()
    }
    #expect(held.count == 7)
    #expect(held.place == "there")
    try own.mainContext.save()
    #expect(try other.fetch(FetchDescriptor<Meter>()).map(\.count) == [7])
  }

  /// Both save, and the one that looks reads in its own turns what the other has saved.
  @Test(arguments: 1...4)
  func `agree with a fetch after saves of any process`(seed: UInt64) async throws {
    let (own, other) = try openBoth(.writer)
    let observer = try ResultsObserver(
      filterBy: #Predicate<Meter> { $0.count < 50 },
      sortBy: [SortDescriptor(\.count), SortDescriptor(\.name)],
      modelContext: own.mainContext
    )
    #expect(observer.results.isEmpty)
    var chance = SeededGenerator(seed: seed)
    let contexts = [own.mainContext, ModelContext(own), other]
    for step in 0..<150 {
      let context = contexts[Int.random(in: 0..<3, using: &chance)]
      let name = "m\(Int.random(in: 0..<20, using: &chance))"
      let known = try context.fetch(
        FetchDescriptor<Meter>(predicate: #Predicate { $0.name == name })
      ).first
      let count = Int.random(in: 0..<100, using: &chance)
      if let known {
        if Int.random(in: 0..<4, using: &chance) == 0 {
          context.delete(known)
        } else {
          known.count = count
        }
      } else {
        context.insert(Meter(name, count: count))
      }
      try context.save()
      if step % 7 != 0 { continue }
      own.mainContext.processPendingChanges()
      let fetched = try ModelContext(own).fetch(observer.fetchDescriptor).map(\.name)
      #expect(observer.results.map(\.name) == fetched, "seed \(seed), step \(step)")
    }
  }

  /// What another saved while this one saved, too, is told although this one's save has read it.
  @Test func `are told of although a save of their own read it first`() async throws {
    let (own, other) = try openBoth(.writer)
    let observer = try ResultsObserver<Meter, Never>(modelContext: own.mainContext)
    let aside = ModelContext(own)
    for number in 1...50 {
      other.insert(Meter("other \(number)"))
      try other.save()
      aside.insert(Meter("own \(number)"))
      try aside.save()
      while observer.results.count < 2 * number { await Task.yield() }
    }
    #expect(observer.results.count == 100)
  }

  @Test func `are read anew where more were changed than are told one by one`() async throws {
    let (own, other) = try openBoth(.writer)
    let meter = Meter("held", count: 1)
    other.insert(meter)
    try other.save()
    let context = ModelContext(own)
    let observer = try ResultsObserver(
      filterBy: #Predicate<Meter> { $0.count > 0 },
      modelContext: context
    )
    let held = try #require(observer.results.first)
    meter.count = 2
    try other.batchInsert(
      Meter.self,
      \.name,
      \.count,
      rows: (0...SaveInbox.rowLimit).lazy.map { ("\($0)", 0) }
    )
    try other.save()
    context.processPendingChanges()
    #expect(held.count == 2)
    #expect(observer.results.map(\.count) == [2])
  }
}

@Suite struct `Objects that hear only that something was saved` {
  @Test(arguments: [false, true])
  func `are read anew, whether or not they had changes of their own`(hasState: Bool) throws {
    let container = try ModelContainer(
      for: Meter.self,
      Tally.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
    let other = ModelContext(container)
    let meter = Meter("held", count: 1)
    other.insert(meter)
    try other.save()
    let context = ModelContext(container)
    context.automaticallyMergesChanges = true
    let held = try #require(try context.fetch(FetchDescriptor<Meter>()).first)
    #expect(held.count == 1)
    if hasState { held.place = "here" }
    meter.count = 2
    try other.save()
    let inbox = try #require(context.inbox)
    #expect(!inbox.take(of: 0, upTo: nil).isEmpty)
    _ = inbox.note([SavedRows(connectionIndex: 0, isComplete: false)])
    context.processPendingChanges()
    #expect(held.count == 2)
    #expect(held.place == (hasState ? "here" : ""))
  }
}

@ModelActor actor MeterLister {
  func list(into names: AsyncStream<[String]>.Continuation) async throws {
    let observer = try ResultsObserver(
      sortBy: [SortDescriptor(\Meter.name)],
      modelContext: modelContext
    )
    for await change in observer.changes { names.yield(change.results.map(\.name)) }
    names.finish()
  }
}
