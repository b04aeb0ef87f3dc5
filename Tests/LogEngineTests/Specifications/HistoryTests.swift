import LogEngine
import LogEngineTestSupport
import RowFormat
import Testing

@Suite struct `The history of a store` {
  private func describe(_ row: RawSpan) -> String {
    "\(MemoryStore.layout.integer(0, in: row)) \(MemoryStore.layout.text(1, in: row))"
  }

  /// Replays the commits, and compares each state with what the store was then.
  private func check(
    _ engine: StorageEngine,
    _ store: MemoryStore,
    after first: UInt64 = 0,
    upTo last: UInt64? = nil
  ) throws {
    var rows = store.history[Int(first)]
    var next = first + 1
    try engine.forEachCommit(
      after: CommitSequence(first),
      upTo: last.map { CommitSequence($0) }
    ) { commit in
      #expect(commit.sequence.rawValue == next)
      next += 1
      try commit.forEachChange { change in
        #expect(change.sequence == commit.sequence)
        let key = change.reference.key
        switch change.kind {
        case .insert:
          #expect(rows[key] == nil)
          #expect(try change.withRowBefore { _, _ in true } == nil)
          rows[key] = try change.withRow { row, _ in describe(row) }
        case .update(let changed):
          #expect(changed?.contains(0) ?? true)
          #expect(changed?.contains(1) != true)
          #expect(try change.withRowBefore { row, _ in describe(row) } == rows[key])
          rows[key] = try change.withRow { row, _ in describe(row) }
        case .delete:
          #expect(try change.withRow { _, _ in true } == nil)
          #expect(try change.withRowBefore { row, _ in describe(row) } == rows[key])
          rows[key] = nil
        case .catalogue(let changes):
          #expect(changes == MemoryStore.tableChanges)
        }
        return .proceed
      }
      #expect(rows == store.history[Int(commit.sequence.rawValue)])
      return .proceed
    }
    #expect(next == (last ?? UInt64(store.history.count - 1)) + 1)
  }

  @Test func `tells every commit and what it changed, from any to any`() throws {
    let store = try MemoryStore()
    try store.work(30, textLength: 6000)
    try check(store.engine, store)
    for first in stride(from: 0 as UInt64, to: 31, by: 5) {
      for last in stride(from: first + 1, to: 31, by: 7) {
        try check(store.engine, store, after: first, upTo: last)
      }
    }
    try store.close()
    try store.open()
    try check(store.engine, store)
  }

  @Test func `ends where it is told to`() throws {
    let store = try MemoryStore()
    try store.work(5)
    var count = 0
    try store.engine.forEachCommit { _ in
      count += 1
      return count == 3 ? .stop : .proceed
    }
    #expect(count == 3)
    try store.engine.forEachCommit(after: store.engine.lastCommit) { _ in
      Issue.record("nothing comes after the last commit")
      return .proceed
    }
    try store.engine.forEachCommit(after: CommitSequence(.max)) { _ in
      Issue.record("nothing comes after the last commit")
      return .proceed
    }
  }

  /// Segments of 16 KiB, and one that is longer than the way between two marks.
  @Test(arguments: [16 << 10, 4 << 20])
  func `can be read from anywhere, in either direction`(segmentByteCount: Int) throws {
    let store = try MemoryStore {
      $0.smallestSegment = segmentByteCount
      $0.largestSegment = segmentByteCount
    }
    try store.work(60, textLength: 3000)
    let last = store.engine.lastCommit.rawValue
    // Twice: the second time, marks are there.
    for _ in 1...2 {
      for first in stride(from: 0, to: last, by: 7) {
        for end in stride(from: first + 1, through: last, by: 11) {
          for order in [CommitOrder.newestFirst, .oldestFirst] {
            var numbers: [UInt64] = []
            try store.engine.forEachCommit(
              after: CommitSequence(first),
              upTo: CommitSequence(end),
              order: order
            ) { commit in
              numbers.append(commit.sequence.rawValue)
              return .proceed
            }
            let expected = Array((first + 1)...end)
            #expect(numbers == (order == .oldestFirst ? expected : expected.reversed()))
          }
        }
      }
    }
    var newest: [UInt64] = []
    try store.engine.forEachCommit(order: .newestFirst) { commit in
      newest.append(commit.sequence.rawValue)
      return newest.count == 3 ? .stop : .proceed
    }
    #expect(newest == [last, last - 1, last - 2])
    try check(store.engine, store, after: last - 5)
  }

