import LogEngineTestSupport
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A checkpoint` {
  @Test func `is written when the log has grown by the interval`() throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    var options = EngineOptions()
    options.background = .caller
    options.checkpointInterval = 1
    let engine = try StorageEngine.open(at: "/store", options: options, fileSystem: fileSystem)
    try engine.apply([.addTable(name: "a")])
    engine.performBackgroundWork()
    #expect(fileSystem.disk.paths.contains("/store/index/0000000000000001.ckpt"))
    // Not again before the log has grown by as much as the checkpoint took.
    try engine.apply([.addTable(name: "b")])
    engine.performBackgroundWork()
    #expect(!fileSystem.disk.paths.contains("/store/index/0000000000000002.ckpt"))
    for number in 1...200 { try engine.apply([.renameTable(1, to: "a\(number)")]) }
    engine.performBackgroundWork()
    #expect(fileSystem.disk.paths.contains("/store/index/0000000000000002.ckpt"))
  }

  @Test func `is kept with one predecessor, and no more`() throws {
    let store = try SimulatedStore()
    for _ in 1...5 {
      try store.insert(3)
      try store.engine.checkpoint()
    }
    #expect(store.checkpoints.map { $0.suffix(6) } == ["4.ckpt", "5.ckpt"])
  }

  @Test func `is not written twice of the same state`() throws {
    let store = try SimulatedStore()
    try store.insert(3)
    try store.engine.checkpoint()
    try store.engine.checkpoint()
    #expect(store.checkpoints.count == 1)
  }

  @Test func `that cannot be written leaves the store as it was`() throws {
    let store = try SimulatedStore()
    try store.insert(3)
    let writes = store.fileSystem.callCount(of: .write)
    store.fileSystem.setFaults(FaultPlan([Fault(.write, number: writes + 1, .once, .noSpace)]))
    #expect(throws: StorageError.self) { try store.engine.checkpoint() }
    #expect(!store.disk.paths.contains("/store/tmp/checkpoint"))
    try store.insert(3)
    try store.engine.checkpoint()
    #expect(try SimulatedStore(on: store.disk).rows() == store.rows())
  }

  @Test(arguments: [EngineOptions.Durability.full, .relaxed(interval: .seconds(1))])
  func `may be written while others commit, and the power may go at any time`(
    durability: EngineOptions.Durability
  ) throws {
    nonisolated(unsafe) var commit: (() -> Void)?
    nonisolated(unsafe) var disks: [(disk: Disk, commits: Int)] = []
    nonisolated(unsafe) var states: [[UInt64: String]] = []
    let fileSystem = SimulatedFileSystem(seed: 1) { call, disk in
      if states.isEmpty { return }
      disks.append((disk, states.count))
      guard call.operation == .write, call.path == "/store/tmp/checkpoint",
        let work = commit
      else { return }
      // Commits between one page and the next.
      commit = nil
      work()
      commit = work
    }
    let store = try SimulatedStore(fileSystem, durability: durability)
    for _ in 1...2 { try store.insert(600, text: "row") }
    try store.engine.synchronize()
    states = [try store.rows()]
    let first = Int(store.engine.lastCommit.rawValue)
    var key: UInt64 = 1
    commit = {
      do {
        // A row of a page that was copied, one of a page that was not, a new one, and one less.
        for row in [key, 1200 - key] {
          try store.update(row, number: -Int64(key))
          states.append(try store.rows())
        }
        try store.insert(1)
        states.append(try store.rows())
        try store.delete(600 + key)
        states.append(try store.rows())
        key += 1
      } catch {
        Issue.record(error)
      }
    }
    try #require(store.engine.writer).checkpoint(pieceByteCount: 4096)
    commit = nil
    #expect(states.count > 16)
    disks.append((store.disk, states.count))
    var openedFromIt = 0
    for (number, moment) in disks.enumerated().reversed() {
      // Each of the last ones, which have the checkpoint.
      if number < disks.count - 4, number % 3 != 0 { continue }
      moment.disk.forEachCrashState(
        random: SeededGenerator(seed: UInt64(number)),
        limits: .few
      ) { state in
        do {
          let again = try SimulatedStore(on: state.disk)
          let newest = Int(again.engine.lastCommit.rawValue) - first
          if again.engine.recovery.checkpoint == 1 { openedFromIt += 1 }
          let least = durability == .full ? moment.commits - 1 : 0
          #expect(newest >= least && newest < states.count, "moment \(number), \(state.scenario)")
          #expect(try again.rows() == states[newest], "moment \(number), \(state.scenario)")
        } catch {
          Issue.record(error, "moment \(number), \(state.scenario)")
        }
      }
    }
    #expect(openedFromIt > 0)
  }
}
