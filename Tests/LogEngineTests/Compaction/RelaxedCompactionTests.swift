import Locking
import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A compaction beside commits that are not on the disk` {
  /// A row whose place a later commit took is left out of the pack: that commit must not be lost any more.
  @Test func `keeps every row through a power cut`() throws {
    let removal = FirstRemoval()
    let fileSystem = SimulatedFileSystem(seed: 1) { call, disk in
      // The manifest counts, and nothing has seen the log to the disk since.
      guard call.operation == .unlink, call.path.hasPrefix("/store/log/") else { return }
      removal.disk.withLock { $0 = $0 ?? disk }
    }
    let store = try SimulatedStore(
      fileSystem,
      durability: .relaxed(interval: .seconds(3600))
    )
    // A segment that is full grows where commits do not wait for the disk: so this takes a while.
    while store.segments.count < 2 { try store.insert(60) }
    try store.engine.synchronize()
    for key in 1...20 as ClosedRange<UInt64> {
      var batch = store.engine.makeBatch()
      var changed = ColumnSet()
      changed.insert(0)
      changed.insert(1)
      store.withRow(-Int64(key), "new") {
        let row = RowReference(table: 1, key: key)
        batch.update(row, layout: LayoutNumber(1), changed: changed, row: $0)
      }
      try store.engine.commit(&batch)
    }
    let rows = try store.rows()
    // The segment that is written stays: to leave it would see the log to the disk.
    let segments = store.segments
    let outcome = try store.engine.compact(keeping: HistoryRetention(byteCount: 16 << 10))
    #expect(outcome.report != nil)
    #expect(store.segments.last == segments.last)
    let disk = try #require(removal.disk.withLock { $0 })
    let cut = disk.afterPowerCut(Scenario.nothingKept.fates(of: disk.pending))
    #expect(try SimulatedStore(on: cut).rows() == rows)
  }

  @Test(arguments: Work.allCases)
  func `sees most of them to the disk before it has commits wait`(work: Work) throws {
    let watch = LeadWatch()
    let disk = SimulatedFileSystem(seed: 1)
    let store = try SimulatedStore(
      disk,
      hooked: HookedFileSystem(disk) { watch.look($0) },
      durability: .relaxed(interval: .seconds(3600)),
      segment: 4 << 20
    )
    // What the work makes part of the store has to be there.
    try store.insert(60)
    try store.engine.compact()
    while store.engine.statistics().writing.byteCount < 1 << 20 { try store.insert(60) }
    watch.writer.withLock { $0 = store.engine.writer }
    switch work {
    case .compaction: try store.engine.compact()
    case .checkpoint: try store.engine.checkpoint()
    }
    watch.writer.withLock { $0 = nil }
    let (count, longest) = watch.found.withLock { $0 }
    #expect(count > 0)
    #expect(longest <= LogWriter.promptLimit + 4096)
  }

  enum Work: CaseIterable { case compaction, checkpoint }
}

/// How much is not on the disk when a file of the log is synchronized while commits wait.
private final class LeadWatch: Sendable {
  let writer = Mutex<LogWriter?>(nil)
  let found = Mutex((count: 0, longest: UInt64(0)))

  func look(_ call: HookedFileSystem.Call) {
    guard call.operation == .synchronize, call.path.hasPrefix("/store/log/"),
      let writer = writer.withLock({ $0 })
    else { return }
    let state = writer.state
    let written = state.log.writtenEnd.load(ordering: .relaxed)
    let behind = written - min(state.log.durableEnd.load(ordering: .relaxed), written)
    let isFree = writer.lead.withLockIfAvailable { _ in true } ?? false
    found.withLock { $0 = ($0.count + 1, isFree ? $0.longest : max($0.longest, behind)) }
  }
}

/// The disk as it was when a segment was removed first.
private final class FirstRemoval: Sendable {
  let disk = Mutex<Disk?>(nil)
}
