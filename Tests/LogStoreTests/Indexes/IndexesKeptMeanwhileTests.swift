import Foundation
import LogEngineTestSupport
import ModelRuntime
import RowFormat
import SwiftData
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogStore

@Suite struct `Indexes that are kept while a store is open` {
  private func opened(
    _ seed: UInt64,
    _ count: Int = 1500
  ) throws -> (store: IndexedDisk, fileSystem: SimulatedFileSystem) {
    let fileSystem = SimulatedFileSystem(seed: seed)
    let store = try IndexedDisk(fileSystem)
    var random = SeededRandom(seed: seed)
    try store.fill(count, using: &random)
    return (store, fileSystem)
  }

  /// The same disk after the process was killed.
  private func killed(
    _ fileSystem: SimulatedFileSystem,
    _ reads: EngineOptions.ReadMethod = .mapped
  ) throws -> IndexedDisk {
    try IndexedDisk(SimulatedFileSystem(seed: 2, disk: fileSystem.disk), reads: reads)
  }

  @Test func `are those of the next process if this one is killed`() throws {
    let (store, fileSystem) = try opened(1)
    #expect(try killed(fileSystem).makeIndexes().fromFiles == 0)
    try store.makeIndexes()
    #expect(store.tables.keepIndexes(handingOver: true) > 0)
    #expect(store.tables.keepIndexes(handingOver: true) == 0)
    let stamps = IndexedDisk.largeIndexCount * FileHeader.byteCount
    for number in 0..<2 {
      store.context.insert(Show("commit \(number), which hardly any index has to know"))
      try store.context.save()
      #expect(1...stamps ~= store.tables.keepIndexes(handingOver: true))
    }
    try store.tables.checkIndexes()
    let expected = try store.answers()
    let next = try killed(fileSystem)
    #expect(try next.makeIndexes() == (IndexedDisk.largeIndexCount, IndexedDisk.largeIndexCount))
    #expect(try next.answers() == expected)
  }

  @Test func `are in their files, and not in memory as well`() throws {
    let (store, _) = try opened(1)
    try store.makeIndexes()
    #expect(store.tables.indexes.values.allSatisfy { $0.isInMemory })
    store.tables.keepIndexes(handingOver: true)
    let large = store.tables.indexes.values.filter { index in
      store.tables.openFile(of: index.definition) != nil
    }
    #expect(large.count > 3)
    #expect(large.allSatisfy { !$0.isInMemory })
    var random = SeededRandom(seed: 1)
    try store.shuffle(30, using: &random)
    // What changed is written, and nothing else.
    let byteCount = store.tables.keepIndexes(handingOver: true)
    let sizes = large.compactMap { store.tables.openFile(of: $0.definition)?.byteCount }
    #expect(byteCount > 0 && byteCount < sizes.reduce(0, +))
    #expect(large.allSatisfy { !$0.isInMemory })
    try store.tables.checkIndexes()
  }

  @Test(arguments: 1...(Thoroughness.stride == 1 ? 2 : 1))
  func `hold what a scan finds, whenever they are kept and the process is killed`(
    seed: UInt64
  ) throws {
    var random = SeededRandom(seed: seed)
    var (store, fileSystem) = try opened(seed, 1100)
    try store.makeIndexes()
    var caughtUp = 0
    for round in 0..<20 {
      // A reader that is not through sees what it saw.
      let view = store.tables.engine.makeReadView()
      let before = try store.tables.indexes.values.map { index in
        try index.keys(as: view, in: store.tables)?.entries
      }
      try store.shuffle(20, using: &random)
      if random.next(below: 2) == 0 {
        store.tables.keepIndexes(handingOver: random.next(below: 4) > 0)
      }
      if random.next(below: 3) == 0 { try store.shuffle(20, using: &random) }
      if random.next(below: 8) == 0 { try store.tables.engine.compact() }
      let after = try store.tables.indexes.values.map { index in
        try index.keys(as: view, in: store.tables)?.entries
      }
      for (before, after) in zip(before, after) where after != nil {
        #expect(before == after, "seed \(seed), round \(round)")
      }
      withExtendedLifetime(view) {}
      try store.tables.checkIndexes()
      if random.next(below: 4) == 0 {
        let expected = try store.answers()
        fileSystem = SimulatedFileSystem(seed: seed, disk: fileSystem.disk)
        store = try IndexedDisk(fileSystem, reads: random.next(below: 3) == 0 ? .copied : .mapped)
        let made = try store.makeIndexes()
        caughtUp += made.fromFiles - made.unchanged
        #expect(try store.answers() == expected, "seed \(seed), round \(round)")
      }
    }
    #expect(caughtUp > 0, "seed \(seed)")
  }

