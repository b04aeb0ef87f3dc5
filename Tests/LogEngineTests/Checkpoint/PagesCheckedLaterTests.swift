import LogEngineTestSupport
import RowFormat
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// A large checkpoint is not checked as a whole when a store is opened, but page by page when rows are looked up.
@Suite struct `A checkpoint whose pages are checked later` {
  /// A closed store of 2,130 rows, some of them changed and deleted, in five pages of one checkpoint.
  private static func makeDisk() throws -> (disk: Disk, rows: [UInt64: String], path: String) {
    let store = try SimulatedStore()
    for round in 1...30 as ClosedRange<Int64> {
      try store.insert(71)
      try store.update(UInt64(round * 60), number: -round)
      if round % 5 == 0 { try store.delete(UInt64(round * 60 + 1)) }
    }
    try store.engine.close()
    return (store.disk, try store.rowsWhenClosed(), try #require(store.checkpoints.last))
  }

  /// Opens a store on a copy of a disk, and checks no page.
  private static func open(
    _ disk: Disk,
    mode: EngineOptions.Mode = .readWrite,
    _ events: Events = Events()
  ) throws -> SimulatedStore {
    try SimulatedStore(
      SimulatedFileSystem(seed: 2, disk: disk),
      mode: mode,
      checkedPageLimit: 0
    ) { events.record($0) }
  }

  private final class Events: Sendable {
    private let all = Mutex<[EngineEvent]>([])

    func record(_ event: EngineEvent) { all.withLock { $0.append(event) } }

    var damageCount: Int {
      all.withLock { $0.count { if case .damageFound = $0 { true } else { false } } }
    }
  }

  private static let pages = 0..<5

  private static func damaged(_ disk: Disk, _ path: String, page: Int, bit: Int = 77) -> Disk {
    let offset = FileHeader.byteCount + page * Checkpoint.pageByteCount
    return disk.damaged(path, .flip(bit: offset * 8 + bit))
  }

  @Test func `has all rows`() throws {
    let (disk, rows, _) = try Self.makeDisk()
    let store = try Self.open(disk)
    #expect(store.engine.recovery.checkpoint != nil)
    #expect(try store.rows() == rows)
    for key in [1, 511, 512, 1500, 2129] as [UInt64] {
      #expect(try store.engine.withRow(RowReference(table: 1, key: key)) { _, _ in true } == true)
    }
  }

  @Test(arguments: pages, [EngineOptions.Mode.readWrite, .readOnly])
  func `has all rows although a page is damaged`(page: Int, mode: EngineOptions.Mode) throws {
    let (disk, rows, path) = try Self.makeDisk()
    for bit in [0, 1, 63, 64 * 511 + 5] {
      let events = Events()
      let store = try Self.open(Self.damaged(disk, path, page: page, bit: bit), mode: mode, events)
      #expect(store.engine.recovery.ignoredCheckpointCount == 0)
      #expect(try store.rows() == rows)
      #expect(try store.rows() == rows)
      try store.engine.close()
      #expect(events.damageCount == 1, "bit \(bit)")
    }
  }

  /// The log then has commits that the reader has not read.
  @Test(arguments: pages)
  func `is mended as of what its process has read`(page: Int) throws {
    let (disk, rows, path) = try Self.makeDisk()
    let fileSystem = SimulatedFileSystem(
      seed: 2,
      disk: Self.damaged(disk, path, page: page)
    )
    let reader = try SimulatedStore(fileSystem, mode: .readOnly, checkedPageLimit: 0)
    let writer = try SimulatedStore(fileSystem, checkedPageLimit: 0)
    let keys = rows.keys.filter { Int($0) / 512 == page }.sorted()
    for key in keys.prefix(100) { try writer.update(key, number: -5) }
    for key in keys.dropFirst(100).prefix(10) { try writer.delete(key) }
    #expect(writer.segments.count > disk.paths.filter { $0.hasPrefix("/store/log/") }.count)
    let newest = try writer.rows()
    for key in keys {
      let found = try reader.engine.withRow(RowReference(table: 1, key: key)) { _, _ in true }
      #expect(found == true, "row \(key)")
    }
    #expect(try reader.rows() == rows)
    try reader.engine.refresh()
    #expect(try reader.rows() == newest)
    try writer.engine.close()
    #expect(try reader.rows() == newest)
  }

  @Test func `is replaced once damage was found`() throws {
    let (disk, rows, path) = try Self.makeDisk()
    let first = try Self.open(Self.damaged(disk, path, page: 2))
    #expect(try first.rows() == rows)
    try first.engine.close()
    let events = Events()
    let second = try Self.open(first.disk, events)
    #expect(second.engine.recovery.scannedByteCount == 0)
    #expect(try second.rows() == rows)
    try second.engine.close()
    #expect(events.damageCount == 0)
  }

  @Test func `of which all pages are damaged has all rows`() throws {
    var (disk, rows, path) = try Self.makeDisk()
    for page in Self.pages { disk = Self.damaged(disk, path, page: page) }
    let events = Events()
    let store = try Self.open(disk, events)
    #expect(try store.rows() == rows)
    try store.engine.close()
    #expect(events.damageCount == Self.pages.count)
  }

  /// Whatever is done first: the row that it is done to is in the damaged page.
  @Test(arguments: pages)
  func `is not written to before it is mended`(page: Int) throws {
    let (disk, rows, path) = try Self.makeDisk()
    let key = UInt64(page * 512 + 7)
    for action in 0..<5 {
      let store = try Self.open(Self.damaged(disk, path, page: page))
      var expected = rows
      switch action {
      case 0:
        try store.update(key, number: 1_000_000)
        expected[key] = "1000000 \(SimulatedStore.text)"
      case 1:
        try store.delete(key)
        expected[key] = nil
      case 2:
        try store.replace(key, text: "other")
        expected[key] = "\(key) other"
      case 3: try store.engine.compact(keeping: .nothing)
      default: try store.engine.checkpoint()
      }
      #expect(try store.rows() == expected, "action \(action)")
      try store.engine.close()
      let again = try Self.open(store.disk)
      #expect(try again.rows() == expected, "action \(action)")
    }
  }

  @Test func `may grow before all pages were checked`() throws {
    let (disk, rows, _) = try Self.makeDisk()
    let store = try Self.open(disk)
    // Beyond the first eight chunks, so that the directory is replaced.
    let far = UInt64(20 * IndexPages.keysPerChunk)
    try store.insert(1, at: far, text: "far")
    var expected = rows
    expected[far] = "\(far) far"
    #expect(try store.rows() == expected)
  }

  /// A row must not be taken for one that does not exist.
  @Test(arguments: pages)
  func `is an error for a damaged page whose rows the log has lost, too`(page: Int) throws {
    let (disk, _, path) = try Self.makeDisk()
    var damaged = Self.damaged(disk, path, page: page)
    let segments = disk.paths.filter { $0.hasPrefix("/store/log/") }
    #expect(segments.count > 3)
    damaged = damaged.damaged(segments[1], .flip(bit: 6000 * 8))
    let store = try Self.open(damaged)
    #expect(throws: StorageError.self) { try store.rows() }
    let reference = RowReference(table: 1, key: UInt64(page * 512 + 7))
    #expect(throws: StorageError.self) { try store.engine.withRow(reference) { _, _ in true } }
    #expect(throws: StorageError.self) { try store.update(reference.key, number: 1) }
    let sound = RowReference(table: 1, key: UInt64((page + 1) % 4 * 512 + 400))
    _ = try? store.engine.withRow(sound) { _, _ in true }
  }

  /// To the index, the rows are in none of the files that a compaction takes.
  @Test(arguments: pages)
  func `keeps such rows for the day when the log is whole again`(page: Int) throws {
    let (disk, rows, path) = try Self.makeDisk()
    let segment = disk.paths.filter { $0.hasPrefix("/store/log/") }[1]
    let damaged = Self.damaged(disk, path, page: page).damaged(segment, .flip(bit: 6000 * 8))
    for action in 0..<4 {
      let store = try Self.open(damaged)
      // The last action meets the damage by itself.
      let reference = RowReference(table: 1, key: UInt64(page * 512 + 7))
      if action < 3 {
        #expect(throws: StorageError.self) { try store.engine.withRow(reference) { _, _ in } }
      }
      switch action {
      case 0: #expect(throws: StorageError.self) { try store.engine.compact(keeping: .nothing) }
      case 1: #expect(throws: StorageError.self) { try store.engine.checkpoint() }
      case 2: #expect(throws: StorageError.self) { try store.insert(1) }
      default: #expect(throws: StorageError.self) { try store.engine.compact(keeping: .nothing) }
      }
      try? store.engine.close()
      let mended = store.disk.damaged(segment, .flip(bit: 6000 * 8))
      #expect(try Self.open(mended).rows() == rows, "action \(action)")
    }
  }

  /// One page is damaged in half of the rounds.
  @Test(arguments: 0..<12 as Range<UInt64>)
  func `is read by threads while others write`(seed: UInt64) async throws {
    let (disk, rows, path) = try Self.makeDisk()
    let page = Int(seed) % Self.pages.count
    let store = try Self.open(seed % 2 == 0 ? disk : Self.damaged(disk, path, page: page))
    let keys = rows.keys.sorted()
    let engine = store.engine
    await withTaskGroup(of: Int.self) { group in
      for reader in 0..<3 {
        group.addTask {
          var random = SeededGenerator(seed: seed &* 31 &+ UInt64(reader))
          var missing = 0
          for key in keys.shuffled(using: &random) {
            let found = try? engine.withRow(RowReference(table: 1, key: key)) { _, _ in true }
            if found != true { missing += 1 }
          }
          return missing
        }
      }
      for await missing in group { #expect(missing == 0, "seed \(seed)") }
    }
    for key in keys.prefix(50) { try store.update(key, number: 5) }
    #expect(try store.rows().count == rows.count)
  }
}

extension SimulatedStore {
  /// Every row of a closed store, by key.
  fileprivate func rowsWhenClosed() throws -> [UInt64: String] {
    try SimulatedStore(on: disk).rows()
  }
}
