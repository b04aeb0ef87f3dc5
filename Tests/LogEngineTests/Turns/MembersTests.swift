import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogTools

/// Processes that write one store, die at any call, and come back; by lot.
private struct Processes {
  private let disk = InMemoryFileSystem()
  private let locks = LockBoard()
  private var members: [Member?] = [nil, nil, nil]
  private var random: SeededGenerator
  /// What the store holds.
  private var rows: [UInt64: String] = [:]
  /// What it may hold instead, because a member died while it committed.
  private var perhaps: [UInt64: String]?
  private var takenKeys: Set<UInt64> = []
  private(set) var commitCount = 0
  private(set) var deathCount = 0
  private(set) var compactionCount = 0
  private(set) var backupCount = 0

  private final class Member {
    let engine: StorageEngine
    let fileSystem: MortalFileSystem
    var views: [(ReadView, [UInt64: String])] = []

    init(_ engine: StorageEngine, _ fileSystem: MortalFileSystem) {
      self.engine = engine
      self.fileSystem = fileSystem
      // As if there were a thread that hears others ask for the turn: while it is alone, it keeps it.
      engine.writer?.turns?.hears.store(true, ordering: .relaxed)
    }

    /// As that thread does when another asks.
    func endLease() {
      guard let writer = engine.writer, let turns = writer.turns else { return }
      _ = turns.endLease(unusedFor: 0) { writer.endTurn(turns) }
    }
  }

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    let (engine, _) = try Self.open(disk, locks, .oneProcess)
    try engine.apply(MemoryStore.tableChanges)
    try engine.close()
  }

  private static func open(
    _ disk: InMemoryFileSystem,
    _ locks: LockBoard,
    _ writers: EngineOptions.Writers,
    livingFor count: Int? = nil
  ) throws -> (StorageEngine, MortalFileSystem) {
    let fileSystem = MortalFileSystem(disk, locks)
    if let count { fileSystem.live(for: count) }
    var options = MemoryStore.options()
    options.writers = writers
    do {
      let engine = try StorageEngine.open(at: "store", options: options, fileSystem: fileSystem)
      return (engine, fileSystem)
    } catch {
      fileSystem.kill()
      throw error
    }
  }

  mutating func step() throws {
    let slot = Int.random(in: 0..<members.count, using: &random)
    for other in members.indices where other != slot { members[other]?.endLease() }
    guard let member = members[slot] else { return try join(slot) }
    let mayDie = random.oneIn(6)
    if mayDie { member.fileSystem.live(for: Int.random(in: 1...24, using: &random)) }
    do {
      switch Int.random(in: 0..<17, using: &random) {
      case 0..<8: try commit(member)
      case 8, 9: try look(member)
      case 10: try hold(member)
      case 11: member.views.removeAll()
      case 12: try compact(member)
      case 13: try member.engine.checkpoint()
      case 14: member.engine.performBackgroundWork()
      case 15: try backUp(member)
      default:
        if random.oneIn(3) { try leave(slot) } else { try lookBack(member) }
      }
    } catch  where member.fileSystem.isDead {
      deathCount += 1
      members[slot] = nil
      return
    }
    if member.fileSystem.isDead {
      deathCount += 1
      members[slot] = nil
    } else if mayDie {
      member.fileSystem.live(for: .max)
    }
  }

  private mutating func join(_ slot: Int) throws {
    if members.allSatisfy({ $0 == nil }) {
      // Nobody is left who was given a key and may use it.
      takenKeys.removeAll()
      if random.oneIn(4) { return try workAlone() }
    }
    let count = random.oneIn(8) ? Int.random(in: 1...60, using: &random) : nil
    do {
      let (engine, fileSystem) = try Self.open(
        disk,
        locks,
        .severalProcesses,
        livingFor: count
      )
      fileSystem.live(for: .max)
      members[slot] = Member(engine, fileSystem)
    } catch let error as StorageError where error.isDeath && count != nil {
      deathCount += 1
    }
  }

  /// As a process that wants the store for itself.
  private mutating func workAlone() throws {
    let (engine, _) = try Self.open(disk, locks, .oneProcess)
    try settle(engine)
    var batch = engine.makeBatch()
    let key = engine.reserveKeys(1, in: 1).lowerBound
    var after = rows
    insert(key, &batch, &after)
    rows = after
    try engine.commit(&batch)
    if random.oneIn(2) { try engine.close() }
  }

  // MARK: What members do

  private mutating func insert(
    _ key: UInt64,
    _ batch: inout CommitBatch,
    _ rows: inout [UInt64: String]
  ) {
    let text = String(repeating: "t", count: Int.random(in: 0...900, using: &random))
    batch.insert(
      RowReference(table: 1, key: key),
      layout: LayoutNumber(1),
      row: MemoryStore.row(Int64(key), text).span.bytes
    )
    rows[key] = "\(key) \(text)"
  }

  private mutating func commit(_ member: Member) throws {
    // As a save does: everything in one turn.
    var after = rows
    var isUnderWay = false
    do {
      try member.engine.inTurn {
        try settle(member.engine)
        after = rows
        var batch = member.engine.makeBatch()
        var left = Set(rows.keys)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let keys = left.sorted()
          switch Int.random(in: 0..<5, using: &random) {
          case 0 where !keys.isEmpty:
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            left.remove(key)
            batch.delete(RowReference(table: 1, key: key))
            after[key] = nil
          case 1 where !keys.isEmpty, 2 where !keys.isEmpty:
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            left.remove(key)
            let number = Int64.random(in: 0...999, using: &random)
            let text = after[key].map { String($0.drop { $0 != " " }.dropFirst()) } ?? ""
            var changed = ColumnSet()
            changed.insert(0)
            batch.update(
              RowReference(table: 1, key: key),
              layout: LayoutNumber(1),
              changed: changed,
              row: MemoryStore.row(number, text).span.bytes
            )
            after[key] = "\(number) \(text)"
          default:
            let key = try member.engine.takeKeys(1, in: 1).lowerBound
            #expect(takenKeys.insert(key).inserted, "key \(key) was given to two")
            insert(key, &batch, &after)
          }
        }
        isUnderWay = true
        try member.engine.commit(&batch)
        rows = after
        isUnderWay = false
        commitCount += 1
      }
    } catch {
      if isUnderWay { perhaps = after }
      throw error
    }
  }

  /// Compares what a member sees.
  private mutating func settle(_ engine: StorageEngine) throws {
    let found = try MemoryStore.rows(of: engine)
    if let other = perhaps, found != rows {
      try #require(found == other, "neither with nor without the commit of the one who died")
      rows = other
    } else {
      try #require(found == rows, "rows differ: \(found.count) and \(rows.count)")
    }
    perhaps = nil
    #expect(engine.rowCount(of: 1) == rows.count)
    takenKeys.formUnion(rows.keys)
  }

  private mutating func look(_ member: Member) throws {
    try member.engine.refresh()
    // Nobody repairs what a dead member left half done, but who writes: so it may be seen later.
    if perhaps == nil { try settle(member.engine) }
    for (view, rows) in member.views {
      try #require(MemoryStore.rows(of: view) == rows, "a view has changed")
    }
  }

  private mutating func hold(_ member: Member) throws {
    try member.engine.refresh()
    if perhaps != nil { return }
    member.views.append((member.engine.makeReadView(), rows))
  }

  private mutating func lookBack(_ member: Member) throws {
    let newest = member.engine.lastCommit.rawValue
    guard newest > 2 else { return }
    do {
      let view = try member.engine.makeReadView(at: CommitSequence(newest - 1))
      member.views.append((view, try MemoryStore.rows(of: view)))
    } catch StorageError.commitGone {}
  }

  private mutating func compact(_ member: Member) throws {
    if case .compacted = try member.engine.compact() { compactionCount += 1 }
  }

  /// Copies the store, and compares the copy with what the store holds.
  private mutating func backUp(_ member: Member) throws {
    let path = "copy \(backupCount)"
    backupCount += 1
    try member.engine.backup(to: path)
    if member.fileSystem.isDead { return }
    // Nobody has written since.
    try settle(member.engine)
    var options = MemoryStore.options(.readOnly)
    options.missingStore = .fail
    let copy = try StorageEngine.open(at: path, options: options, fileSystem: disk)
    try #require(MemoryStore.rows(of: copy) == rows, "a copy differs")
    #expect(copy.lastCommit == member.engine.lastCommit)
    if random.oneIn(4) {
      #expect(try StorageEngine.verify(at: path, fileSystem: disk).problems.isEmpty)
    }
  }

  private mutating func leave(_ slot: Int) throws {
    let member = members[slot]
    try member?.engine.close()
    members[slot] = nil
  }

  /// Ends all, and verifies the store.
  mutating func finish() throws {
    for slot in members.indices {
      members[slot]?.fileSystem.live(for: .max)
      try members[slot]?.engine.close()
      members[slot] = nil
    }
    let (engine, fileSystem) = try Self.open(disk, locks, .oneProcess)
    try settle(engine)
    try engine.close()
    let report = try StorageEngine.verify(at: "store", fileSystem: fileSystem)
    #expect(report.problems.isEmpty)
  }
}

