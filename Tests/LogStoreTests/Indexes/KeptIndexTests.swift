import Foundation
import LogEngineTestSupport
import LogTools
import ModelRuntime
import RowFormat
import SwiftData
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat
@testable import LogStore

@Suite struct `Indexes that are kept` {
  private func filled(_ count: Int = 1500, seed: UInt64 = 1) throws -> Disk {
    let fileSystem = SimulatedFileSystem(seed: seed)
    let store = try IndexedDisk(fileSystem)
    var random = SeededRandom(seed: seed)
    try store.fill(count, using: &random)
    try store.makeIndexes()
    try store.close()
    return fileSystem.disk
  }

  @Test(arguments: [EngineOptions.ReadMethod.mapped, .copied])
  func `are read from their files by the next process`(reads: EngineOptions.ReadMethod) throws {
    let disk = try filled()
    #expect(disk.indexFiles.count == IndexedDisk.largeIndexCount)
    let scanned = SimulatedFileSystem(seed: 2, disk: disk)
    for path in disk.indexFiles { try scanned.unlink(path) }
    let expected = try IndexedDisk(scanned).answers()
    let store = try IndexedDisk(SimulatedFileSystem(seed: 2, disk: disk), reads: reads)
    let made = try store.makeIndexes()
    #expect(made == (IndexedDisk.largeIndexCount, IndexedDisk.largeIndexCount))
    #expect(try store.answers() == expected)
    #expect(try store.tables.invariantViolations() == [])
  }

