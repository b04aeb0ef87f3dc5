import LogEngine
import LogEngineTestSupport
import Testing

@Suite struct `Opening a store beside its writer` {
  /// What the writer does while the other process opens the store.
  enum Interruption: CaseIterable, Sendable {
    case commits, beginsSegments, closesAndGoesOn, isKilledAndGoesOn

    func happen(to store: MemoryStore) throws {
      switch self {
      case .commits: try store.work()
      case .beginsSegments: try store.work(6, textLength: 20_000)
      case .closesAndGoesOn:
        try store.work(1)
        try store.close()
        try store.open()
        try store.work(1)
      case .isKilledAndGoesOn:
        try store.work(1)
        store.abandon()
        try store.open()
        try store.work(1)
      }
    }
  }

  @Test(arguments: Interruption.allCases)
  func `finds the state after some commit, at whatever call the writer goes on`(
    interruption: Interruption
  ) throws {
    var call = 1
    while true {
      let store = try MemoryStore()
      try store.work(5)
      store.engine.performBackgroundWork()
      let oldest = store.history.count - 1
      let moment = call
      let fileSystem = HookedFileSystem(store.disk) { call in
        if call.number == moment { try interruption.happen(to: store) }
      }
      let reader = try store.openReader(on: fileSystem)
      try fileSystem.rethrow()
      let newest = Int(reader.lastCommit.rawValue)
      #expect((oldest..<store.history.count).contains(newest), "call \(moment)")
      #expect(try MemoryStore.rows(of: reader) == store.history[newest], "call \(moment)")
      #expect(reader.rowCount(of: 1) == store.history[newest].count, "call \(moment)")
      if fileSystem.callCount < moment { break }
      call += 1
    }
    #expect(call > 20)
  }

  @Test func `comes to an end though the writer goes on at every call`() throws {
    let store = try MemoryStore()
    try store.work(5)
    let fileSystem = HookedFileSystem(store.disk) { _ in try store.work(1, textLength: 500) }
    let reader = try store.openReader(on: fileSystem)
    try fileSystem.rethrow()
    #expect(try MemoryStore.rows(of: reader) == store.history[Int(reader.lastCommit.rawValue)])
  }

  @Test func `reads on where frames came after it had read to the end`() throws {
    let store = try MemoryStore()
    try store.work(5)
    let fileSystem = HookedFileSystem(store.disk) { call in
      // Only the search for proof of damage reads so much at once.
      if call.path.hasSuffix(".seg"), call.byteCount > 4096 { try store.work(2) }
    }
    let reader = try store.openReader(on: fileSystem)
    try fileSystem.rethrow()
    // It looked once, and had not to begin again.
    #expect(store.history.count == 9)
    #expect(Int(reader.lastCommit.rawValue) == store.history.count - 1)
    #expect(try MemoryStore.rows(of: reader) == store.rows)
  }
}
