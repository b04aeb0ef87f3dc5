import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A compaction whose manifest finds no room` {
  private static let manifest = "/store/tmp/manifest"

  /// A store with something to pack, whose disk has no room for what `operation` does to the manifest.
  private func makeStore() throws -> SimulatedStore {
    let store = try SimulatedStore()
    for _ in 0..<12 { try store.insert(60) }
    return store
  }

  private func plan(_ operation: FileOperation, _ path: String = manifest) -> FaultPlan {
    FaultPlan([Fault(operation, number: 1, .forEver, .noSpace, path: path)])
  }

  private func packs(_ store: SimulatedStore) -> [String] {
    store.disk.paths.filter { $0.hasPrefix("/store/pack/") }
  }

  @Test(arguments: [FileOperation.open, .write, .synchronize])
  func `leaves nothing behind, however often it is tried`(operation: FileOperation) throws {
    let store = try makeStore()
    let rows = try store.rows()
    store.fileSystem.setFaults(plan(operation))
    for _ in 0..<4 {
      #expect(throws: StorageError.self) { try store.engine.compact() }
      #expect(packs(store) == [])
      #expect(!store.disk.paths.contains(Self.manifest))
    }
    #expect(try store.rows() == rows)
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
    store.fileSystem.setFaults(FaultPlan())
    #expect(try store.engine.compact().report != nil)
    #expect(try store.rows() == rows)
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
  }

  /// The manifest may be in its place although the call failed: half of the seeds' renames come to pass.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `keeps its packs as long as it may count all the same`(seed: UInt64) throws {
    let store = try SimulatedStore(SimulatedFileSystem(seed: seed))
    for _ in 0..<12 { try store.insert(60) }
    let rows = try store.rows()
    store.fileSystem.setFaults(plan(.rename, "/store/tmp/manifest"))
    for _ in 0..<3 {
      #expect(throws: StorageError.self) { try store.engine.compact() }
      // Whatever the disk kept of it: the store is what it was.
      #expect(try SimulatedStore(on: store.disk).rows() == rows)
    }
    store.fileSystem.setFaults(FaultPlan())
    try store.insert(1)
    let report = try #require(try store.engine.compact().report)
    #expect(packs(store).count == report.newPackCount)
    #expect(try store.rows().count == rows.count + 1)
    #expect(try SimulatedStore(on: store.disk).rows().count == rows.count + 1)
  }

  @Test func `has its packs removed when the store is closed, if nothing else was written`() throws
  {
    let store = try makeStore()
    let rows = try store.rows()
    store.fileSystem.setFaults(plan(.synchronizeDirectory, "/store"))
    for _ in 0..<3 { #expect(throws: StorageError.self) { try store.engine.compact() } }
    #expect(packs(store).count == 3)
    store.fileSystem.setFaults(FaultPlan())
    try store.engine.close()
    #expect(packs(store) == [])
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
  }

  /// A name that the system shows is on disk only once its directory was synchronized.
  @Test func `leaves its successor nothing to remove before the manifest's name is on disk`() throws
  {
    let ends = Mutex<[Disk]>([])
    let store = try SimulatedStore(
      SimulatedFileSystem(seed: 1) { call, disk in
        guard call.operation == .synchronizeDirectory, call.path == SimulatedStore.path else {
          return
        }
        ends.withLock { $0.append(disk) }
      }
    )
    for _ in 0..<12 { try store.insert(60) }
    try store.engine.compact()
    try store.insert(1)
    try store.engine.compact()
    #expect(packs(store).count > 0)
    for disk in ends.withLock({ $0 }).dropFirst() {
      // The process ends there, and the next one commits.
      let next = try SimulatedStore(on: disk)
      try next.insert(1, text: "the next one's")
      let rows = try next.rows()
      next.disk.forEachCrashState(random: SeededGenerator(seed: 1), limits: .few) { state in
        let found = Result { try SimulatedStore(on: state.disk).rows() }
        #expect((try? found.get()) == rows, "\(state.scenario): \(found)")
      }
    }
  }
}
