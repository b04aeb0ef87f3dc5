import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@Suite struct `An event of trouble` {
  let recorder = EventRecorder()

  private func fail(
    _ store: SimulatedStore,
    _ operation: FileOperation,
    _ effect: Fault.Effect = .error(5)
  ) {
    let next = store.fileSystem.callCount(of: operation) + 1
    store.fileSystem.setFaults(FaultPlan([Fault(operation, number: next, .forEver, effect)]))
  }

  @Test(arguments: [FileOperation.write, .synchronize])
  func `tells once that writing has ended, and why`(operation: FileOperation) throws {
    let store = try SimulatedStore(onEvent: recorder.handler)
    try store.insert(3)
    fail(store, operation)
    for _ in 0..<3 {
      #expect(throws: StorageError.self) { try store.insert(1) }
      store.engine.performBackgroundWork()
    }
    #expect(recorder.poisonings.count == 1)
    guard case .inputOutput(_, operation, 5)? = recorder.poisonings.first else {
      Issue.record("\(recorder.poisonings)")
      return
    }
    #expect(store.engine.statistics().failure == recorder.poisonings.first)
  }

  @Test func `tells of a sync that failed in the background before a commit does`() throws {
    let store = try SimulatedStore(
      durability: .relaxed(interval: .seconds(1)),
      onEvent: recorder.handler
    )
    try store.insert(3)
    #expect(store.engine.statistics().failure == nil)
    fail(store, .synchronize)
    store.engine.performBackgroundWork()
    #expect(recorder.poisonings.count == 1)
  }

  @Test func `tells that commits are refused for want of space, once`() throws {
    let store = try SimulatedStore(onEvent: recorder.handler)
    fail(store, .allocate, .noSpace)
    var refusals = 0
    for _ in 0..<200 where refusals < 2 {
      do {
        try store.insert(10)
      } catch StorageError.noSpace {
        refusals += 1
      }
    }
    #expect(refusals == 2)
    // The simulated clock jumps back by an hour now and then, and then it is told again.
    #expect(1...2 ~= recorder.lacksOfSpace)
    #expect(recorder.poisonings == [])
  }

  @Test func `tells of want of space before a commit is refused`() throws {
    let store = try SimulatedStore(onEvent: recorder.handler)
    try store.insert(3)
    fail(store, .allocate, .noSpace)
    for _ in 0..<100 where recorder.lacksOfSpace == 0 {
      try store.insert(3)
      store.engine.performBackgroundWork()
    }
    #expect(recorder.lacksOfSpace == 1)
  }

  /// A store in whose first segment rows were overwritten.
  private func damagedStore() throws -> MemoryStore {
    let store = try MemoryStore(recorder: recorder)
    try store.commit((1...20).map { .insert($0, "\($0)") })
    for _ in 0..<20 { try store.commit([.insert(0, String(repeating: "x", count: 1000))]) }
    // With a checkpoint, so that the next opening does not read what is damaged.
    try store.close()
    let path = try #require(store.segments.first)
    var bytes = try store.bytes(of: path)
    for number in 1...20 {
      let row = MemoryStore.row(Int64(number), "\(number)")
      for at in 4096..<(bytes.count - row.count) where Array(bytes[at..<(at + row.count)]) == row {
        bytes.replaceSubrange(at..<(at + row.count), with: row.map { _ in 0xFF })
      }
    }
    try store.write(bytes, to: path)
    try store.open()
    _ = recorder.take()
    return store
  }

  @Test func `tells of damage that a read meets, once for each place`() throws {
    let store = try damagedStore()
    let engine = store.engine
    func read(_ key: UInt64) throws {
      _ = try engine.withRow(RowReference(table: 1, key: key)) { _, _ in }
    }
    let first = try #require(#expect(throws: StorageError.self) { try read(1) })
    #expect(throws: first) { try read(1) }
    #expect(recorder.damage == [first])
    #expect(throws: first) { try engine.scan(1) { _, _, _ in .proceed } }
    #expect(throws: first) { try engine.makeReadView().scan(1) { _, _, _ in .proceed } }
    #expect(recorder.damage == [first])
    let second = try #require(#expect(throws: StorageError.self) { try read(2) })
    #expect(recorder.damage == [first, second])
    let third = try #require(
      #expect(throws: StorageError.self) {
        try engine.makeReadView().scan(1, keys: [3]) { _, _, _ in .proceed }
      }
    )
    #expect(recorder.damage == [first, second, third])
  }

  @Test func `is not made of what a caller's closure throws`() throws {
    let store = try MemoryStore(recorder: recorder)
    let key = try #require(try store.commit([.insert(1, "one")]).first)
    let corruption = Corruption(path: "other/log/1.seg", offset: 0, problem: .missing(.segment))
    #expect(throws: StorageError.self) {
      try store.engine.withRow(RowReference(table: 1, key: key)) { _, _ in
        throw StorageError.corruption(corruption)
      }
    }
    #expect(recorder.damage == [])
  }

  @Test func `tells of a side file whose bytes are not what was written`() throws {
    let disk = InMemoryFileSystem()
    let photo = PhotoRow(title: "Lisbon", photo: Photo(seed: 1, byteCount: 500))
    do { try PhotoStore(on: disk).insert(photo) }
    let path = try #require(try disk.blobPaths().first)
    var bytes = try disk.bytes(of: path)
    bytes[bytes.count - 1] ^= 1
    try disk.open(path, .write).writeAll(bytes)
    let engine = try StorageEngine.open(
      at: "/store",
      options: PhotoStore.options,
      fileSystem: disk,
      onEvent: recorder.handler
    )
    let check = try engine.makeReadView().checkBlobs()
    #expect(recorder.damage == check.damaged.map(\.error))
    #expect(recorder.damage.count == 1)
  }
}

extension OpenFile {
  fileprivate func writeAll(_ bytes: [UInt8]) throws {
    _ = try write(bytes.span.bytes, at: 0)
  }
}
