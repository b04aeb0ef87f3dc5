import Foundation
import Locking
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

/// Processes that write one store on a disk which loses what it was not told to keep.
private struct ProcessesOnDisk {
  private let disk: SimulatedFileSystem
  private let locks = LockBoard()
  private var members: [(engine: StorageEngine, fileSystem: MortalFileSystem)?] = [nil, nil, nil]
  private var random: SeededGenerator
  private var nextKey: UInt64 = 1
  /// The rows that a commit that returned has written, and those of commits that threw.
  private var kept: Set<UInt64> = []
  private var doubtful: Set<UInt64> = []
  private(set) var failureCount = 0
  private(set) var deathCount = 0

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    disk = SimulatedFileSystem(seed: seed)
    let fileSystem = MortalFileSystem(disk, locks)
    let engine = try StorageEngine.open(
      at: "/store",
      options: MemoryStore.options(),
      fileSystem: fileSystem
    )
    try engine.apply(MemoryStore.tableChanges)
    try engine.close()
  }

  mutating func step() throws {
    let slot = Int.random(in: 0..<members.count, using: &random)
    guard let (engine, fileSystem) = members[slot] else { return try join(slot) }
    let mayDie = random.oneIn(8)
    if mayDie { fileSystem.live(for: Int.random(in: 1...24, using: &random)) }
    if random.oneIn(8) { failSoon() }
    let key = nextKey
    nextKey += 1
    doubtful.insert(key)
    do {
      let text = String(repeating: "t", count: Int.random(in: 0...900, using: &random))
      try engine.inTurn {
        var batch = engine.makeBatch()
        batch.insert(
          RowReference(table: 1, key: key),
          layout: LayoutNumber(1),
          row: MemoryStore.row(Int64(key), text).span.bytes
        )
        try engine.commit(&batch)
      }
      doubtful.remove(key)
      kept.insert(key)
    } catch is StorageError {
      // A process that failed ends, with its locks.
      if !fileSystem.isDead { failureCount += 1 } else { deathCount += 1 }
      fileSystem.kill()
      members[slot] = nil
    }
    disk.setFaults(FaultPlan())
    if fileSystem.isDead { members[slot] = nil } else { fileSystem.live(for: .max) }
  }

  /// Has one of the next synchronizations fail.
  private func failSoon() {
    let number = disk.callCount(of: .synchronize) + 1
    disk.setFaults(FaultPlan([Fault(.synchronize, number: number)]))
  }

  private mutating func join(_ slot: Int) throws {
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    let fileSystem = MortalFileSystem(disk, locks)
    let engine = try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    members[slot] = (engine, fileSystem)
  }

  /// Opens what a power cut would leave at this moment.
  mutating func cutPower() throws {
    let now = disk.disk
    let fates = Scenario.random(random.next()).fates(of: now.pending)
    let left = SimulatedFileSystem(seed: 1, disk: now.afterPowerCut(fates))
    let engine = try StorageEngine.open(
      at: "/store",
      options: MemoryStore.options(),
      fileSystem: MortalFileSystem(left, LockBoard())
    )
    let found = Set(try MemoryStore.rows(of: engine).keys)
    #expect(kept.isSubset(of: found), "lost: \(kept.subtracting(found).sorted())")
    #expect(found.isSubset(of: kept.union(doubtful)))
    try engine.close()
  }
}

/// Lets the log of one process be synchronized when a test says so.
private final class Gate: Sendable {
  private let isClosed = Atomic<Bool>(false)
  private let isReached = Atomic<Bool>(false)
  let count = Atomic<Int>(0)

  func close() {
    isReached.store(false, ordering: .relaxed)
    isClosed.store(true, ordering: .releasing)
  }
  func open() { isClosed.store(false, ordering: .releasing) }

  func pass(_ call: HookedFileSystem.Call) {
    guard call.operation == .synchronize, call.path.hasSuffix(".seg") else { return }
    count.add(1, ordering: .relaxed)
    pass()
  }

  func pass() {
    isReached.store(true, ordering: .releasing)
    while isClosed.load(ordering: .acquiring) { Thread.yield() }
  }

