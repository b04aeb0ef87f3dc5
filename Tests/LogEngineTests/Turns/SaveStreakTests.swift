import Foundation
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// A process that saves again and again, beside others that have the store open.
@Suite struct `A streak of saves` {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "streak-\(UUID().uuidString)"
  )

  private func open() throws -> StorageEngine {
    var options = EngineOptions()
    options.writers = .severalProcesses
    options.durability = .memory
    return try StorageEngine.open(at: folder.path, options: options)
  }

  @Test(arguments: [(0, 8), (50, 8), (51, nil)] as [(Int, Int?)])
  func `is long after eight short pauses`(pause: Int, entries: Int?) {
    var streak = SaveStreak()
    var time = 1_000_000
    streak.noteExit(at: time)
    for entry in 1...20 {
      time += pause
      streak.noteEntry(at: time)
      #expect(streak.isLong == entries.map { entry >= $0 } ?? false)
      time += 500
      streak.noteExit(at: time)
    }
    #expect(streak.goesOn(at: time + 299) == (entries != nil))
    #expect(!streak.goesOn(at: time + 300))
    streak.noteEntry(at: time + 51)
    #expect(!streak.isLong)
  }

  @Test(.timeLimit(.minutes(5)))
  func `takes fewer turns than it has saves, beside a member`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (engine, other) = (try open(), try open())
    try engine.apply(MemoryStore.tableChanges)
    let file = try #require(engine.writer?.turns?.file)
    // A machine that is busy interrupts some.
    while true {
      let before = try file.readHolder().turns
      for _ in 0..<100 { try engine.inTurn {} }
      if try file.readHolder().turns < before + 100 { break }
    }
    try other.close()
    try engine.close()
  }

  /// The lock is no queue: the process that has it could take it again and again.
  @Test(.timeLimit(.minutes(5))) func `lets others have their turns`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (engine, other) = (try open(), try open())
    try engine.apply(MemoryStore.tableChanges)
    let isDone = Atomic(false)
    let failure = Mutex<(any Error)?>(nil)
    let saving = DispatchGroup()
    DispatchQueue(label: "saving").async(group: saving) {
      do {
        while !isDone.load(ordering: .acquiring) { try engine.inTurn {} }
      } catch { failure.withLock { $0 = error } }
    }
    for _ in 0..<100 { try other.inTurn {} }
    isDone.store(true, ordering: .releasing)
    saving.wait()
    #expect(failure.withLock { $0 } == nil)
    try other.close()
    try engine.close()
  }

  @Test(.timeLimit(.minutes(5))) func `ends its last turn by itself`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (engine, other) = (try open(), try open())
    try engine.apply(MemoryStore.tableChanges)
    let turns = try #require(engine.writer?.turns)
    repeat {
      for _ in 0..<20 { try engine.inTurn {} }
    } while !turns.isLeased
    while try turns.file.readHolder().member != 0 { Thread.yield() }
    #expect(turns.timerDelay == nil)
    try other.close()
    try engine.close()
  }

  @Test func `of commits is seen by other members while its turn is kept`() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (engine, other) = (try open(), try open())
    try engine.apply(MemoryStore.tableChanges)
    for count in 1...200 {
      var batch = engine.makeBatch()
      let key = try engine.takeKeys(1, in: 1).lowerBound
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(1),
        row: MemoryStore.row(Int64(key), "text").span.bytes
      )
      try engine.commit(&batch)
      if count.isMultiple(of: 20) {
        try other.refresh()
        #expect(other.rowCount(of: 1) == count)
      }
    }
    try other.close()
    try engine.close()
  }
}
