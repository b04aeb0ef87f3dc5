import LogEngine
import LogEngineTestSupport
import LogTools
import RowFormat
import Testing

@Suite struct `Salvaging a damaged store` {
  enum End: CaseIterable, Sendable { case closed, killed }

  /// A store of several segments, and a table that was changed over time.
  private func makeStore(_ end: End = .killed) throws -> MemoryStore {
    let store = try MemoryStore()
    try store.work(30, textLength: 6000)
    #expect(store.segments.count > 2)
    if end == .closed { try store.close() } else { store.abandon() }
    return store
  }

  /// Salvages a store, and holds what was saved against everything its rows ever were.
  @discardableResult
  private func check(_ store: MemoryStore, _ note: String) throws -> (
    report: SalvageReport, rows: [UInt64: String]
  ) {
    let files = try store.disk.allFiles(in: store.path)
    for path in try store.disk.allFiles(in: "saved") { try store.disk.unlink(path) }
    let disk = InMemoryFileSystem()
    for directory in ["", "/log", "/index", "/pack", "/tmp"] {
      try disk.makeDirectory(store.path + directory)
    }
    for path in files {
      let bytes = try store.bytes(of: path)
      let file = try disk.open(path, .create)
      if !bytes.isEmpty { _ = try file.write(bytes.span.bytes, at: 0) }
    }
    let report = try StorageEngine.salvage(at: store.path, to: "saved", fileSystem: disk)
    for path in files {
      #expect(try disk.bytes(of: path) == store.bytes(of: path), "\(note): \(path)")
    }
    #expect(try StorageEngine.verify(at: "saved", fileSystem: disk).problems.isEmpty, "\(note)")
    let saved = try StorageEngine.open(
      at: "saved",
      options: MemoryStore.options(),
      fileSystem: disk
    )
    let rows = saved.catalogue.tables.isEmpty ? [:] : try MemoryStore.rows(of: saved)
    for (key, row) in rows {
      #expect(store.history.contains { $0[key] == row }, "\(note): row \(key)")
    }
    if report.lostCommits.isEmpty, report.partialCommits.isEmpty, report.lostPacks.isEmpty {
      var expected = store.history[Int(report.lastCommit.rawValue)]
      for table in report.tables {
        for reference in table.stale + table.lost { expected[reference.key] = nil }
        for keys in report.lostBlocks.map(\.keys) { for key in keys { expected[key] = nil } }
        #expect(table.rowCount == rows.count, "\(note)")
      }
      for (key, row) in expected { #expect(rows[key] == row, "\(note): row \(key)") }
    }
    let next = saved.reserveKeys(1, in: 1).lowerBound
    if report.isComplete, !rows.isEmpty { #expect(store.history.allSatisfy { $0[next] == nil }) }
    return (report, rows)
  }

  @Test(arguments: End.allCases)
  func `saves everything where nothing is damaged`(end: End) throws {
    let store = try makeStore(end)
    let (report, rows) = try check(store, "whole")
    #expect(rows == store.rows)
    #expect(report.isComplete)
    #expect(report.lostBytes.isEmpty)
    #expect(report.damage.isEmpty)
    #expect(report.commitCount == store.history.count - 1)
  }

  @Test func `saves what it can, whichever byte is damaged, and says what it could not`() throws {
    let store = try makeStore(.closed)
    var completeCount = 0
    for path in try store.disk.allFiles(in: store.path) where !path.hasSuffix("LOCK") {
      let whole = try store.bytes(of: path)
      for index in stride(from: 0, to: whole.count, by: 1741) {
        var damaged = whole
        damaged[index] ^= 0x80
        try store.write(damaged, to: path)
        let (report, rows) = try check(store, "byte \(index) of \(path)")
        // One byte costs no more than one record.
        #expect(rows.count >= store.rows.count - 1)
        if report.isComplete { completeCount += 1 }
        if !report.isComplete {
          #expect(report.partialCommits.count + report.lostCommits.count > 0)
        }
      }
      try store.write(whole, to: path)
    }
    #expect(completeCount > 2)
  }

  @Test func `saves the rows of a segment whose header is lost`() throws {
    let store = try makeStore(.closed)
    for path in store.segments {
      let whole = try store.bytes(of: path)
      var damaged = whole
      for index in 0..<4096 { damaged[index] = 0xAA }
      try store.write(damaged, to: path)
      let (report, rows) = try check(store, path)
      #expect(rows == store.rows)
      #expect(report.isComplete)
      #expect(report.lostBytes.map(\.path) == [path])
      #expect(report.lostBytes.map(\.range) == [0..<4096])
      #expect(report.damage.count == 1)
      try store.write(whole, to: path)
    }
  }

  @Test func `names the commits of a segment that is gone`() throws {
    let store = try makeStore(.closed)
    for path in store.segments.dropLast() {
      let whole = try store.bytes(of: path)
      try store.disk.unlink(path)
      let (report, rows) = try check(store, path)
      #expect(report.lostCommits.count == 1)
      #expect(!report.isComplete)
      #expect(!rows.isEmpty)
      try store.write(whole, to: path)
    }
  }

  /// A store with two packs, and a log whose records stand on rows of both.
  private func makePackedStore() throws -> MemoryStore {
    let store = try MemoryStore()
    try store.work(200, textLength: 300)
    try store.engine.compact()
    let keys = store.rows.keys.sorted()
    try store.commit(keys[50..<62].map { .update($0, 1000) })
    try store.work(60, textLength: 1200)
    try store.engine.compact()
    try store.commit(store.rows.keys.sorted().suffix(30).map { .update($0, 2000) })
    try store.commit([.update(keys[40], 3000), .delete(keys[41])])
    try store.close()
    #expect(try store.disk.list("\(store.path)/pack")?.count ?? 0 >= 2)
    return store
  }

  @Test func `saves what was packed`() throws {
    let store = try makePackedStore()
    let (report, rows) = try check(store, "packed")
    #expect(rows == store.rows)
    #expect(report.isComplete)
    #expect(report.damage.isEmpty)
    #expect(report.lastCommit == CommitSequence(UInt64(store.history.count - 1)))
  }

  @Test func `saves what was packed without a manifest`() throws {
    let store = try makePackedStore()
    for path in try store.disk.allFiles(in: store.path) where path.contains("MANIFEST") {
      try store.disk.unlink(path)
    }
    let (report, rows) = try check(store, "no manifest")
    #expect(rows == store.rows)
    // The checkpoint has it.
    #expect(report.isCatalogueComplete)
  }

  @Test func `saves what it can of a damaged pack, and says what it could not`() throws {
    let store = try makePackedStore()
    var isStale = false
    var isLost = false
    var hasLostBlock = false
    for path in try store.disk.allFiles(in: store.path) where path.contains("/pack/") {
      let whole = try store.bytes(of: path)
      for index in stride(from: 0, to: whole.count, by: 61 * ((Thoroughness.stride + 1) / 2)) {
        var damaged = whole
        damaged[index] ^= 0x80
        try store.write(damaged, to: path)
        let (report, rows) = try check(store, "byte \(index) of \(path)")
        #expect(!report.isComplete || rows == store.rows)
        #expect(!rows.isEmpty)
        if report.tables.contains(where: { !$0.stale.isEmpty }) { isStale = true }
        if report.tables.contains(where: { !$0.lost.isEmpty }) { isLost = true }
        if !report.lostBlocks.isEmpty { hasLostBlock = true }
      }
      try store.disk.unlink(path)
      let (report, _) = try check(store, "without \(path)")
      #expect(report.lostPacks == [path])
      #expect(!report.isComplete)
      try store.write(whole, to: path)
    }
    // One byte of a few hundred makes a row stale.
    #expect([isStale || Thoroughness.stride > 1, isLost, hasLostBlock] == [true, true, true])
  }

  @Test func `takes tables and used keys from a checkpoint where the log lost them`() throws {
    let store = try MemoryStore()
    try store.work(20, textLength: 6000)
    let last = try store.commit([.insert(1, "last")])[0]
    try store.commit([.delete(last)])
    try store.engine.checkpoint()
    store.abandon()
    let paths = store.segments
    for path in [paths.first, paths.last].compactMap(\.self) { try store.disk.unlink(path) }
    let (report, rows) = try check(store, "checkpoint")
    #expect(report.isCatalogueComplete)
    #expect(!rows.isEmpty)
    let disk = store.disk
    _ = try StorageEngine.salvage(at: store.path, to: "saved", fileSystem: disk)
    let saved = try StorageEngine.open(
      at: "saved",
      options: MemoryStore.options(),
      fileSystem: disk
    )
    #expect(saved.reserveKeys(1, in: 1).lowerBound == last + 1)
  }

  @Test func `takes an earlier version of a row whose last change is damaged`() throws {
    let store = try MemoryStore()
    let keys = try store.commit([.insert(1, "row"), .insert(2, "other")])
    try store.commit([.update(keys[0], 10)])
    let before = try store.bytes(of: store.segments[0])
    try store.commit([.update(keys[0], 20)])
    let after = try store.bytes(of: store.segments[0])
    try store.commit([.insert(3, "last")])
    try store.commit([.insert(4, "very last")])
    store.abandon()
    // The record, with its frame's header, but for its last byte.
    let start = try #require(zip(before, after).enumerated().first { $1.0 != $1.1 }?.offset)
    var bytes = try store.bytes(of: store.segments[0])
    bytes[start + 40 + 8 + 40] ^= 0xFF
    try store.write(bytes, to: store.segments[0])
    let (report, rows) = try check(store, "delta")
    #expect(rows[keys[0]] == "10 row")
    #expect(rows[keys[1]] == "2 other")
    #expect(rows.count == 4)
    #expect(report.partialCommits == [CommitSequence(4)])
  }

  @Test func `says which rows can only be had as they once were, and which not at all`() throws {
    let store = try MemoryStore()
    // Long enough for changes to be written as changes.
    let text = String(repeating: "row", count: 100)
    let keys = try store.commit([.insert(1, text), .insert(2, "other")])
    let before = try store.bytes(of: store.segments[0])
    try store.commit([.insert(3, text)])
    let third = UInt64(3)
    try store.commit([.update(keys[0], 10)])
    let middle = try store.bytes(of: store.segments[0])
    try store.commit([.update(keys[0], 20), .update(third, 30)])
    store.abandon()
    let first = try #require(zip(before, middle).enumerated().first { $1.0 != $1.1 }?.offset)
    let written = try #require(middle.lastIndex { $0 != 0 }) + 1
    var bytes = try store.bytes(of: store.segments[0])
    // The insertion of the third row and the first change of the first one: both chains are cut.
    for index in first..<((written + 7) & ~7) { bytes[index] = 0xEE }
    try store.write(bytes, to: store.segments[0])
    let (report, rows) = try check(store, "chains")
    #expect(rows == [keys[0]: "1 \(text)", keys[1]: "2 other"])
    #expect(report.tables.first?.stale == [RowReference(table: 1, key: keys[0])])
    #expect(report.tables.first?.lost == [RowReference(table: 1, key: third)])
    #expect(report.lostCommits == [CommitSequence(3)...CommitSequence(4)])
    #expect(report.lostBytes.count == 1)
  }

  @Test func `keeps the catalogue's numbers, whatever was done to it`() throws {
    let disk = InMemoryFileSystem()
    let options = MemoryStore.options()
    let engine = try StorageEngine.open(at: "store", options: options, fileSystem: disk)
    try engine.apply(MemoryStore.tableChanges)
    try engine.apply([
      .addTable(name: "gone"), .addTable(name: "swapped"), .removeTable(2),
      .renameTable(3, to: "other"), .renameTable(1, to: "swapped"),
      .setLayout(table: 1, columns: [2, 1]), .setLayout(table: 1, columns: [1]),
      .retireColumn(table: 1, column: 2),
      .addColumn(table: 1, name: "text", type: .bytes, isNullable: true),
      .retireColumn(table: 1, column: 3),
      .addColumn(table: 1, name: "text", type: .double, isNullable: true),
      .setLayout(table: 1, columns: [1, 4]), .setLayout(table: 1, columns: [1]),
      .setMetadata(key: "model", value: [1, 2, 3]),
    ])
    let catalogue = engine.catalogue
    try engine.close()
    let report = try StorageEngine.salvage(at: "store", to: "saved", fileSystem: disk)
    #expect(report.isComplete)
    let saved = try StorageEngine.open(at: "saved", options: options, fileSystem: disk)
    #expect(saved.catalogue == catalogue)
  }

  @Test func `is refused where something is already, and where nothing is`() throws {
    let store = try makeStore()
    #expect(throws: StorageError.destinationExists(path: "store")) {
      try StorageEngine.salvage(at: store.path, to: store.path, fileSystem: store.disk)
    }
    #expect(throws: StorageError.missingStore(path: "nowhere")) {
      try StorageEngine.salvage(at: "nowhere", to: "saved", fileSystem: store.disk)
    }
  }
}