  func waitUntilReached() {
    while !isReached.load(ordering: .acquiring) { Thread.yield() }
  }
}

/// A thread of its own, since it sleeps for the disk.
private final class WritingThread: Sendable {
  private let hasEnded = DispatchSemaphore(value: 0)
  private let failure = Mutex<(any Error)?>(nil)

  func start(_ body: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [self] in
      do { try body() } catch { failure.withLock { $0 = error } }
      hasEnded.signal()
    }
  }

  func hasEnded(within time: DispatchTimeInterval) -> Bool {
    guard hasEnded.wait(timeout: .now() + time) == .success else { return false }
    hasEnded.signal()
    return true
  }

  func join() throws {
    hasEnded.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}

@Suite struct `The disk of several processes` {
  @Test(arguments: UInt64(1)..<80)
  func `keeps each commit that returned, if processes die or cannot synchronize`(seed: UInt64)
    throws
  {
    var processes = try ProcessesOnDisk(seed: seed)
    for _ in 0..<60 {
      try processes.step()
      try processes.cutPower()
    }
  }

  /// A process that finds the disk busy waits, and one synchronization serves all that wait.
  @Test(.timeLimit(.minutes(30)))
  func `is told once of commits that were written while it was busy`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.writers = .severalProcesses
    let gates = (0..<4).map { _ in Gate() }
    let engines = try gates.map { gate in
      try StorageEngine.open(
        at: folder.path,
        options: options,
        fileSystem: HookedFileSystem(PosixFileSystem()) { gate.pass($0) }
      )
    }
    try engines[0].apply(MemoryStore.tableChanges)
    for engine in engines {
      try engine.refresh()
      try Self.insert(1, engine)
    }
    let before = gates.map { $0.count.load(ordering: .relaxed) }.reduce(0, +)
    gates[0].close()
    let writers = (0..<engines.count).map { _ in WritingThread() }
    writers[0].start { try Self.insert(1, engines[0]) }
    gates[0].waitUntilReached()
    for (writer, engine) in zip(writers, engines).dropFirst() {
      let last = engine.lastCommit
      writer.start { try Self.insert(1, engine) }
      // It is written, the turn has ended, and its writer waits.
      while try engine.lastCommit == last || !Self.isBetweenTurns(engine) { Thread.yield() }
    }
    gates[0].open()
    for writer in writers { try writer.join() }
    let count = gates.map { $0.count.load(ordering: .relaxed) }.reduce(0, +) - before
    #expect(count == 2, "\(count) synchronizations of four commits")
    for engine in engines {
      try engine.refresh()
      #expect(try MemoryStore.rows(of: engine).count == 8)
    }
    for engine in engines { try engine.close() }
    #expect(try StorageEngine.verify(at: folder.path).problems.isEmpty)
  }

  /// A process without a limit waits for the disk after its turn, and may be stopped there.
  @Test(.timeLimit(.minutes(5)))
  func `names the one that synchronizes to one that waits no longer`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.writers = .severalProcesses
    let gate = Gate()
    let slow = try StorageEngine.open(
      at: folder.path,
      options: options,
      fileSystem: HookedFileSystem(PosixFileSystem()) { gate.pass($0) }
    )
    try slow.apply(MemoryStore.tableChanges)
    options.turnTimeout = .milliseconds(1)
    let other = try StorageEngine.open(at: folder.path, options: options)
    gate.close()
    let writer = WritingThread()
    writer.start { try Self.insert(1, slow) }
    gate.waitUntilReached()
    let error = #expect(throws: StorageError.self) { try other.inTurn {} }
    gate.open()
    if case .turnTimeout(_, _, let holder) = error {
      // Both are this process, as far as the system knows.
      #expect(holder == PosixFileSystem().holderDescription)
    } else {
      Issue.record("\(String(describing: error))")
    }
    try writer.join()
    try other.close()
    try slow.close()
  }

  /// A process that is slow to wake when a synchronization ends does not wait for the next one, which others have begun.
  @Test(.timeLimit(.minutes(30)))
  func `tells those, too, that are slow to hear of it`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.writers = .severalProcesses
    let gates = (0..<2).map { _ in Gate() }
    let late = Gate()
    let waitCount = Atomic<Int>(0)
    var fileSystems: [any FileSystem] = gates.map { gate in
      HookedFileSystem(PosixFileSystem()) { gate.pass($0) }
    }
    // The third process hears late of the second synchronization that it waits for, and begins none.
    fileSystems.append(
      LockFileSystem(PosixFileSystem()) { call in
        if call.isWait, waitCount.add(1, ordering: .relaxed).oldValue > 0 { late.pass() }
        guard call.isAttempt, waitCount.load(ordering: .relaxed) > 0 else { return true }
        gates[0].waitUntilReached()
        return false
      }
    )
    let engines = try fileSystems.map {
      try StorageEngine.open(at: folder.path, options: options, fileSystem: $0)
    }
    try engines[0].apply(MemoryStore.tableChanges)
    for engine in engines {
      try engine.refresh()
      try Self.insert(1, engine)
    }
    for gate in gates + [late] { gate.close() }
    let first = WritingThread()
    first.start { try Self.insert(1, engines[1]) }
    gates[1].waitUntilReached()
    let waiting = WritingThread()
    waiting.start { try Self.insert(1, engines[2]) }
    while waitCount.load(ordering: .relaxed) == 0 { Thread.yield() }
    let second = WritingThread()
    let last = engines[0].lastCommit
    second.start { try Self.insert(1, engines[0]) }
    while try engines[0].lastCommit == last || !Self.isBetweenTurns(engines[0]) { Thread.yield() }
    gates[1].open()
    try first.join()
    gates[0].waitUntilReached()
    late.waitUntilReached()
    gates[0].open()
    try second.join()
    gates[1].close()
    let third = WritingThread()
    third.start { try Self.insert(1, engines[1]) }
    gates[1].waitUntilReached()
    late.open()
    #expect(waiting.hasEnded(within: .seconds(120)), "it waits for the next synchronization")
    gates[1].open()
    for writer in [waiting, third] { try writer.join() }
    for engine in engines { try engine.close() }
  }

  /// The turn of a process ends although another thread of it waits for the disk.
  @Test(.timeLimit(.minutes(30)))
  func `keeps no turn of a process from ending`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.writers = .severalProcesses
    let gate = Gate()
    let engine = try StorageEngine.open(
      at: folder.path,
      options: options,
      fileSystem: HookedFileSystem(PosixFileSystem()) { gate.pass($0) }
    )
    let other = try StorageEngine.open(at: folder.path, options: options)
    try engine.apply(MemoryStore.tableChanges)
    try Self.insert(1, engine)
    let writers = (0..<2).map { _ in WritingThread() }
    gate.close()
    writers[0].start { try Self.insert(1, engine) }
    gate.waitUntilReached()
    let last = engine.lastCommit
    writers[1].start { try Self.insert(1, engine) }
    let deadline = ContinuousClock.now + .seconds(120)
    var hasEnded = false
    while !hasEnded, ContinuousClock.now < deadline {
      Thread.yield()
      hasEnded = try engine.lastCommit > last && Self.mayTakeTurn(other)
    }
    #expect(hasEnded, "the turn waits for a synchronization")
    gate.open()
    for writer in writers { try writer.join() }
    try other.refresh()
    #expect(try MemoryStore.rows(of: other).count == 3)
    for engine in [engine, other] { try engine.close() }
  }

  /// Those who look how far the others have come hold the lock for that long, each of them.
  @Test(.timeLimit(.minutes(30)))
  func `looks a limited number of times before it waits for the lock alone`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = EngineOptions()
    options.writers = .severalProcesses
    let lookCount = Atomic<Int>(0)
    // A member of an earlier version is always there before.
    let busy = LockFileSystem(PosixFileSystem()) { call in
      if call.isWait { lookCount.add(1, ordering: .relaxed) }
      return !call.isAttempt
    }
    let engine = try StorageEngine.open(at: folder.path, options: options, fileSystem: busy)
    let other = try StorageEngine.open(at: folder.path, options: options)
    try engine.apply(MemoryStore.tableChanges)
    try Self.insert(1, other)
    let before = lookCount.load(ordering: .relaxed)
    try Self.insert(1, engine)
    #expect(1..<100 ~= lookCount.load(ordering: .relaxed) - before)
    for engine in [engine, other] { try engine.close() }
  }

  /// Two processes whose commits wait for no disk, and for no background.
  private static func openRelaxed(
    on disk: SimulatedFileSystem
  ) throws -> (engines: [StorageEngine], fileSystems: [MortalFileSystem]) {
    let locks = LockBoard()
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    options.durability = .relaxed(interval: .seconds(1))
    let fileSystems = (0..<2).map { _ in MortalFileSystem(disk, locks) }
    let engines = try fileSystems.map {
      try StorageEngine.open(at: "/store", options: options, fileSystem: $0)
    }
    try engines[0].apply(MemoryStore.tableChanges)
    return (engines, fileSystems)
  }

  /// How many rows are left by a power cut that takes all that it can.
  private static func countAfterPowerCut(of disk: Disk) throws -> Int {
    let left = disk.afterPowerCut(Scenario.nothingKept.fates(of: disk.pending))
    let engine = try StorageEngine.open(
      at: "/store",
      options: MemoryStore.options(),
      fileSystem: SimulatedFileSystem(seed: 2, disk: left)
    )
    defer { try? engine.close() }
    return engine.rowCount(of: 1)
  }

  /// Nothing else has a process take a turn whose commits wait for no disk.
  @Test(arguments: [false, true])
  func `has what others save within the interval, after a process could not synchronize`(
    hasDied: Bool
  ) throws {
    let disk = SimulatedFileSystem(seed: 1)
    let (engines, fileSystems) = try Self.openRelaxed(on: disk)
    try Self.insert(1, engines[0])
    if hasDied {
      // Having written its number.
      fileSystems[0].live(for: 2)
    } else {
      let number = disk.callCount(of: .synchronize) + 1
      disk.setFaults(FaultPlan([Fault(.synchronize, number: number)]))
    }
    engines[0].performBackgroundWork()
    #expect(fileSystems[0].isDead == hasDied)
    disk.setFaults(FaultPlan())
    try engines[1].refresh()
    for count in 2...4 {
      try Self.insert(1, engines[1])
      engines[1].performBackgroundWork()
      #expect(try Self.countAfterPowerCut(of: disk.disk) == count)
    }
    try engines[1].close()
  }

  /// Others do not know of commits that nobody has asked them to synchronize.
  @Test func `has what a process saved that has closed the store`() throws {
    let disk = SimulatedFileSystem(seed: 1)
    let (engines, _) = try Self.openRelaxed(on: disk)
    try Self.insert(3, engines[0])
    try engines[0].close()
    #expect(try Self.countAfterPowerCut(of: disk.disk) == 3)
    try engines[1].close()
  }

  /// How a write of the log fails.
  enum Failure { case write, synchronize }

  /// The commits of the turn in which it failed are in its index, and in its counts.
  @Test(arguments: [Failure.write, .synchronize])
  func `shows a process that could not write to it what it saw before`(failure: Failure) throws {
    let disk = SimulatedFileSystem(seed: 1)
    let locks = LockBoard()
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    func open() throws -> StorageEngine {
      let fileSystem = MortalFileSystem(disk, locks)
      return try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    }
    let engine = try open()
    try engine.apply(MemoryStore.tableChanges)
    // Then it keeps its turn, as it is alone.
    try #require(engine.writer?.turns).hears.store(true, ordering: .relaxed)
    try Self.insert(3, engine)
    let operation: FileOperation = failure == .write ? .write : .synchronize
    disk.setFaults(FaultPlan([Fault(operation, number: disk.callCount(of: operation) + 1)]))
    #expect(throws: StorageError.self) { try Self.insert(1, engine) }
    disk.setFaults(FaultPlan())
    let (count, last) = (engine.rowCount(of: 1), engine.lastCommit)
    // The turn ends.
    try? engine.inTurn {}
    func check(_ count: Int) throws {
      try engine.refresh()
      #expect(engine.rowCount(of: 1) == count)
      #expect(engine.lastCommit.rawValue == last.rawValue)
      #expect(try MemoryStore.rows(of: engine).count == count)
    }
    try check(count)
    let other = try open()
    try other.refresh()
    try Self.insert(2, other)
    switch failure {
    // It has a row in its index that never came to be, so it reads no further.
    case .write:
      let error = #expect(throws: StorageError.self) { try engine.refresh() }
      guard case .poisoned = error else {
        Issue.record("\(String(describing: error))")
        break
      }
      #expect(try MemoryStore.rows(of: engine).count == count)
    case .synchronize:
      try engine.refresh()
      #expect(try MemoryStore.rows(of: engine) == MemoryStore.rows(of: other))
    }
    #expect(try engine.rowCount(of: 1) == MemoryStore.rows(of: engine).count)
    try engine.close()
    try other.close()
  }

  /// The process may go on for months, and look at what it has seen.
  @Test(arguments: [Failure.write, .synchronize])
  func `is packed beside a process that could not write to it`(failure: Failure) throws {
    let disk = SimulatedFileSystem(seed: 1)
    let locks = LockBoard()
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    options.compaction = .onDemand
    let engines = try (0..<2).map { _ in
      let fileSystem = MortalFileSystem(disk, locks)
      return try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    }
    let (engine, other) = (engines[0], engines[1])
    try engine.apply(MemoryStore.tableChanges)
    try Self.insert(3, engine)
    let operation: FileOperation = failure == .write ? .write : .synchronize
    // Those of the log only: keys are given out.
    disk.setFaults(
      FaultPlan([Fault(operation, number: 1, .forEver, path: "/store/log/0000000000000001.seg")])
    )
    #expect(throws: StorageError.self) { try Self.insert(1, engine) }
    disk.setFaults(FaultPlan())
    try other.refresh()
    try Self.insert(3, other)
    _ = try? engine.refresh()
    var view: ReadView? = engine.makeReadView()
    let rows = try MemoryStore.rows(of: #require(view))
    func packedEnd() throws -> UInt64? {
      try Self.insert(1, other)
      _ = try? engine.refresh()
      engine.performBackgroundWork()
      try other.compact()
      return other.state.files.base.withLock { $0?.sequence }
    }
    // A view has what it needs.
    let seen = try #require(view).sequence.rawValue
    #expect(try packedEnd() ?? 0 <= seen)
    #expect(try MemoryStore.rows(of: #require(view)) == rows)
    view = nil
    #expect(try packedEnd() == other.lastCommit.rawValue)
    for engine in engines { try engine.close() }
  }

  private static func mayTakeTurn(_ engine: StorageEngine) throws -> Bool {
    let lock = try #require(engine.writer?.turns?.file.lock)
    guard try lock.takeAtOnce() else { return false }
    lock.release()
    return true
  }

  private static func isBetweenTurns(_ engine: StorageEngine) throws -> Bool {
    try engine.writer?.turns?.file.readHolder().member == 0
  }

  private static func insert(_ count: Int, _ engine: StorageEngine) throws {
    for _ in 0..<count {
      var batch = engine.makeBatch()
      let key = try engine.takeKeys(1, in: 1).lowerBound
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: MemoryStore.row(Int64(key), "text").span.bytes
      )
      try engine.commit(&batch)
    }
  }
}

