import Locking
import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

/// The first segment is a mebibyte, and a store of a few rows does not take as much.
@Suite struct `The file of a small log` {
  private static let segment = 256 << 10
  private static let first = 16 << 10
  private static let durabilities: [EngineOptions.Durability] = [
    .full, .relaxed(interval: .seconds(1)), .memory,
  ]

  private func makeStore(
    _ durability: EngineOptions.Durability = .full,
    on fileSystem: SimulatedFileSystem = SimulatedFileSystem(seed: 1)
  ) throws -> SimulatedStore {
    try SimulatedStore(fileSystem, durability: durability, segment: Self.segment)
  }

  /// The sizes of the segments' files, oldest first.
  private func sizes(of store: SimulatedStore) -> [Int] {
    store.segments.map { store.disk.image(of: $0)?.size ?? 0 }
  }

  @Test(arguments: durabilities)
  func `begins small`(durability: EngineOptions.Durability) throws {
    let store = try makeStore(durability)
    try store.insert(1)
    #expect(sizes(of: store) == [Self.first])
  }

  @Test(arguments: durabilities)
  func `doubles as the log grows, and no segment follows before it has its size`(
    durability: EngineOptions.Durability
  ) throws {
    let store = try makeStore(durability)
    var seen: [Int] = []
    while seen.last != Self.segment {
      try store.insert(10)
      let size = sizes(of: store)[0]
      #expect(store.segments.count == 1)
      if seen.last != size { seen.append(size) }
    }
    #expect(seen == [16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10])
    let rows = try store.rows()
    #expect(try SimulatedStore(on: store.disk).rows() == rows)
  }

  @Test func `doubles in the background when half of it is written`() throws {
    let store = try makeStore()
    try store.insert(20)
    store.engine.performBackgroundWork()
    #expect(sizes(of: store) == [Self.first])
    try store.insert(40)
    #expect(sizes(of: store) == [Self.first])
    store.engine.performBackgroundWork()
    #expect(sizes(of: store) == [2 * Self.first])
  }

  @Test func `is at once as large as a commit needs`() throws {
    let store = try makeStore()
    try store.insert(500)
    #expect(sizes(of: store) == [64 << 10])
  }

  @Test func `grows on from where the store was closed`() throws {
    let store = try makeStore()
    try store.insert(1)
    try store.engine.close()
    #expect(sizes(of: store)[0] < Self.first)
    let next = try SimulatedStore(on: store.disk, segment: Self.segment)
    try next.insert(40)
    #expect(sizes(of: next) == [Self.first])
    for _ in 0..<10 { try next.insert(30) }
    #expect(sizes(of: next) == [64 << 10])
    #expect(try SimulatedStore(on: next.disk).rows() == next.rows())
  }

  /// A process that was killed leaves a segment that nothing is appended to any more.
  @Test func `is small again after a kill`() throws {
    let store = try makeStore()
    try store.insert(1)
    let rows = try store.rows()
    let next = try SimulatedStore(on: store.disk, segment: Self.segment)
    #expect(try next.rows() == rows)
    try next.insert(1)
    #expect(sizes(of: next) == [Self.first, Self.first])
  }

  @Test func `makes a segment ready when half of its size is written, not half of its file`() throws
  {
    let store = try makeStore()
    while store.segments.count == 1 {
      try store.insert(10)
      store.engine.performBackgroundWork()
    }
    #expect(sizes(of: store) == [Self.segment, Self.segment])
    #expect(store.engine.state.log.tail.withLock { $0.end } > Self.segment / 2)
  }

  @Test(arguments: durabilities)
  func `loses nothing if there is no space to grow`(durability: EngineOptions.Durability) throws {
    let store = try makeStore(durability)
    try store.insert(1)
    var plan = FaultPlan()
    plan.isFull = true
    store.fileSystem.setFaults(plan)
    var refused = false
    for _ in 0..<20 where !refused {
      do { try store.insert(10) } catch StorageError.noSpace { refused = true }
    }
    #expect(refused && sizes(of: store) == [Self.first])
    store.fileSystem.setFaults(FaultPlan())
    let rows = try store.rows()
    try store.insert(100)
    #expect(try store.rows().count == rows.count + 100)
    #expect(try SimulatedStore(on: store.disk).rows() == store.rows())
  }

  /// A reader that comes to a row as it is written keeps the segment it was lent, and finds the row in no buffer.
  @Test func `is read where it grew after a reader was lent it`() throws {
    let store = try makeStore()
    try store.insert(1)
    let state = store.engine.state
    let lent = try #require(state.log.tail.withLock { $0.segment })
    try store.insert(500)
    #expect(state.log.tail.withLock { $0.segment } !== lent)
    // Both buffers hold something else.
    for _ in 0..<2 { try store.insert(1) }
    let row = RowReference(table: 1, key: 400)
    let reader = RowReader(
      state: state,
      sequence: state.visibility.visible.load(ordering: .acquiring)
    )
    let place = try #require(try reader.place(of: row))
    #expect(place.offset > lent.readableEnd.load(ordering: .acquiring))
    let kind = try state.withUnwrittenRecord(at: place, in: lent) { header, _ in header.kind }
    #expect(kind == .insert)
  }

  @Test func `is followed by readers while it grows`() throws {
    let store = try makeStore()
    try store.insert(1)
    let reader = try SimulatedStore(store.fileSystem, mode: .readOnly, segment: Self.segment)
    while sizes(of: store)[0] < Self.segment {
      try store.insert(20)
      _ = try reader.engine.refresh()
      #expect(try reader.rows() == store.rows())
    }
  }

  /// A power cut takes what was not synchronized, the length of the file with it.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `is found whole after a power cut whenever it grew`(seed: UInt64) throws {
    let store = try makeStore(on: SimulatedFileSystem(seed: seed))
    try store.insert(1)
    while sizes(of: store)[0] < 64 << 10 {
      let before = try store.rows()
      let size = sizes(of: store)[0]
      try store.insert(20)
      guard sizes(of: store)[0] > size else { continue }
      let after = try store.rows()
      try store.disk.forEachCrashState(random: SeededGenerator(seed: seed), limits: .few) { state in
        // The commit was acknowledged.
        let found = try SimulatedStore(on: state.disk, segment: Self.segment)
        #expect(try found.rows() == after, "\(before.count) rows before")
        try found.insert(20)
        #expect(try found.rows().count == after.count + 20)
      }
    }
  }
}
