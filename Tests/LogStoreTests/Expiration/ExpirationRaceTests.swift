import Foundation
import LogEngine
import LogEngineTestSupport
import SchedulePoints
import SwiftData
import Synchronization
import Testing

@testable import LogStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

private typealias Pulse = Aging.Pulse

@Suite struct `What happens between the look for expired models and their delete` {
  let store: AgingStore
  let container: ModelContainer
  private let noon = AgingStore.noon

  init() throws {
    store = try AgingStore()
    container = try store.open(
      .init(Pulse.self, after: .zero, since: \.at),
      .init(Aging.Task.self, after: .zero, since: \.doneAt)
    )
  }

  /// Runs a block once, on this thread, when it comes to a point.
  @discardableResult
  private func atFirst<R>(
    _ point: SchedulePoint,
    run other: @escaping @Sendable () throws -> Void,
    during body: () throws -> R
  ) rethrows -> R {
    let thread = UInt(bitPattern: Int(bitPattern: pthread_self()))
    let isDue = Mutex(true)
    let hook = ScheduleHook { reached in
      guard reached == point, thread == UInt(bitPattern: Int(bitPattern: pthread_self())),
        isDue.withLock({ due in
          defer { due = false }
          return due
        })
      else { return }
      do { try other() } catch { Issue.record(error) }
    }
    defer { hook.remove() }
    let result = try body()
    #expect(isDue.withLock { !$0 }, "\(point) was never reached")
    return result
  }

  @Test(arguments: [SchedulePoint.beforeClaim, .beforeCommit])
  func `keeps models that got another date meanwhile`(at point: SchedulePoint) throws {
    let (container, noon) = (self.container, self.noon)
    try container.saving { context in
      for number in 0..<50 { context.insert(Pulse(number, at: noon - 1)) }
    }
    let reports = try atFirst(point) {
      try container.saving { context in
        for pulse in try context.fetch(FetchDescriptor<Pulse>()) where pulse.number % 5 == 0 {
          pulse.at = noon + 60
        }
        for pulse in try context.fetch(FetchDescriptor<Pulse>()) where pulse.number % 5 == 1 {
          context.delete(pulse)
        }
      }
    } during: {
      try container.expire()
    }
    #expect(try container.numbers() == Array(stride(from: 0, to: 50, by: 5)))
    #expect(reports[0].deletedCount == 30)
    try container.check()
  }

  @Test(arguments: [SchedulePoint.beforeClaim, .beforeCommit])
  func `keeps models with relationships that got another date meanwhile`(
    at point: SchedulePoint
  ) throws {
    let (container, noon) = (self.container, self.noon)
    try container.saving { context in
      for number in 0..<50 {
        let task = Aging.Task("\(number)", doneAt: noon - 1)
        context.insert(task)
        task.steps = [Aging.Step("\(number)")]
      }
    }
    try atFirst(point) {
      try container.saving { context in
        for task in try context.fetch(FetchDescriptor<Aging.Task>()) {
          if task.name.hasSuffix("0") { task.doneAt = noon + 60 }
          if task.name.hasSuffix("1") { task.doneAt = nil }
          // A delete would wait for the claims of the commit that waits here.
          if task.name.hasSuffix("2"), point == .beforeClaim { context.delete(task) }
        }
      }
    } during: {
      try container.expire()
    }
    let kept = ["0", "1", "10", "11", "20", "21", "30", "31", "40", "41"]
    #expect(try container.names(\Aging.Task.name) == kept)
    #expect(try container.names(\Aging.Step.name) == kept)
    try container.check()
  }

  @Test func `deletes models of which something else was changed`() throws {
    let (container, noon) = (self.container, self.noon)
    try container.saving { context in
      for number in 0..<50 { context.insert(Pulse(number, at: noon - 1)) }
    }
    try atFirst(.beforeCommit) {
      try container.saving { context in
        for pulse in try context.fetch(FetchDescriptor<Pulse>()) { pulse.number += 1000 }
      }
    } during: {
      try container.expire()
    }
    #expect(try container.numbers().isEmpty)
    try container.check()
  }

  @Test func `ends between two commits when the store is closed, and goes on in the next one`()
    throws
  {
    try container.saving { context in
      for number in 0..<2500 { context.insert(Pulse(number, at: noon - 1)) }
    }
    let log = try #require(container.stores(of: LogStore.self).first)
    var batches = 0
    #expect(throws: SwiftDataError.storeClosed) {
      try container.expire {
        batches += 1
        if batches == 2 { try log.close() }
      }
    }
    let again = try store.open(.init(Pulse.self, after: .zero, since: \.at))
    #expect(try again.numbers() == Array(1000..<2500))
    #expect(try again.expire()[0].deletedCount == 1500)
    try again.check()
  }

  @Test func `ends between two commits when its task is cancelled`() async throws {
    try container.saving { context in
      for number in 0..<1500 { context.insert(Pulse(number, at: noon - 1)) }
    }
    let container = container
    let task = _Concurrency.Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await container.stores(of: LogStore.self)[0].expire()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try container.numbers().count == 1500)
  }
}

