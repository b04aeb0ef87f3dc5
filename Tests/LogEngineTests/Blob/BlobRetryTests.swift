import LogEngineTestSupport
import RowFormat
import Testing

@testable import LogEngine
@testable import LogFormat

/// Of its two values the first is the last in its folder, so that the second needs another one.
@Suite struct `A commit of two values that is refused between them` {
  private let disk = SimulatedFileSystem(seed: 1)

  /// Makes a store whose next value is the last of the first folder, and says what it holds.
  private func makeStore() throws -> (PhotoStore, [UInt64: PhotoRow]) {
    let store = try PhotoStore(on: disk)
    let changes = [insertion(1, in: store)]
    try store.commit(changes)
    store.engine.state.files.blobs.record(next: BlobID(rawValue: 255))
    var rows: [UInt64: PhotoRow] = [:]
    rows.apply(changes)
    return (store, rows)
  }

  private func insertion(_ number: Int, in store: PhotoStore) -> PhotoStore.Change {
    let photo = Photo(seed: UInt64(number), byteCount: 120)
    return .insert(store.newKey(), PhotoRow(title: "\(number)", photo: photo))
  }

  private func strike(_ operation: FileOperation, _ path: String) {
    disk.setFaults(FaultPlan([Fault(operation, number: 1, .forEver, .noSpace, path: path)]))
  }

  private func expectAfterPowerCuts(_ rows: [UInt64: PhotoRow]) throws {
    try disk.disk.forEachCrashState(random: SeededGenerator(seed: 1), limits: .few) { state in
      try PhotoStore(on: SimulatedFileSystem(seed: 2, disk: state.disk)).check(rows)
    }
  }

  @Test func `has both on disk once it has succeeded`() throws {
    let (store, before) = try makeStore()
    var rows = before
    let changes = [insertion(255, in: store), insertion(256, in: store)]
    var batch = store.engine.makeBatch()
    for change in changes { try store.add(change, to: &batch) }
    strike(.makeDirectory, "/store/blobs/01")
    #expect(throws: StorageError.noSpace(path: "/store/blobs/01", needed: 0)) {
      try store.engine.commit(&batch)
    }
    disk.setFaults(FaultPlan())
    try store.engine.commit(&batch)
    rows.apply(changes)
    #expect(try disk.blobPaths().count == 3)
    try expectAfterPowerCuts(rows)
  }

  /// A second synchronization might succeed and mean nothing.
  @Test(arguments: ["/store/blobs", "/store/blobs/00", "/store/blobs/01"])
  func `ends writing if a folder finds no room as it is synchronized`(folder: String) throws {
    let (store, rows) = try makeStore()
    var batch = store.engine.makeBatch()
    for number in 255...256 { try store.add(insertion(number, in: store), to: &batch) }
    strike(.synchronizeDirectory, folder)
    for _ in 0..<2 {
      let error = #expect(throws: StorageError.self) { try store.engine.commit(&batch) }
      guard case .poisoned = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      disk.setFaults(FaultPlan())
    }
    try expectAfterPowerCuts(rows)
  }
}