  @Test(arguments: Thoroughness.seeds(4))
  func `hold what a scan finds, however the processes before ended`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var fileSystem = SimulatedFileSystem(seed: seed, disk: try filled(seed: seed))
    var caughtUp = 0
    for round in 0..<8 {
      let store = try IndexedDisk(fileSystem, reads: round % 2 == 0 ? .mapped : .copied)
      if round % 3 == 0 { try store.shuffle(80, using: &random) }
      let made = try store.makeIndexes()
      #expect(made.fromFiles == IndexedDisk.largeIndexCount, "seed \(seed), round \(round)")
      caughtUp += made.fromFiles - made.unchanged
      try store.tables.checkIndexes()
      for _ in 0..<random.next(below: 3) {
        try store.shuffle(60, using: &random)
        try store.tables.checkIndexes()
      }
      let expected = try store.answers()
      if random.next(below: 2) == 0 { try store.close() }
      // Without being closed: the process was killed.
      fileSystem = SimulatedFileSystem(seed: seed, disk: fileSystem.disk)
      #expect(try IndexedDisk(fileSystem).answers() == expected, "seed \(seed), round \(round)")
      fileSystem = SimulatedFileSystem(seed: seed, disk: fileSystem.disk)
    }
    #expect(caughtUp > 0, "seed \(seed)")
  }

  @Test func `are extended by what changed, and written anew once half a file is dead`() throws {
    var disk = try filled(6000)
    let path = try #require(
      disk.indexFiles.max { (disk.image(of: $0)?.size ?? 0) < (disk.image(of: $1)?.size ?? 0) }
    )
    let size = try #require(disk.image(of: path)).size
    var random = SeededRandom(seed: 5)
    var salts: Set<UInt64> = []
    var sizes: [Int] = []
    for _ in 0..<25 {
      let fileSystem = SimulatedFileSystem(seed: 5, disk: disk)
      let store = try IndexedDisk(fileSystem)
      try store.makeIndexes()
      try store.shuffle(30, using: &random)
      try store.close()
      disk = fileSystem.disk
      let header = try fileSystem.open(path, .read).readBytes(4096, at: 0)
      salts.insert(try FileHeader(decoding: header.bytes, .secondaryIndex, path: path).salt)
      sizes.append(try #require(try fileSystem.size(of: path)))
    }
    #expect(salts.count > 1 && salts.count < 20)
    #expect(sizes.allSatisfy { $0 < size * 5 / 2 })
    let store = try IndexedDisk(SimulatedFileSystem(seed: 6, disk: disk))
    #expect(try store.makeIndexes().fromFiles == IndexedDisk.largeIndexCount)
    try store.tables.checkIndexes()
  }

  @Test func `are right whenever the power goes while they are written`() throws {
    let seed: UInt64 = 7
    var random = SeededRandom(seed: seed)
    nonisolated(unsafe) var moments: [Disk] = []
    let isRecording = Atomic<Bool>(false)
    let fileSystem = SimulatedFileSystem(seed: seed, disk: try filled(1100, seed: seed)) {
      _,
      disk in
      if isRecording.load(ordering: .relaxed) { moments.append(disk) }
    }
    let store = try IndexedDisk(fileSystem)
    try store.makeIndexes()
    try store.shuffle(100, using: &random)
    let expected = try store.answers()
    isRecording.store(true, ordering: .relaxed)
    try store.close()
    isRecording.store(false, ordering: .relaxed)
    moments.append(fileSystem.disk)
    var used: Set<Bool> = []
    var states = 0
    let wanted = 24
    // Some of the many, spread over all moments.
    for (number, moment) in moments.enumerated() {
      moment.forEachCrashState(
        random: SeededGenerator(seed: seed + UInt64(number)),
        limits: .few
      ) { state in
        guard states < wanted, random.next(below: moments.count * 6 / wanted + 1) == 0 else {
          return
        }
        states += 1
        do {
          let store = try IndexedDisk(SimulatedFileSystem(seed: seed, disk: state.disk))
          used.insert(try store.makeIndexes().fromFiles == IndexedDisk.largeIndexCount)
          try store.tables.checkIndexes()
          #expect(try store.answers() == expected, "seed \(seed), moment \(number)")
        } catch {
          Issue.record(error, "seed \(seed), moment \(number), \(state.scenario)")
        }
      }
    }
    #expect(states == wanted)
    #expect(used.contains(true))
  }

  @Test func `are made by a scan where a file is damaged, wherever that shows`() throws {
    let seed: UInt64 = 8
    let disk = try filled(1100, seed: seed)
    let expected = try IndexedDisk(SimulatedFileSystem(seed: 2, disk: disk)).answers()
    var random = SeededRandom(seed: seed)
    var reports = 0
    for round in 0..<48 / Thoroughness.stride {
      let fileSystem = SimulatedFileSystem(seed: seed, disk: disk)
      for path in disk.indexFiles {
        let size = try #require(try fileSystem.size(of: path))
        let file = try fileSystem.open(path, .write)
        if round % 6 == 0 {
          try file.setSize(random.next(below: size))
        } else {
          // The header, the directory at the end, and what is between.
          let place = [
            random.next(below: 200), size - 1 - random.next(below: 200), random.next(below: size),
          ]
          let bytes = try file.readBytes(1, at: place[round % 3])
          try file.writeAll(
            [bytes.bytes.load(UInt8.self, at: 0) ^ 0x41].span.bytes,
            at: place[round % 3]
          )
        }
      }
      nonisolated(unsafe) var found = 0
      let store = try IndexedDisk(fileSystem, reads: round % 2 == 0 ? .mapped : .copied) { event in
        if case .damageFound = event { found += 1 }
      }
      #expect(try store.answers() == expected, "seed \(seed), round \(round)")
      if round % 4 == 0 {
        try store.shuffle(40, using: &random)
        try store.makeIndexes()
      }
      try store.tables.checkIndexes()
      if found > 0 { reports += 1 }
      try store.close()
    }
    #expect(reports > 10 / Thoroughness.stride, "seed \(seed)")
  }

  @Test func `are not those of another past with as many commits`() throws {
    let disk = try filled()
    var disks: [SimulatedFileSystem] = []
    for seed in [1, 2] as [UInt64] {
      var random = SeededRandom(seed: seed)
      let fileSystem = SimulatedFileSystem(seed: seed, disk: disk)
      let store = try IndexedDisk(fileSystem)
      try store.makeIndexes()
      try store.shuffle(200, using: &random)
      try store.close()
      disks.append(fileSystem)
    }
    let expected = try IndexedDisk(SimulatedFileSystem(seed: 3, disk: disks[1].disk)).answers()
    // Those of the other copy; then those from before, which are brought up to date.
    for (source, isUsed) in [(disks[0], false), (SimulatedFileSystem(seed: 1, disk: disk), true)] {
      let fileSystem = SimulatedFileSystem(seed: 3, disk: disks[1].disk)
      for path in source.disk.indexFiles {
        let bytes = try source.open(path, .read).readAll()
        let file = try fileSystem.open(path, .create)
        try file.writeAll(bytes.bytes, at: 0)
      }
      let store = try IndexedDisk(fileSystem)
      #expect(try store.makeIndexes().fromFiles == (isUsed ? IndexedDisk.largeIndexCount : 0))
      try store.tables.checkIndexes()
      #expect(try store.answers() == expected)
    }
    // The store itself is put back, and goes on to as many commits.
    let fileSystem = SimulatedFileSystem(seed: 4, disk: disk)
    for path in disks[0].disk.indexFiles {
      let bytes = try disks[0].open(path, .read).readAll()
      try fileSystem.open(path, .create).writeAll(bytes.bytes, at: 0)
    }
    var random = SeededRandom(seed: 9)
    let store = try IndexedDisk(fileSystem)
    #expect(try store.makeIndexes().fromFiles == 0)
    try store.shuffle(100, using: &random)
    try store.close()
    let next = try IndexedDisk(SimulatedFileSystem(seed: 4, disk: fileSystem.disk))
    #expect(try next.makeIndexes().fromFiles == IndexedDisk.largeIndexCount)
    try next.tables.checkIndexes()
  }

  @Test func `stay those of a store that is packed and closed without having needed them`() throws {
    let fileSystem = SimulatedFileSystem(seed: 3, disk: try filled(1100))
    let store = try IndexedDisk(fileSystem)
    try store.tables.engine.compact()
    // In the same process, too.
    let index = try #require(store.tables.indexes.values.first)
    #expect(store.tables.openFile(of: index.definition) != nil)
    try store.close()
    let next = try IndexedDisk(SimulatedFileSystem(seed: 4, disk: fileSystem.disk))
    #expect(try next.makeIndexes() == (IndexedDisk.largeIndexCount, IndexedDisk.largeIndexCount))
    try next.tables.checkIndexes()
  }

  @Test func `go on in a store that was packed meanwhile`() throws {
    let disk = try filled(1100)
    var random = SeededRandom(seed: 3)
    let fileSystem = SimulatedFileSystem(seed: 3, disk: disk)
    let store = try IndexedDisk(fileSystem)
    try store.makeIndexes()
    try store.shuffle(200, using: &random)
    try store.tables.engine.compact()
    try store.tables.checkIndexes()
    let expected = try store.answers()
    // What a copy of the files has from before the packing is older than the log.
    let killed = try IndexedDisk(SimulatedFileSystem(seed: 3, disk: fileSystem.disk))
    #expect(try killed.makeIndexes().fromFiles == 0)
    #expect(try killed.answers() == expected)
    try store.close()
    let next = try IndexedDisk(SimulatedFileSystem(seed: 4, disk: fileSystem.disk))
    #expect(try next.makeIndexes() == (IndexedDisk.largeIndexCount, IndexedDisk.largeIndexCount))
    #expect(try next.answers() == expected)
    try next.tables.checkIndexes()
  }

  @Test func `belong to a store's files, and are checked with them`() throws {
    let disk = try filled()
    let fileSystem = SimulatedFileSystem(seed: 2, disk: disk)
    #expect(try StorageEngine.verify(at: "/store", fileSystem: fileSystem).problems.isEmpty)
    let paths = try [".keys", ".words"].map { suffix in
      try #require(disk.indexFiles.first { $0.hasSuffix(suffix) })
    }
    for path in paths {
      try fileSystem.open(path, .write).writeAll([0x55, 0x55].span.bytes, at: 5000)
    }
    let report = try StorageEngine.verify(at: "/store", fileSystem: fileSystem)
    #expect(Set(report.problems.map(\.path)) == Set(paths))
    #expect(report.problems.allSatisfy { $0.severity == .harmless })
    // A copy has none, and is whole.
    let engine = try StorageEngine.open(at: "/store", fileSystem: fileSystem)
    try engine.backup(to: "/copy")
    #expect(
      !fileSystem.disk.paths.contains { $0.hasPrefix("/copy/index/") && !$0.hasSuffix(".ckpt") }
    )
    // Files with other names are not the engine's.
    let names = ["notes.keys", "00000000000000aa.keys", "00000000000000ab.words"]
    for name in names { _ = try fileSystem.open("/store/index/\(name)", .create) }
    try engine.close()
    let store = try IndexedDisk(fileSystem)
    try store.makeIndexes()
    try store.close()
    #expect(fileSystem.disk.paths.contains("/store/index/notes.keys"))
    for name in names.dropFirst() {
      #expect(!fileSystem.disk.paths.contains("/store/index/\(name)"))
    }
  }

  @Test func `take in what another process saves`() throws {
    let fileSystem = SimulatedFileSystem(seed: 2, disk: try filled())
    let writer = try IndexedDisk(fileSystem)
    let reader = try IndexedDisk(fileSystem, mode: .readOnly)
    let counting = ScanCountingStore(reader.tables)
    var random = SeededRandom(seed: 6)
    for round in 0..<10 {
      try writer.shuffle(30, using: &random)
      try reader.tables.follow()
      let view = reader.tables.engine.makeReadView()
      for index in reader.tables.indexes.all {
        _ = try index.content(as: view, in: counting)
      }
      try reader.tables.checkIndexes()
      #expect(try reader.answers() == writer.answers(), "round \(round)")
      // Those of few rows have no file, and are made once.
      if round == 0 { counting.reset() }
    }
    #expect(counting.scanCount == 0)
  }

  @Test func `are kept as well when the last container goes without being closed`() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "kept-\(UUID())")
    defer { try? FileManager.default.removeItem(at: url) }
    func open() throws -> ModelContext {
      let configuration = LogStoreConfiguration(url: url, durability: .relaxed)
      return ModelContext(
        try ModelContainer(for: IndexedDisk.schema, configurations: [configuration])
      )
    }
    let few = FetchDescriptor<Measurement>(predicate: #Predicate { $0.value < 7 })
    do {
      let context = try open()
      for number in 0..<2000 {
        context.insert(Measurement(number, place: "Oslo", level: 0, taken: .distantPast))
      }
      try context.save()
      #expect(try context.fetchCount(few) == 7)
    }
    // Opening waits until the store is closed, which a thread of the background may be doing.
    let context = try open()
    let folder = url.appending(path: "index").path
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.filter { $0.hasSuffix(".keys") }.count == 1, "\(files)")
    #expect(try context.fetchCount(few) == 7)
  }

  @Test func `hash texts by SipHash, with one round and three`() {
    let hash = TextHash(low: 0x0706_0504_0302_0100, high: 0x0F0E_0D0C_0B0A_0908)
    // By an independent implementation, which repeats the paper's value with two rounds and four.
    let expected: [Int: UInt64] = [
      0: 0xABAC_0158_050F_C4DC, 1: 0xC9F4_9BF3_7D57_CA93, 7: 0xD392_7D98_9BB1_1140,
      8: 0x3690_9511_8D29_9A8E, 15: 0xD320_D86D_2A51_9956, 63: 0x9D19_9062_B7BB_B3A8,
    ]
    for (count, value) in expected {
      let bytes = (0..<count).map { UInt8($0) }
      #expect(bytes.withUnsafeBytes { hash.hash($0) } == value, "\(count) bytes")
    }
  }

  /// Another hash needs another version of the files.
  @Test func `hash unique keys as they always did`() {
    // By an independent implementation.
    let expected: [Int: UInt32] = [
      0: 0xC9D8_74CA, 1: 0xF2F3_7271, 7: 0x7B5B_A9F8, 8: 0x54F3_A3F3, 15: 0xDE95_7A9D,
      63: 0xF642_CB11,
    ]
    for (count, value) in expected {
      let bytes = (0..<count).map { UInt8($0) }
      #expect(ColumnKey.hash(bytes[...]) == value, "\(count) bytes")
    }
  }
}