extension StorageError {
  fileprivate var isDeath: Bool {
    switch self {
    case MortalFileSystem.death: true
    case .poisoned(_, let cause): cause == MortalFileSystem.death
    default: false
    }
  }
}

/// What threads were given.
private final class TakenNumbers: Sendable {
  private let numbers = Mutex<(keys: [UInt64], ranks: [Int64])>(([], []))

  var all: (keys: [UInt64], ranks: [Int64]) { numbers.withLock { $0 } }

  func add(_ keys: Range<UInt64>, _ ranks: Range<Int64>) {
    numbers.withLock {
      $0.keys += keys
      $0.ranks += ranks
    }
  }
}

/// The number of commits of a process that have returned.
private final class CommitCount: Sendable {
  let value = Atomic<Int>(0)
}

@Suite struct `Several processes that write a store` {
  @Test(arguments: Thoroughness.some(Array(UInt64(1)..<60)))
  func `see and keep each commit, whoever dies at whatever call`(seed: UInt64) throws {
    var processes = try Processes(seed: seed)
    for _ in 0..<300 { try processes.step() }
    try processes.finish()
    #expect(processes.commitCount > 20 && processes.deathCount > 0)
    #expect(processes.backupCount > 0)
  }

  private static func options() -> EngineOptions {
    var options = EngineOptions()
    options.writers = .severalProcesses
    options.durability = .relaxed(interval: .milliseconds(10))
    options.smallestSegment = 64 << 10
    options.largestSegment = 64 << 10
    options.compaction = .automatic
    return options
  }