/// A file system whose locks call a hook before they are taken, which may refuse those that would not wait.
private final class LockFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  fileprivate let hook: @Sendable (Call) -> Bool

  struct Call {
    var path: String
    var kind: LockKind
    var waits: Bool

    /// Whether a member waits for the end of a synchronization.
    var isWait: Bool { path.contains("/WAIT") && kind == .shared }

    /// Whether a member synchronizes if no other one does.
    var isAttempt: Bool { path.hasSuffix("/SYNC") && kind == .exclusive && !waits }
  }

  init(_ base: any FileSystem, hook: @escaping @Sendable (Call) -> Bool) {
    self.base = base
    self.hook = hook
  }

  func openLockable(_ path: String) throws(StorageError) -> any LockableFile {
    HookedLock(try base.openLockable(path), path, self)
  }

  private final class HookedLock: LockableFile {
    private let base: any LockableFile
    private let path: String
    private let fileSystem: LockFileSystem

    init(_ base: any LockableFile, _ path: String, _ fileSystem: LockFileSystem) {
      self.base = base
      self.path = path
      self.fileSystem = fileSystem
    }

    func take(_ kind: LockKind, waits: Bool) throws(StorageError) -> Bool {
      guard fileSystem.hook(Call(path: path, kind: kind, waits: waits)) else { return false }
      return try base.take(kind, waits: waits)
    }

    func release() { base.release() }
    func close() { base.close() }
    var isNamed: Bool { base.isNamed }
  }
}