/// Counts how often a table is scanned for an index.
private final class ScanCountingStore: IndexedStore {
  var newestForeignCommit: UInt64 { 0 }
  private let store: TableStore
  private let count = Atomic<Int>(0)

  init(_ store: TableStore) { self.store = store }

  var scanCount: Int { count.load(ordering: .relaxed) }
  func reset() { count.store(0, ordering: .relaxed) }

  var allowsSave: Bool { store.allowsSave }
  var newestCommit: UInt64 { store.newestCommit }
  func recordRegistration() { store.recordRegistration() }
  func makeReadViewOfAllCommits() -> ReadView { store.makeReadViewOfAllCommits() }
  func openFile(of definition: IndexDefinition) -> SecondaryIndexFile? {
    store.openFile(of: definition)
  }
  func openWords(of definition: IndexDefinition) -> IndexedWords? {
    store.openWords(of: definition)
  }
  func hasFile(of definition: IndexDefinition) -> Bool { store.hasFile(of: definition) }
  func changes(
    of definition: IndexDefinition,
    after commit: CommitSequence,
    through view: ReadView
  ) -> [IndexChange]? {
    store.changes(of: definition, after: commit, through: view)
  }
  func reportDamage(_ error: any Error) { store.reportDamage(error) }
  func scan(
    _ table: UInt16,
    of view: ReadView,
    _ body: (UInt64, RawSpan, RowLayout) throws -> Void
  ) throws {
    count.add(1, ordering: .relaxed)
    try store.scan(table, of: view, body)
  }
  func scan(
    _ table: UInt16,
    keys: [UInt64],
    of view: ReadView,
    _ body: (UInt64, RawSpan, RowLayout) throws -> Void
  ) throws {
    try store.scan(table, keys: keys, of: view, body)
  }
}