@Suite struct `Expiration in the background` {
  let store: AgingStore

  init() throws { store = try AgingStore() }

  /// Opens the store, with an interval and a receiver of what expires.
  private func open() throws -> (ModelContainer, AsyncStream<ExpirationReport>) {
    var configuration = store.configuration([.init(Pulse.self, after: .zero, since: \.at)])
    configuration.expirationInterval = .milliseconds(10)
    let (reports, continuation) = AsyncStream.makeStream(of: ExpirationReport.self)
    configuration.onEvent = { event in
      if case .rowsExpired(let report) = event { continuation.yield(report) }
    }
    return (try store.open(configuration), reports)
  }

  @Test func `deletes what has expired, again and again`() async throws {
    let (container, reports) = try open()
    var next = reports.makeAsyncIterator()
    for round in 1...3 {
      try container.saving { context in
        for number in 0..<(1100 * round) {
          context.insert(Pulse(number, at: AgingStore.noon + Double(round)))
        }
      }
      store.days.advance(by: 1.5)
      // The clock may turn between a look and the next save: what one pass does not find the next one does.
      var count = 0
      while count < 1100 * round { count += try #require(await next.next()).deletedCount }
      #expect(count == 1100 * round)
    }
    #expect(try container.numbers().isEmpty)
    try container.check()
    try await container.close()
  }

  @Test func `ends with the container, which it does not keep`() async throws {
    weak var kept: LogStore?
    try {
      let (container, _) = try open()
      try container.saving { $0.insert(Pulse(1, at: AgingStore.noon + 1)) }
      kept = container.stores(of: LogStore.self).first
      #expect(kept != nil)
    }()
    // A step that is under way holds it for its duration.
    while kept != nil { await _Concurrency.Task.yield() }
    // The thread of the step may still be closing it, for which an opening by this process waits.
    try await store.open().close()
    try StorageEngine.open(at: store.url.path).close()
  }

  @Test func `does nothing until it is due, then a batch at a time`() throws {
    var configuration = store.configuration([.init(Pulse.self, after: .zero, since: \.at)])
    configuration.schema = Schema(Aging.models)
    let container = try store.open(configuration)
    try container.saving { context in
      for number in 0..<2500 { context.insert(Pulse(number, at: AgingStore.noon - 1)) }
    }
    let log = try #require(container.stores(of: LogStore.self).first)
    var clock = ExpirationClock()
    clock.now = { AgingStore.noon }
    let time = Uptime()
    clock.uptime = { time.now }
    let expirer = Expirer(
      try configuration.expirationRules(),
      in: log.tables,
      author: LogStore.expirationAuthor,
      every: .seconds(60),
      clock
    )
    #expect(expirer.delay == 1_000_000)
    time.advance(by: 999_999)
    expirer.step(in: container)
    #expect(try container.numbers().count == 2500)
    var counts: [Int] = []
    time.advance(by: 1)
    while expirer.delay == 0 {
      expirer.step(in: container)
      counts.append(try container.numbers().count)
      if expirer.delay == ExpirationSchedule.shortestPause {
        time.advance(by: ExpirationSchedule.shortestPause)
      }
    }
    #expect(counts == [1500, 500, 0, 0])
    #expect(expirer.delay == 60_000_000)
    expirer.stop()
    #expect(expirer.delay == nil)
  }
}

/// A clock that is never set, but by the test.
private final class Uptime: Sendable {
  private let microseconds = Mutex(0)

  var now: Int { microseconds.withLock { $0 } }
  func advance(by count: Int) { microseconds.withLock { $0 += count } }
}

@Suite struct `Expiration on a disk that loses power` {
  private static let path = "/aging"
  private static let schema = Schema([Aging.Pulse.self])

  private static func open(_ disk: any FileSystem) throws -> (ModelContainer, Expirer) {
    var options = EngineOptions()
    options.background = .caller
    options.smallestSegment = 64 << 10
    options.largestSegment = 64 << 10
    let engine = try StorageEngine.open(at: path, options: options, fileSystem: disk)
    let migration = StoreMigration(path: path, schema: schema, plan: nil)
    let tables = try TableStore(
      try migration.run(engine),
      TableStore.Configuration(path: path, schema: schema)
    )
    let configuration = ModelConfiguration(schema: schema, url: URL(fileURLWithPath: path))
    let container = try ModelContainer(
      migrating: [(DefaultStore(StoreLease(tables), configuration), schema)],
      at: schema
    )
    var rules = LogStoreConfiguration(url: URL(fileURLWithPath: path))
    rules.schema = schema
    rules.expirations = [.init(Pulse.self, after: .zero, since: \.at)]
    var clock = ExpirationClock()
    clock.now = { AgingStore.noon }
    let expirer = Expirer(
      try rules.expirationRules(),
      in: tables,
      author: LogStore.expirationAuthor,
      every: nil,
      clock
    )
    return (container, expirer)
  }