  @Test func `are of use again once they were kept after commits were packed`() throws {
    let (store, fileSystem) = try opened(3, 1100)
    let compactions = Atomic<Int>(0)
    store.tables.engine.state.files.onCompaction {
      compactions.add(1, ordering: .relaxed)
    }
    try store.makeIndexes()
    store.tables.keepIndexes(handingOver: true)
    var random = SeededRandom(seed: 3)
    try store.shuffle(100, using: &random)
    try store.tables.engine.compact()
    #expect(compactions.load(ordering: .relaxed) == 1)
    #expect(try killed(fileSystem).makeIndexes().fromFiles == 0)
    store.tables.keepIndexes(handingOver: true)
    let next = try killed(fileSystem, .copied)
    #expect(try next.makeIndexes().fromFiles == IndexedDisk.largeIndexCount)
    #expect(try next.answers() == store.answers())
  }

  @Test func `are right whenever the power goes while they are extended`() throws {
    let seed: UInt64 = 5
    nonisolated(unsafe) var moments: [Disk] = []
    let isRecording = Atomic<Bool>(false)
    let fileSystem = SimulatedFileSystem(seed: seed) { _, disk in
      if isRecording.load(ordering: .relaxed) { moments.append(disk) }
    }
    var random = SeededRandom(seed: seed)
    let store = try IndexedDisk(fileSystem)
    try store.fill(1100, using: &random)
    try store.makeIndexes()
    store.tables.keepIndexes(handingOver: true)
    try store.shuffle(40, using: &random)
    let expected = try store.answers()
    isRecording.store(true, ordering: .relaxed)
    store.tables.keepIndexes(handingOver: true)
    isRecording.store(false, ordering: .relaxed)
    moments.append(fileSystem.disk)
    let wanted = 12 / Thoroughness.stride
    var states = 0
    for (number, moment) in moments.enumerated() {
      moment.forEachCrashState(
        random: SeededGenerator(seed: seed + UInt64(number)),
        limits: .few
      ) { state in
        guard states < wanted, random.next(below: moments.count / 4 + 1) == 0 else { return }
        states += 1
        do {
          let store = try IndexedDisk(SimulatedFileSystem(seed: seed, disk: state.disk))
          try store.makeIndexes()
          try store.tables.checkIndexes()
          #expect(try store.answers() == expected, "seed \(seed), moment \(number)")
        } catch {
          Issue.record(error, "seed \(seed), moment \(number), \(state.scenario)")
        }
      }
    }
    #expect(states == wanted)
  }