  @Test
  func `commit beside each other from many threads, while they compact`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "members-\(UUID().uuidString)"
    )
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path
    let first = try StorageEngine.open(at: path, options: Self.options())
    try first.apply(MemoryStore.tableChanges)
    let others = try (0..<2).map { _ in try StorageEngine.open(at: path, options: Self.options()) }
    let engines = [first] + others
    try await withThrowingTaskGroup(of: Void.self) { group in
      for engine in engines {
        for thread in 0..<2 {
          group.addTask {
            for number in 0..<200 {
              let key = try engine.takeKeys(1, in: 1).lowerBound
              var batch = engine.makeBatch()
              let text = String(repeating: "x", count: 400)
              batch.insert(
                RowReference(table: 1, key: key),
                layout: LayoutNumber(1),
                row: MemoryStore.row(Int64(thread * 1000 + number), text).span.bytes
              )
              try engine.commit(&batch)
              #expect(try engine.contains(RowReference(table: 1, key: key)))
            }
          }
        }
      }
      try await group.waitForAll()
    }
    for engine in engines {
      try engine.refresh()
      #expect(engine.rowCount(of: 1) == 1200)
      #expect(try MemoryStore.rows(of: engine).count == 1200)
    }
    for engine in engines { try engine.close() }
    #expect(try StorageEngine.verify(at: path).problems.isEmpty)
  }

  @Test func `take keys of a table that another has just made`() throws {
    let path = FileManager.default.temporaryDirectory.appending(
      path: "members-\(UUID().uuidString)"
    )
    .path
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = Self.options()
    // Nothing is read in the background: only a turn reads what the other one has done.
    options.background = .caller
    let engines = try (0..<2).map { _ in try StorageEngine.open(at: path, options: options) }
    try engines[0].apply(MemoryStore.tableChanges)
    let keys = try engines.map { try $0.takeKeys(3, in: 1) }
    #expect(keys.allSatisfy { $0.count == 3 })
    #expect(!keys[0].overlaps(keys[1]))
    #expect(try engines[1].takeKeys(3, in: 99).isEmpty)
    for engine in engines { try engine.close() }
  }

  /// Each copy has what had been committed by any process when it was begun, and no part of a commit.
  @Test(arguments: [EngineOptions.Durability.full, .relaxed(interval: .milliseconds(10))])
  func `are copied as of their last commits while all of them go on`(
    durability: EngineOptions.Durability
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "members-\(UUID().uuidString)"
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = Self.options()
    options.durability = durability
    let path = folder.appending(path: "store").path
    let engines = try (0..<2).map { _ in try StorageEngine.open(at: path, options: options) }
    try engines[0].apply(MemoryStore.tableChanges)
    let counts = engines.map { _ in CommitCount() }
    let running = CommitCount()
    running.value.store(engines.count, ordering: .relaxed)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (engine, count) in zip(engines, counts) {
        group.addTask {
          defer { running.value.subtract(1, ordering: .relaxed) }
          for number in 0..<150 {
            // Two rows in each commit, of which a copy must not have one.
            var batch = engine.makeBatch()
            for key in try engine.takeKeys(2, in: 1) {
              batch.insert(
                RowReference(table: 1, key: key),
                layout: LayoutNumber(1),
                row: MemoryStore.row(Int64(number), String(repeating: "x", count: 400)).span.bytes
              )
            }
            try engine.commit(&batch)
            count.value.add(1, ordering: .releasing)
          }
        }
      }
      group.addTask {
        var number = 0
        repeat {
          let engine = engines[number % engines.count]
          let before = counts.reduce(0) { $0 + $1.value.load(ordering: .acquiring) }
          let copy = folder.appending(path: "copy \(number)").path
          let sequence = try engine.backup(to: copy)
          let after = counts.reduce(0) { $0 + $1.value.load(ordering: .acquiring) }
          try Self.check(copy, sequence, (before * 2)...((after + engines.count) * 2))
          number += 1
        } while running.value.load(ordering: .relaxed) > 0
      }
      try await group.waitForAll()
    }
    for engine in engines {
      try engine.refresh()
      #expect(try MemoryStore.rows(of: engine).count == 600)
    }
    for engine in engines { try engine.close() }
    #expect(try StorageEngine.verify(at: path).problems.isEmpty)
  }

  private static func check(
    _ copy: String,
    _ sequence: CommitSequence,
    _ counts: ClosedRange<Int>
  ) throws {
    var options = EngineOptions()
    options.mode = .readOnly
    let engine = try StorageEngine.open(at: copy, options: options)
    let rows = try MemoryStore.rows(of: engine)
    #expect(engine.lastCommit == sequence)
    #expect(counts ~= rows.count && rows.count % 2 == 0, "\(rows.count) rows, not \(counts)")
  }

  /// A process that is alone keeps its turn: what it commits in it is nowhere but in its own memory of the log and the files.
  @Test(arguments: [EngineOptions.Durability.full, .relaxed(interval: .seconds(3600))])
  func `are copied with what one has committed in a turn that it keeps`(
    durability: EngineOptions.Durability
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "members-\(UUID().uuidString)"
    )
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = Self.options()
    options.durability = durability
    options.background = .caller
    let path = folder.appending(path: "store").path
    for round in 0..<3 {
      let engine = try StorageEngine.open(at: path, options: options)
      let turns = try #require(engine.writer?.turns)
      turns.hears.store(true, ordering: .relaxed)
      if round == 0 { try engine.apply(MemoryStore.tableChanges) }
      for number in 0..<400 {
        var batch = engine.makeBatch()
        batch.insert(
          RowReference(table: 1, key: try engine.takeKeys(1, in: 1).lowerBound),
          layout: LayoutNumber(1),
          row: MemoryStore.row(Int64(number), String(repeating: "x", count: 400)).span.bytes
        )
        try engine.commit(&batch)
      }
      #expect(turns.isLeased)
      let copy = folder.appending(path: "copy \(round)").path
      let sequence = try engine.backup(to: copy)
      #expect(sequence == engine.lastCommit)
      let count = (round + 1) * 400
      try Self.check(copy, sequence, count...count)
      try engine.close()
    }
  }

  /// What others needed when the last compaction was begun would keep the next one from being asked for.
  @Test
  func `compact again and again while others follow`() throws {
    let disk = InMemoryFileSystem()
    let locks = LockBoard()
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    options.compaction = .automatic
    options.compactionPolicy.slackByteCount = 64 << 10
    let engines = try (0..<2).map { _ in
      try StorageEngine.open(
        at: "store",
        options: options,
        fileSystem: MortalFileSystem(disk, locks)
      )
    }
    let (writer, reader) = (engines[0], engines[1])
    try writer.apply(MemoryStore.tableChanges)
    _ = try writer.takeKeys(50, in: 1)
    let text = String(repeating: "z", count: 200)
    for round in 0..<2000 {
      var batch = writer.makeBatch()
      let reference = RowReference(table: 1, key: UInt64(1 + round % 50))
      let row = MemoryStore.row(Int64(round), text)
      if round < 50 {
        batch.insert(reference, layout: LayoutNumber(1), row: row.span.bytes)
      } else {
        var changed = ColumnSet()
        changed.insert(0)
        changed.insert(1)
        batch.update(reference, layout: LayoutNumber(1), changed: changed, row: row.span.bytes)
      }
      try writer.commit(&batch)
      try reader.refresh()
      for _ in 0..<3 {
        writer.performBackgroundWork()
        reader.performBackgroundWork()
      }
    }
    let compactions = engines.map { $0.statistics().compaction }
    #expect(compactions.reduce(0) { $0 + $1.count } > 5)
    #expect(compactions.allSatisfy { $0.failureCount == 0 })
    #expect(writer.statistics().segments.count < 20)
    #expect(try MemoryStore.rows(of: reader) == MemoryStore.rows(of: writer))
  }

  /// A record that builds on a new pack is read once no read is under way that began before.
  @Test
  func `read what a reader of their own held back, also if nobody commits any more`() throws {
    let disk = InMemoryFileSystem()
    let locks = LockBoard()
    var options = MemoryStore.options()
    options.writers = .severalProcesses
    let engines = try (0..<2).map { _ in
      try StorageEngine.open(
        at: "store",
        options: options,
        fileSystem: MortalFileSystem(disk, locks)
      )
    }
    let (writer, reader) = (engines[0], engines[1])
    func write(_ number: Int64, isNew: Bool) throws {
      var batch = writer.makeBatch()
      let reference = RowReference(table: 1, key: 1)
      let row = MemoryStore.row(number, "text")
      if isNew {
        batch.insert(reference, layout: LayoutNumber(1), row: row.span.bytes)
      } else {
        var changed = ColumnSet()
        changed.insert(0)
        batch.update(reference, layout: LayoutNumber(1), changed: changed, row: row.span.bytes)
      }
      try writer.commit(&batch)
    }
    try writer.apply(MemoryStore.tableChanges)
    _ = try writer.takeKeys(1, in: 1)
    try write(1, isNew: true)
    try reader.refresh()
    reader.performBackgroundWork()
    let compaction = try writer.compact()
    guard case .compacted = compaction else {
      Issue.record("nothing was packed: \(compaction)")
      return
    }
    try write(2, isNew: false)
    let newest = writer.lastCommit
    try reader.state.files.reading { _ = try reader.refresh() }
    #expect(reader.lastCommit < newest)
    try reader.refresh()
    #expect(reader.lastCommit == newest)
    #expect(try MemoryStore.rows(of: reader) == MemoryStore.rows(of: writer))
  }

  /// All threads of a process are in its turn at once.
  @Test
  func `give each thread keys and ranks that no other gets`() async throws {
    // On files: the locks of members in memory trap where a thread would have to wait.
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "members-\(UUID().uuidString)"
    )
    defer { try? FileManager.default.removeItem(at: folder) }
    let engines = try (0..<2).map { _ in
      try StorageEngine.open(at: folder.path, options: Self.options())
    }
    try engines[0].apply(MemoryStore.tableChanges)
    try engines[1].refresh()
    let taken = TakenNumbers()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for engine in engines {
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<400 {
              let keys = try engine.takeKeys(40, in: 1)
              let ranks = try engine.takeRanks(2) { _ in 1 }
              taken.add(keys, ranks)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let (keys, ranks) = taken.all
    #expect(keys.count == 8 * 400 * 40 && Set(keys).count == keys.count)
    #expect(ranks.count == 8 * 400 * 2 && Set(ranks).count == ranks.count)
    for engine in engines { try engine.close() }
  }

  /// A process that opened a new `TURN` and one that has the old would both have a turn.
  @Test func `write nothing once their lock was removed, until all have closed the store`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "members-\(UUID().uuidString)"
    )
    defer { try? FileManager.default.removeItem(at: folder) }
    func open() throws -> StorageEngine {
      try StorageEngine.open(at: folder.path, options: Self.options())
    }
    func commit(_ engine: StorageEngine, _ key: UInt64) throws {
      var batch = engine.makeBatch()
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: MemoryStore.row(1, "x").span.bytes
      )
      try engine.commit(&batch)
    }
    let engines = [try open(), try open()]
    try engines[0].apply(MemoryStore.tableChanges)
    for (key, engine) in engines.enumerated() {
      try engine.refresh()
      try commit(engine, UInt64(key + 1))
    }
    try FileManager.default.removeItem(at: folder.appending(path: "TURN"))
    let missing = StorageError.missingFile(path: folder.appending(path: "TURN").path)
    for byteCount in [0, 1032] {
      // A process that waits for another that joins, too, has written to the new file.
      if byteCount > 0 { try Data(count: byteCount).write(to: folder.appending(path: "TURN")) }
      for (key, engine) in engines.enumerated() {
        #expect(throws: missing) { try commit(engine, UInt64(key + 11)) }
      }
      #expect(throws: missing) { try open() }
    }
    for engine in engines {
      try engine.refresh()
      #expect(engine.rowCount(of: 1) == 2)
      try? engine.close()
    }
    let engine = try open()
    try commit(engine, 3)
    #expect(engine.rowCount(of: 1) == 3)
    try engine.close()
    #expect(try StorageEngine.verify(at: folder.path).problems.isEmpty)
  }

  /// A process that joins finds nobody then, and begins to give numbers and keys out anew.
  @Test func `write nothing once their own files were removed`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "members-\(UUID().uuidString)"
    )
    defer { try? FileManager.default.removeItem(at: folder) }
    func open() throws -> StorageEngine {
      try StorageEngine.open(at: folder.path, options: Self.options())
    }
    func insert(_ engine: StorageEngine) throws {
      let key = try engine.takeKeys(1, in: 1).lowerBound
      var batch = engine.makeBatch()
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: MemoryStore.row(1, "x").span.bytes
      )
      try engine.commit(&batch)
    }
    let engines = [try open(), try open()]
    try engines[0].apply(MemoryStore.tableChanges)
    for engine in engines {
      try engine.refresh()
      try insert(engine)
    }
    try FileManager.default.removeItem(at: folder.appending(path: "members"))
    let newcomer = try open()
    for _ in 0..<100 { try insert(newcomer) }
    for (index, engine) in engines.enumerated() {
      let path = folder.appending(path: "members/000\(index + 1)").path
      #expect(throws: StorageError.missingFile(path: path)) { try insert(engine) }
      try engine.refresh()
      #expect(engine.rowCount(of: 1) == 102)
      try? engine.close()
    }
    try insert(newcomer)
    try newcomer.close()
    #expect(try StorageEngine.verify(at: folder.path).problems.isEmpty)
  }

  /// A look at a folder takes longer than the rest of reading what the others have saved.
  @Test func `list no folder at a turn if the log continues in the segment they know`() throws {
    let disk = CountingFileSystem(MortalFileSystem(InMemoryFileSystem(), LockBoard()))
    func open() throws -> StorageEngine {
      var options = MemoryStore.options()
      options.writers = .severalProcesses
      return try StorageEngine.open(at: "store", options: options, fileSystem: disk)
    }
    let engines = [try open(), try open()]
    try engines[0].apply(MemoryStore.tableChanges)
    try engines[1].refresh()
    func commit(_ number: Int) throws {
      let engine = engines[number % 2]
      var batch = engine.makeBatch()
      batch.insert(
        RowReference(table: 1, key: UInt64(number + 1)),
        layout: LayoutNumber(1),
        row: MemoryStore.row(1, "x").span.bytes
      )
      try engine.commit(&batch)
    }
    for number in 0..<4 { try commit(number) }
    let before = disk.listCount
    for number in 4..<24 { try commit(number) }
    #expect(disk.listCount == before)
    // What is not in that segment is looked for.
    _ = try engines[0].compact()
    for number in 24..<44 { try commit(number) }
    #expect(disk.listCount > before)
    for engine in engines {
      try engine.refresh()
      #expect(engine.rowCount(of: 1) == 44)
      try engine.close()
    }
  }

  @Test
  func `keep a turn while they are alone, and hand it over to one that joins`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "members-\(UUID().uuidString)"
    )
    defer { try? FileManager.default.removeItem(at: folder) }
    func commit(_ engine: StorageEngine) throws {
      var batch = engine.makeBatch()
      let key = try engine.takeKeys(1, in: 1).lowerBound
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: MemoryStore.row(1, "x").span.bytes
      )
      try engine.commit(&batch)
    }
    let first = try StorageEngine.open(at: folder.path, options: Self.options())
    try first.apply(MemoryStore.tableChanges)
    let turns = try #require(first.writer?.turns)
    try commit(first)
    let before = try turns.file.readHolder().turns
    for _ in 0..<1000 { try commit(first) }
    // It ends by itself where the machine is busy, and not after each commit.
    #expect(try turns.file.readHolder().turns - before < 100)
    let second = try StorageEngine.open(at: folder.path, options: Self.options())
    try commit(second)
    try commit(first)
    for engine in [first, second] {
      try engine.refresh()
      #expect(engine.rowCount(of: 1) == 1003)
    }
    try first.close()
    for _ in 0..<10 { try commit(second) }
    try second.close()
    #expect(try StorageEngine.verify(at: folder.path).isSound)
  }

  @Test
  func `refuse one that wants the store alone, and are refused while it has it`() throws {
    let disk = InMemoryFileSystem()
    let locks = LockBoard()
    func open(_ writers: EngineOptions.Writers) throws -> StorageEngine {
      var options = MemoryStore.options()
      options.writers = writers
      return try StorageEngine.open(
        at: "store",
        options: options,
        fileSystem: MortalFileSystem(disk, locks)
      )
    }
    let member = try open(.severalProcesses)
    #expect(throws: StorageError.self) { try open(.oneProcess) }
    try member.close()
    let alone = try open(.oneProcess)
    #expect(throws: StorageError.self) { try open(.severalProcesses) }
    try alone.close()
    try open(.severalProcesses).close()
  }

  @Test(arguments: [nil, "nfs4", "cifs"])
  func `refuse a network file system, and leave nothing there`(type: String?) throws {
    let disk = InMemoryFileSystem()
    func open(_ writers: EngineOptions.Writers) throws -> StorageEngine {
      var options = MemoryStore.options()
      options.writers = writers
      return try StorageEngine.open(
        at: "store",
        options: options,
        fileSystem: MountedFileSystem(MortalFileSystem(disk, LockBoard()), type)
      )
    }
    guard let type else { return try open(.severalProcesses).close() }
    #expect(throws: StorageError.networkFileSystem(path: "store", type: type)) {
      try open(.severalProcesses)
    }
    #expect(try disk.list("store") == nil)
    // One process alone may.
    try open(.oneProcess).close()
  }
}

/// A file system that counts the looks at its folders.
private final class CountingFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  private let count = Atomic<Int>(0)

  init(_ base: any FileSystem) { self.base = base }

  var listCount: Int { count.load(ordering: .relaxed) }

  func list(_ directory: String) throws(StorageError) -> [String]? {
    count.add(1, ordering: .relaxed)
    return try base.list(directory)
  }
}

/// A file system that says which one it is.
private struct MountedFileSystem: ForwardingFileSystem {
  let base: any FileSystem
  private let type: String?

  init(_ base: any FileSystem, _ type: String?) {
    self.base = base
    self.type = type
  }

  func networkFileSystem(of path: String) throws(StorageError) -> String? { type }
}