@Suite struct `Damage to what members know together` {
  private enum Damage {
    case flip(Int)
    case cut(Int)
    case zeros(Range<Int>)
  }

  /// Keys that members hold in reserve are in no log.
  @Test(arguments: ["TURN", "members/SYNC"])
  func `gives no key and no rank out twice`(name: String) throws {
    let places = [0, 8, 16, 40, 104, 512, 528, 529, 535, 536, 539, 2048, 2055, 4104, 4108, 4111]
    var damages: [Damage] = places.map { .flip($0) }
    damages += [0, 100, 528, 2048, 4096, 4104].map { .cut($0) }
    damages += [0..<8192, 512..<1024, 2048..<2056, 4096..<8192].map { .zeros($0) }
    for damage in damages {
      let (disk, locks) = (InMemoryFileSystem(), LockBoard())
      let engines = try (0..<3).map { _ in try Self.join(disk, locks) }
      try engines[0].apply(MemoryStore.tableChanges)
      for engine in engines { try engine.refresh() }
      var keys: [UInt64] = []
      var ranks: [Int64] = []
      func take(_ count: Int, _ engine: StorageEngine) throws {
        keys += try engine.takeKeys(count, in: 1)
        ranks += try engine.takeRanks(count) { Int64($0.rawValue) }
      }
      for engine in engines { try take(3, engine) }
      try Self.apply(damage, to: "store/" + name, on: disk)
      for count in [1, 70, 1, 200] {
        for engine in engines.reversed() { try take(count, engine) }
      }
      #expect(Set(keys).count == keys.count, "\(damage)")
      #expect(Set(ranks).count == ranks.count, "\(damage)")
      // A damaged number is none to go on from.
      #expect(keys.allSatisfy { $0 < 10_000 } && ranks.allSatisfy { $0 < 10_000 }, "\(damage)")
    }
  }