  @Test func `tells changes in the form the log has them, and rows as they were before`() throws {
    let store = try MemoryStore()
    let text = String(repeating: "long ", count: 20)
    let key = try store.commit([.insert(1, text)])[0]
    for number in 2...12 { try store.commit([.update(key, Int64(number))]) }
    var kinds: [LoggedRowChange.Kind] = []
    var before: [String?] = []
    try store.engine.forEachCommit { commit in
      try commit.forEachRowChange { change, bytes in
        kinds.append(change.kind)
        #expect(change.reference == RowReference(table: 1, key: key))
        before.append(try commit.withRow(before: change) { row, _ in describe(row) })
        if change.kind == .delta {
          #expect(
            RowDelta.changedColumns(of: bytes, layout: MemoryStore.layout)?.contains(1) == false
          )
        } else {
          #expect(describe(bytes) == "\(kinds.count) \(text)")
        }
      }
      return .proceed
    }
    #expect(kinds.first == .insert)
    #expect(Set(kinds) == [.insert, .delta, .image])
    #expect(before == [nil] + (1...11).map { "\($0) \(text)" })
  }

  @Test func `is read to its end although a compaction takes it away`() throws {
    let store = try MemoryStore { $0.history = .nothing }
    try store.work(40, textLength: 2000)
    let last = store.engine.lastCommit.rawValue
    var numbers: [UInt64] = []
    var changeCount = 0
    try store.engine.forEachCommit { commit in
      if numbers.isEmpty { _ = try store.engine.compact() }
      numbers.append(commit.sequence.rawValue)
      try commit.forEachRowChange { change, _ in
        changeCount += 1
        // Whether there is an answer or not, it is no wrong one.
        let row = try commit.withRow(before: change) { row, _ in describe(row) }
        let former = store.history[Int(commit.sequence.rawValue) - 1][change.reference.key]
        #expect(row == nil || row == former)
      }
      return .proceed
    }
    #expect(numbers == Array(1...last))
    #expect(changeCount > 40)
    #expect(store.engine.lastCommitBeforeHistory.rawValue > 0)
  }

  @Test func `names authors and times, also of a commit in many frames`() throws {
    let store = try MemoryStore()
    let text = String(repeating: "x", count: 1 << 20)
    try store.commit((0..<18).map { .insert($0, text) }, author: "importer")
    let key = try #require(store.rows.keys.min())
    try store.commit([.update(key, 99)], author: "user")
    try store.commit([.insert(7, "nobody's")])
    var authors: [String?] = []
    try store.engine.forEachCommit { commit in
      authors.append(commit.author)
      #expect(commit.microseconds > 0)
      return .proceed
    }
    #expect(authors == [nil, "importer", "user", nil])
    let history = try store.engine.history(of: RowReference(table: 1, key: key))
    #expect(history.map(\.author) == ["user", "importer"])
    #expect(history.map(\.sequence) == [CommitSequence(3), CommitSequence(2)])
  }

  @Test func `keeps what a deletion preserved`() throws {
    let store = try MemoryStore()
    let key = try store.commit([.insert(5, "kept")])[0]
    let reference = RowReference(table: 1, key: key)
    var batch = store.engine.makeBatch()
    let preserved = MemoryStore.row(5, "kept")
    batch.delete(reference, layout: LayoutNumber(1), preserving: preserved.span.bytes)
    try store.engine.commit(&batch)
    let newest = try #require(store.engine.history(of: reference).first)
    #expect(newest.kind == .delete)
    #expect(try newest.withRow { row, _ in describe(row) } == "5 kept")
  }

  @Test func `of a row is its whole life, newest first`() throws {
    let store = try MemoryStore()
    let text = String(repeating: "long ", count: 100)
    let key = try store.commit([.insert(0, text)])[0]
    for number in 1...40 { try store.commit([.update(key, Int64(number))]) }
    let reference = RowReference(table: 1, key: key)
    let changes = try store.engine.history(of: reference)
    #expect(changes.count == 41)
    for (change, number) in zip(changes, (0...40).reversed()) {
      #expect(try change.withRow { row, _ in describe(row) } == "\(number) \(text)")
    }
    #expect(changes.contains { $0.record.kind == .delta && $0.record.chainDepth == 8 })
    #expect(changes.last?.kind == .insert)
    #expect(
      zip(changes, changes.dropFirst()).allSatisfy { $0.record.previous == $1.record.address }
    )
    #expect(try store.engine.history(of: RowReference(table: 1, key: 999)).isEmpty)
    #expect(try store.engine.history(of: RowReference(table: 9, key: 1)).isEmpty)
  }

  @Test func `can be read beside the writer, and up to damage`() throws {
    let store = try MemoryStore()
    let follower = try store.openReader()
    for _ in 0..<5 {
      let known = follower.lastCommit.rawValue
      try store.work(6, textLength: 6000)
      try follower.refresh()
      try check(follower, store, after: known)
    }
    store.abandon()
    let path = store.segments[1]
    var bytes = try store.bytes(of: path)
    bytes[30_000] ^= 1
    try store.write(bytes, to: path)
    let damaged = try store.openReader(.readOnlyUpToDamage)
    #expect(damaged.recovery.damage != nil)
    let last = damaged.lastCommit.rawValue
    #expect(last > 5 && last < 25)
    try check(damaged, store, upTo: last)
  }

  @Test func `can be pinned at any commit`() throws {
    let store = try MemoryStore()
    try store.work(30, textLength: 6000)
    for (sequence, expected) in store.history.enumerated() {
      let view = try store.engine.makeReadView(at: CommitSequence(UInt64(sequence)))
      #expect(view.sequence.rawValue == sequence)
      #expect(view.catalogue.tables.count == (sequence == 0 ? 0 : 1))
      #expect(try MemoryStore.rows(of: view) == expected)
      #expect(view.rowCount(of: 1) == expected.count)
    }
    let newest = store.engine.lastCommit
    let later = CommitSequence(newest.rawValue + 1)
    #expect(throws: StorageError.unknownCommit(later, newest: newest)) {
      try store.engine.makeReadView(at: later)
    }
  }

  @Test(arguments: [EngineOptions.ReadMethod.mapped, .copied])
  func `can be pinned at any commit after opening from a checkpoint`(
    reads: EngineOptions.ReadMethod
  ) throws {
    let store = try MemoryStore()
    try store.work(30, textLength: 6000)
    try store.close()
    var options = MemoryStore.options(.readOnly)
    options.reads = reads
    let reader = try StorageEngine.open(at: store.path, options: options, fileSystem: store.disk)
    #expect(reader.recovery.checkpoint != nil)
    for (sequence, expected) in store.history.enumerated() {
      let view = try reader.makeReadView(at: CommitSequence(UInt64(sequence)))
      #expect(try MemoryStore.rows(of: view) == expected)
    }
  }

  @Test func `knows a table that is gone`() throws {
    let store = try MemoryStore()
    try store.work(5)
    let before = store.engine.lastCommit
    try store.engine.apply([.removeTable(1)])
    let view = try store.engine.makeReadView(at: before)
    #expect(view.catalogue.tables.map(\.name) == ["numbers"])
    #expect(try MemoryStore.rows(of: view) == store.rows)
  }
}
