import FaultProxy
import Foundation
import ModelRuntime
import Observation
import PostgresStore
import Synchronization

/// Several processes write for a while, and others observe: they must hear of every save, in order, once.
struct HistoryCampaign {
  let seed: UInt64
  let writers: Int
  let observers: Int
  let seconds: Double

  private static let namespace = "history"

  struct Outcome {
    var saveCount = 0
    var changeCount = 0
    var violations: [String] = []
  }

  /// - Throws: What keeps the server or the processes from working.
  func run() throws -> Outcome {
    var outcome = Outcome()
    let server = try FaultyServer()
    defer { server.remove() }
    let witness = try HistoryCampaign.container(server.url)
    let watching = try (0..<observers).map { _ in try OtherProcess("observer", server.url) }
    let writing = try (0..<writers).map { number in
      try OtherProcess(
        "writer",
        server.url,
        "\(number)",
        "\(seconds)",
        "\(seed &+ UInt64(number))"
      )
    }
    for other in watching + writing { try other.tell("go") }
    for (number, other) in writing.enumerated() {
      guard let said = try other.finish().last.flatMap({ Int($0) }) else {
        outcome.violations.append("seed \(seed): writer \(number) did not say how often it saved")
        continue
      }
      outcome.saveCount += said
    }
    let session = try server.session()
    let schema = HistoryCampaign.namespace
    let commits = try session.integers("SELECT xid FROM \(schema)._logstore_commit ORDER BY xid")
    outcome.changeCount = try session.integer("SELECT count(*) FROM \(schema)._logstore_change")
    if commits.count != outcome.saveCount {
      outcome.violations.append(
        "seed \(seed): \(commits.count) commits are there, \(outcome.saveCount) were acknowledged"
      )
    }
    var expected = Observed(heardCount: commits.count, changeCount: outcome.changeCount)
    for commit in commits { expected.note(commit) }
    expected.shownCount = try ModelContext(witness).fetchCount(FetchDescriptor<Entry>())
    for other in watching { try other.tell("\(commits.count) \(expected.shownCount)") }
    for (number, other) in watching.enumerated() {
      let found = try other.finish()
      if found != [expected.description] {
        outcome.violations.append(
          "seed \(seed): observer \(number): expected \(expected), found \(found)"
        )
      }
    }
    return outcome
  }

  static func container(_ url: String) throws -> ModelContainer {
    var configuration = PostgresStoreConfiguration(url: url, namespace: namespace)
    configuration.reconnectBudget = .seconds(600)
    return try ModelContainer(for: CampaignModels.schema, configurations: [configuration])
  }

  // MARK: Writing

  /// What each writer does: saves of all sizes, so that some that began early end late.
  static func write(_ url: String, name: String, seconds: Double, seed: UInt64) throws {
    let container = try container(url)
    var random = SplitMix(seed)
    _ = OtherProcess.waitForStart()
    let end = ContinuousClock.now + .seconds(seconds)
    var count = 0
    while ContinuousClock.now < end {
      let context = ModelContext(container)
      context.author = name
      let size =
        Int.random(in: 0..<50, using: &random) == 0 ? 500 : Int.random(in: 1...8, using: &random)
      for number in 0..<size { context.insert(Entry(number)) }
      if let old = try oneEntry(context, &random) {
        if Bool.random(using: &random) { context.delete(old) } else { old.number += 1 }
      }
      do {
        try context.save()
        count += 1
      } catch let error as SwiftDataError where error == .modelValidationFailure {
        // Another writer has deleted the entry.
      }
    }
    OtherProcess.say("\(count)")
  }

  private static func oneEntry(
    _ context: ModelContext,
    _ random: inout SplitMix
  ) throws -> Entry? {
    guard Int.random(in: 0..<3, using: &random) == 0 else { return nil }
    var descriptor = FetchDescriptor<Entry>()
    descriptor.fetchLimit = 1
    descriptor.fetchOffset = Int.random(in: 0..<40, using: &random)
    return try context.fetch(descriptor).first
  }

  // MARK: Observing

  /// What an observer has received, in a form that can be compared.
  struct Observed: CustomStringConvertible {
    private(set) var transactionCount = 0
    private var digest: UInt64 = 0
    private var last = 0
    private(set) var isInOrder = true
    var heardCount = 0
    var changeCount = 0
    var shownCount = 0

    init(heardCount: Int = 0, changeCount: Int = 0) {
      self.heardCount = heardCount
      self.changeCount = changeCount
    }

    mutating func note(_ transaction: Int) {
      isInOrder = isInOrder && transaction > last
      last = transaction
      transactionCount += 1
      var mix = SplitMix(UInt64(transaction))
      digest = digest &* 31 &+ mix.next()
    }

    var description: String {
      "\(transactionCount) transactions \(isInOrder ? "in order" : "out of order") \(String(digest, radix: 16)), "
        + "\(changeCount) changes, heard of \(heardCount), shows \(shownCount)"
    }
  }

  /// What each observer does: whenever it hears of saves, it reads the history on from where it was.
  @MainActor static func observe(_ url: String) async throws {
    let container = try container(url)
    let observer = try HistoryObserver(modelContainer: container)
    let shown = try ResultsObserver<Entry, Never>(
      sortBy: [],
      modelContext: container.mainContext
    )
    let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
    _ = OtherProcess.waitForStart()
    let wanted = Wanted()
    Thread.detachNewThread {
      // The parent says how many there were once the writers have ended.
      let counts = readLine()?.split(separator: " ").compactMap { Int($0) } ?? []
      guard counts.count == 2 else { exit(2) }
      wanted.set(counts[0], counts[1])
      // From now on it looks by itself, so that it ends, too, if it was not told.
      while true {
        continuation.yield()
        sleep(1)
      }
    }
    let reader = ModelContext(container)
    var observed = Observed()
    var token: DefaultHistoryToken?
    func read() throws {
      var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
      if let token { descriptor.predicate = #Predicate { $0.token > token } }
      for transaction in try reader.fetchHistory(descriptor) {
        observed.note(Int(transaction.transactionIdentifier))
        observed.changeCount += transaction.changes.count
        token = transaction.token
      }
    }
    func look() throws -> Bool {
      withObservationTracking {
        _ = observer.eventCounter
      } onChange: {
        continuation.yield()
      }
      try read()
      observed.heardCount = observer.eventCounter
      observed.shownCount = shown.results.count
      return wanted.isMet(by: observed) || wanted.isOverdue
    }
    for await _ in calls {
      if try look() { break }
    }
    OtherProcess.say("\(observed)")
  }

  /// How many transactions there were, and how many entries there are, once it is known.
  private final class Wanted: Sendable {
    private struct State {
      let transactionCount: Int
      let shownCount: Int
      let since = ContinuousClock.now
    }

    private let state = Mutex<State?>(nil)

    func set(_ transactionCount: Int, _ shownCount: Int) {
      state.withLock {
        $0 = State(transactionCount: transactionCount, shownCount: shownCount)
      }
    }

    func isMet(by observed: Observed) -> Bool {
      guard let wanted = state.withLock({ $0 }) else { return false }
      return observed.transactionCount >= wanted.transactionCount
        && observed.heardCount >= wanted.transactionCount
        && observed.shownCount == wanted.shownCount
    }

    /// Whether the last of them should have been heard of long ago.
    var isOverdue: Bool {
      state.withLock { $0 }.map { $0.since.duration(to: .now) > .seconds(60) } ?? false
    }
  }
}