  @Test func `counts on from what members of earlier versions have given out`() throws {
    let (disk, locks) = (InMemoryFileSystem(), LockBoard())
    let engine = try Self.join(disk, locks)
    try engine.apply(MemoryStore.tableChanges)
    let first = try engine.takeKeys(64, in: 1)
    let rank = try engine.takeRanks(1) { _ in 1 }.upperBound
    let file = try disk.open("store/TURN", .write)
    var numbers = ByteBuffer(capacity: 16)
    numbers.append(first.upperBound + 100_000)
    try numbers.write(to: file, at: 4104)
    numbers.removeAll()
    numbers.append(UInt64(rank + 1000))
    try numbers.write(to: file, at: 2048)
    #expect(try engine.takeKeys(1, in: 1).lowerBound == first.upperBound + 100_000)
    #expect(try engine.takeRanks(1) { _ in 1 }.lowerBound == rank + 1000)
  }

  @Test(arguments: [UInt64(1) << 62, .max >> 1, .max])
  func `goes on from no number that nobody can have given out`(number: UInt64) throws {
    let (disk, locks) = (InMemoryFileSystem(), LockBoard())
    let engine = try Self.join(disk, locks)
    try engine.apply(MemoryStore.tableChanges)
    let file = try disk.open("store/members/SYNC", .write)
    let members = try file.readBytes(8, at: 8).load(UInt64.self, at: 0)
    let copies = NumberCopies(file: file, members: members)
    for table: UInt16 in 0...1 { try copies.write(number, table) }
    #expect(try engine.takeKeys(1, in: 1).upperBound < 10_000)
    #expect(try engine.takeRanks(1) { _ in 1 }.upperBound < 10_000)
  }