  @Test func `are written beside commits and fetches of other threads`() throws {
    let (store, fileSystem) = try opened(6)
    try store.makeIndexes()
    let tables = store.tables
    let isOver = Atomic<Bool>(false)
    let failures = Mutex<[String]>([])
    let group = DispatchGroup()
    func run(_ body: @escaping @Sendable () throws -> Void) {
      DispatchQueue.global().async(group: group) {
        do { try body() } catch { failures.withLock { $0.append("\(error)") } }
      }
    }
    run {
      while !isOver.load(ordering: .relaxed) { tables.keepIndexes(handingOver: true) }
    }
    run {
      while !isOver.load(ordering: .relaxed) {
        let view = tables.engine.makeReadView()
        for index in tables.indexes.values {
          let count = try index.keys(as: view, in: tables)?.entries.count
          let expected = view.rowCount(of: index.tables[0])
          if let count, count != expected {
            failures.withLock { $0.append("\(index.definition): \(count), not \(expected)") }
          }
        }
      }
    }
    var random = SeededRandom(seed: 6)
    for _ in 0..<10 { try store.shuffle(40, using: &random) }
    isOver.store(true, ordering: .relaxed)
    group.wait()
    #expect(failures.withLock { $0 } == [])
    try tables.checkIndexes()
    tables.keepIndexes(handingOver: true)
    #expect(try killed(fileSystem).answers() == store.answers())
  }
}

@Suite struct `The pace at which indexes are written` {
  private let least = IndexKeepingPace.leastGrowth

  /// Whether it is time at each of some looks.
  private func looks(
    _ pace: inout IndexKeepingPace,
    _ looks: [(newest: UInt64, logEnd: UInt64)]
  ) -> [Bool] {
    looks.map { pace.isDue(newest: $0.newest, logEnd: $0.logEnd) }
  }

  @Test func `is once, when no commit has come for a while after an index was made`() {
    var pace = IndexKeepingPace(logEnd: 1000)
    pace.noteOutdated()
    #expect(looks(&pace, [(5, 1000), (5, 1000)]) == [false, true])
    pace.noteKept(4096, logEnd: 1000)
    // Afterwards a quarter of what is written then is worth it.
    let later: [(newest: UInt64, logEnd: UInt64)] = [
      (5, 1000), (6, 1500), (6, 1500), (7, 2024), (7, 2024),
    ]
    #expect(looks(&pace, later) == [false, false, false, false, true])
  }

  @Test func `is by the growth of the log while commits go on`() {
    var pace = IndexKeepingPace(logEnd: 0)
    var due: [UInt64] = []
    for commit in 1...100 as ClosedRange<UInt64> {
      let end = commit * least / 4
      if pace.isDue(newest: commit, logEnd: end) {
        due.append(commit)
        pace.noteKept(Int(2 * least), logEnd: end)
      }
    }
    // At first after as much as a checkpoint may be behind, then after as much as was written.
    #expect(due.prefix(3) == [4, 12, 20])
  }

  @Test func `begins anew where the log is shorter than it was`() {
    var pace = IndexKeepingPace(logEnd: 1 << 40)
    #expect(looks(&pace, [(1, 100), (1, 100)]) == [false, true])
  }
}

@Suite struct `The background of an index` {
  @Test func `does not look again until a commit comes, if what has come is too little to write`()
    throws
  {
    let store = try TableStore(inMemoryFor: Schema([Ticket.self, Show.self]), migrationPlan: nil)
    var pace = IndexKeepingPace(logEnd: 0)
    pace.noteKept(1 << 30, logEnd: store.engine.logEnd)
    // Another commit may follow soon.
    #expect(!store.keepIndexesIfDue(&pace))
    #expect(store.keepIndexesIfDue(&pace))
    pace.noteOutdated()
    #expect(store.keepIndexesIfDue(&pace))
  }

  @Test func `writes when it was told of a change, and ends when it is told to`() async {
    let keeper = IndexKeeper()
    let (calls, continuation) = AsyncStream.makeStream(of: UInt64.self)
    keeper.start(logEnd: 0) { pace in
      continuation.yield(pace.isDue(newest: 1, logEnd: IndexKeepingPace.leastGrowth) ? 1 : 0)
      return true
    }
    var iterator = calls.makeAsyncIterator()
    keeper.noteChange()
    #expect(await iterator.next() == 1)
    keeper.noteOutdated()
    #expect(await iterator.next() == 1)
    keeper.stop()
    keeper.noteChange()
    continuation.finish()
    #expect(await iterator.next() == nil)
  }
}