  @Test func `has deleted whole batches, and deletes the rest at the next opening`() throws {
    let seed: UInt64 = 11
    let first = SimulatedFileSystem(seed: seed)
    try {
      let (container, _) = try Self.open(first)
      try container.saving { context in
        for number in 0..<2300 {
          context.insert(Pulse(number, at: AgingStore.noon + (number < 2200 ? -1 : 1)))
        }
      }
    }()
    let moments = Mutex<[Disk]>([])
    let disk = SimulatedFileSystem(seed: seed, disk: first.disk) { _, disk in
      moments.withLock { $0.append(disk) }
    }
    try {
      let (container, expirer) = try Self.open(disk)
      try expirer.expire(in: container) {}
      #expect(try container.numbers() == Array(2200..<2300))
    }()
    var outcomes: Set<Int> = []
    let all = moments.withLock { $0 }
    var chance = SeededGenerator(seed: seed)
    for (number, moment) in all.enumerated() where number % 4 == 0 || number > all.count - 8 {
      moment.forEachCrashState(
        random: SeededGenerator(seed: seed + UInt64(number)),
        limits: .few
      ) { state in
        do {
          let (container, expirer) = try Self.open(
            SimulatedFileSystem(seed: seed, disk: state.disk)
          )
          let count = try ModelContext(container).fetchCount(FetchDescriptor<Pulse>())
          outcomes.insert(count)
          #expect([2300, 1300, 300, 100].contains(count), "\(count), moment \(number)")
          guard chance.oneIn(8) else { return }
          try expirer.expire(in: container) {}
          #expect(try container.numbers() == Array(2200..<2300))
        } catch {
          Issue.record(error, "seed \(seed), moment \(number), \(state.scenario)")
        }
      }
    }
    #expect(outcomes == [2300, 1300, 300, 100])
  }
}

@Suite struct `Expiration and saves in any order` {
  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `leave what a plain list leaves`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try AgingStore()
    let container = try store.open(
      .init(Aging.IndexedPulse.self, after: .seconds(50), since: \.at),
      .init(Aging.Task.self, after: .seconds(20), since: \.doneAt)
    )
    let context = ModelContext(container)
    var pulses: [Int: Date] = [:]
    var tasks: [String: (doneAt: Date?, isDenied: Bool)] = [:]
    for step in 0..<150 {
      let now = store.days.now
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        for number in 0..<Int.random(in: 1...40, using: &random) {
          let at = now + Double.random(in: -60...60, using: &random)
          pulses[step * 100 + number] = at
          context.insert(Aging.IndexedPulse(step * 100 + number, at: at))
        }
      case 2:
        for pulse in try context.fetch(FetchDescriptor<Aging.IndexedPulse>())
        where random.oneIn(4) {
          pulse.at = now + Double.random(in: -60...60, using: &random)
          pulses[pulse.number] = pulse.at
        }
      case 3:
        let doneAt: Date? =
          random.oneIn(3) ? nil : now + Double.random(in: -30...30, using: &random)
        let task = Aging.Task("\(step)", doneAt: doneAt)
        context.insert(task)
        task.steps = [Aging.Step("\(step)")]
        let isDenied = random.oneIn(3)
        if isDenied { task.bills = [Aging.Bill("\(step)")] }
        tasks["\(step)"] = (doneAt, isDenied)
      case 4:
        for bill in try context.fetch(FetchDescriptor<Aging.Bill>()) where random.oneIn(3) {
          tasks[bill.name]?.isDenied = false
          context.delete(bill)
        }
      default:
        store.days.advance(by: Double.random(in: 1...25, using: &random))
      }
      try context.save()
      guard random.oneIn(3) else { continue }
      try container.expire()
      let (old, done) = (store.days.now - 50, store.days.now - 20)
      pulses = pulses.filter { $0.value >= old }
      tasks = tasks.filter { $0.value.isDenied || $0.value.doneAt.map { $0 >= done } ?? true }
      let found = try ModelContext(container).fetch(FetchDescriptor<Aging.IndexedPulse>())
      #expect(
        Dictionary(uniqueKeysWithValues: found.map { ($0.number, $0.at) }) == pulses,
        "seed \(seed), step \(step)"
      )
      let names = tasks.keys.sorted()
      #expect(try container.names(\Aging.Task.name) == names, "seed \(seed), step \(step)")
      #expect(try container.names(\Aging.Step.name) == names, "seed \(seed), step \(step)")
    }
    try container.check()
  }
}