  private static func join(
    _ disk: InMemoryFileSystem,
    _ locks: LockBoard
  ) throws -> StorageEngine {
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    return try StorageEngine.open(
      at: "store",
      options: options,
      fileSystem: MortalFileSystem(disk, locks)
    )
  }

  @Test(arguments: ["TURN", "members/SYNC", "members/0001"])
  func `loses no commit and ends no process`(name: String) throws {
    let size = try #require(try Self.run(name, nil))
    let places = Array(0..<min(size, 128)) + [1024, 2048, 3072, 4096].filter { $0 < size }
    for place in places {
      try Self.run(name, .flip(place))
      try Self.run(name, .cut(place))
    }
  }

  /// Commits before and after the damage, in two processes, one of which dies in a turn.
  ///
  /// - Returns: How long the file was.
  @discardableResult
  private static func run(_ name: String, _ damage: Damage?) throws -> Int? {
    let (disk, locks) = (InMemoryFileSystem(), LockBoard())
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    let joining = MortalFileSystem(disk, locks)
    let systems = (0..<3).map { _ in MortalFileSystem(disk, locks) }
    let engines = try systems.map {
      try StorageEngine.open(at: "store", options: options, fileSystem: $0)
    }
    try engines[0].apply(MemoryStore.tableChanges)
    var keys: Set<UInt64> = []
    func insert(_ engine: StorageEngine) throws {
      let key = try engine.takeKeys(65, in: 1).lowerBound
      _ = try engine.takeRanks(1) { Int64($0.rawValue) }
      var batch = engine.makeBatch()
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: MemoryStore.row(Int64(key), "text").span.bytes
      )
      _ = try engine.inTurn { try engine.commit(&batch) }
      keys.insert(key)
    }
    for engine in engines {
      try engine.refresh()
      try insert(engine)
    }
    let size = try disk.size(of: "store/" + name)
    try apply(damage, to: "store/" + name, on: disk)
    for engine in engines.dropLast() { try insert(engine) }
    systems[2].live(for: 2)
    _ = try? engines[2].inTurn { try engines[2].checkpoint() }
    systems[2].kill()
    try apply(damage, to: "store/" + name, on: disk)
    for engine in engines.dropLast() {
      try insert(engine)
      try engine.refresh()
      #expect(keys.isSubset(of: try MemoryStore.rows(of: engine).keys))
    }
    try insert(try StorageEngine.open(at: "store", options: options, fileSystem: joining))
    for system in systems.dropLast() { system.kill() }
    joining.kill()
    let engine = try StorageEngine.open(
      at: "store",
      options: MemoryStore.options(),
      fileSystem: MortalFileSystem(disk, locks)
    )
    let found = Set(try MemoryStore.rows(of: engine).keys)
    #expect(keys.isSubset(of: found), "\(String(describing: damage)): \(keys) of \(found)")
    try engine.close()
    return size
  }

  private static func apply(
    _ damage: Damage?,
    to path: String,
    on disk: InMemoryFileSystem
  ) throws {
    guard let damage else { return }
    let file = try disk.open(path, .write)
    switch damage {
    case .cut(let size): try file.setSize(size)
    case .zeros(let range):
      var zeros = ByteBuffer(capacity: range.count)
      zeros.appendZeros(range.count)
      try zeros.write(to: file, at: range.lowerBound)
    case .flip(let offset):
      let bytes = try file.readBytes(1, at: offset)
      guard bytes.count == 1 else { return }
      var flipped = ByteBuffer(capacity: 1)
      flipped.append(~bytes.load(UInt8.self, at: 0))
      try flipped.write(to: file, at: offset)
    }
  }
}
