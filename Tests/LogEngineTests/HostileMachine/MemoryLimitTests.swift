import LogEngineTestSupport
import Synchronization
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `The memory a process may use` {
  private static let version2 = ["/proc/self/cgroup": "0::/app/worker\n"]
  private static let version1 = [
    "/proc/self/cgroup": "9:cpu,cpuacct:/a\n4:memory:/docker/c0ffee\n0::/\n"
  ]

  @Test(arguments: [
    (version2, "/sys/fs/cgroup/app/worker/memory.max", "536870912\n", 512 << 20),
    (version2, "/sys/fs/cgroup/app/memory.max", "1000", 1000),
    (version2, "/sys/fs/cgroup/memory.max", "2000", 2000),
    (version2, "/sys/fs/cgroup/app/worker/memory.max", "max\n", nil),
    (version1, "/sys/fs/cgroup/memory/docker/c0ffee/memory.limit_in_bytes", "4096\n", 4096),
    // The path is the host's, and in the container its own group is the outermost.
    (version1, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "8192", 8192),
    ([:], "", "", nil),
  ])
  func `is what its control group says`(
    files: [String: String],
    path: String,
    text: String,
    expected: Int?
  ) {
    let found = MemoryLimit.ofControlGroup { $0 == path ? text : files[$0] }
    #expect(found == expected)
  }

  @Test func `is the least of the groups it is in`() {
    let files = Self.version2.merging([
      "/sys/fs/cgroup/app/worker/memory.max": "3000", "/sys/fs/cgroup/app/memory.max": "2000",
      "/sys/fs/cgroup/memory.max": "max",
    ]) { $1 }
    #expect(MemoryLimit.ofControlGroup { files[$0] } == 2000)
  }

  @Test(arguments: [(nil, 32 << 20), (24 << 30, 32 << 20), (64 << 20, (64 << 20) / 10)])
  func `holds the cache of an engine to a tenth of it`(memoryLimit: Int?, byteCount: Int) {
    #expect(EngineOptions.defaultBlockCacheByteCount(memoryLimit: memoryLimit) == byteCount)
  }

  @Test func `is known on this machine`() throws {
    let limit = try #require(PosixFileSystem().memoryLimit)
    #expect(limit > 1 << 20)
  }
}

@Suite struct `A store larger than memory` {
  @Test(arguments: [(1, true), (1 << 40, false)])
  func `is read page by page`(memoryLimit: Int, isLarger: Bool) throws {
    let store = try MemoryStore()
    try store.work(20, textLength: 6000)
    try store.engine.compact()
    try store.work(20, textLength: 6000)
    try store.close()
    let small = SmallMemory(base: store.disk, memoryLimit: memoryLimit)
    let engine = try StorageEngine.open(
      at: store.path,
      options: MemoryStore.options(),
      fileSystem: small
    )
    #expect(engine.state.files.isLargerThanMemory.load(ordering: .relaxed) == isLarger)
    try engine.compact()
    #expect(try MemoryStore.rows(of: engine) == store.rows)
    try engine.close()
  }

  @Test func `is read page by page as soon as it has grown so large`() throws {
    let advice = Advice()
    let disk = SmallMemory(
      base: InMemoryFileSystem(),
      memoryLimit: 200 << 10,
      advice: advice
    )
    let engine = try StorageEngine.open(
      at: "store",
      options: MemoryStore.options(),
      fileSystem: disk
    )
    try engine.apply(MemoryStore.tableChanges)
    #expect(engine.state.files.isLargerThanMemory.load(ordering: .relaxed) == false)

    let keys = try (1...120).map { try insert($0, into: engine) }
    #expect(engine.state.files.segmentList.count > 3)
    for segment in engine.state.files.segmentList {
      #expect(advice.pattern(of: segment.path) == .random, "\(segment.path)")
    }

    // Its rows can be read while they are packed: what that needs is fetched by stretches, and nothing else is said.
    let segments = engine.state.files.segmentList.map(\.path)
    advice.forgetFetches()
    try engine.compact()
    for path in segments { #expect(advice.pattern(of: path) == .random, "\(path)") }
    #expect(advice.fetches.contains { $0.hasPrefix("store/log/") })
    let packs = engine.state.currentPacks
    #expect(!packs.isEmpty)
    for pack in packs { #expect(advice.pattern(of: pack.path) == .random, "\(pack.path)") }

    // And of a pack, a block is fetched as a whole.
    advice.forgetFetches()
    let found = try engine.withRow(RowReference(table: 1, key: keys[60])) { row, _ in row.byteCount
    }
    #expect((found ?? 0) > 2000)
    #expect(advice.fetches.contains { $0.hasPrefix("store/pack/") })
    try engine.close()
  }

  private func insert(_ number: Int, into engine: StorageEngine) throws -> UInt64 {
    var batch = engine.makeBatch()
    let key = try #require(engine.reserveKeys(1, in: 1).first)
    // Texts that do not become small when they are packed.
    var random = SeededGenerator(seed: UInt64(number))
    let letters = (0..<2000).map { _ in UInt8(0x21 + random.next() % 94) }
    let text = String(decoding: letters, as: UTF8.self)
    let row = MemoryStore.row(Int64(number), text)
    row.withUnsafeBytes { bytes in
      batch.insert(
        RowReference(table: 1, key: key),
        layout: LayoutNumber(rawValue: 1),
        row: bytes.bytes
      )
    }
    _ = try engine.commit(&batch)
    return key
  }
}

/// What a store said of the order in which it reads its files.
private final class Advice: Sendable {
  private let patterns = Mutex<[String: AccessPattern]>([:])
  private let fetchedPaths = Mutex<[String]>([])

  func pattern(of path: String) -> AccessPattern? { patterns.withLock { $0[path] } }
  /// Notes what was said last; that a file is read in order stays, for others read it, too.
  func record(_ pattern: AccessPattern, of path: String) {
    patterns.withLock { if $0[path] != .sequential { $0[path] = pattern } }
  }

  /// The files of which something was fetched.
  var fetches: [String] { fetchedPaths.withLock { $0 } }
  func record(fetchOf path: String) { fetchedPaths.withLock { $0.append(path) } }
  func forgetFetches() { fetchedPaths.withLock { $0 = [] } }
}

/// A file system in a process of so much memory.
private struct SmallMemory: ForwardingFileSystem {
  let base: any FileSystem
  let memoryLimit: Int?
  var advice = Advice()

  func open(_ path: String, _ mode: OpenMode) throws(StorageError) -> any OpenFile {
    AdvisedFile(try base.open(path, mode), advice)
  }
  func synchronizeDirectory(_ path: String) throws(StorageError) {}
}

private final class AdvisedFile: OpenFile {
  private let base: any OpenFile
  private let advice: Advice

  init(_ base: any OpenFile, _ advice: Advice) {
    self.base = base
    self.advice = advice
  }

  var path: String { base.path }
  func size() throws(StorageError) -> Int { try base.size() }
  func read(into buffer: inout MutableRawSpan, at offset: Int) throws(StorageError) -> Int {
    try base.read(into: &buffer, at: offset)
  }
  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) -> Int {
    try base.write(bytes, at: offset)
  }
  func synchronize() throws(StorageError) { try base.synchronize() }
  func allocate(_ size: Int) throws(StorageError) { try base.allocate(size) }
  func setSize(_ size: Int) throws(StorageError) { try base.setSize(size) }
  func willRead(_ range: Range<Int>) { advice.record(fetchOf: path) }

  func map(_ count: Int, _ kind: MappingKind) throws(StorageError) -> MappedFile? {
    guard let mapped = try base.map(count, kind) else { return nil }
    let (path, advice) = (path, advice)
    advice.record(.unknown, of: path)
    return unsafe MappedFile(base: mapped.base, count: count) { pattern in
      advice.record(pattern, of: path)
    } release: {
      withExtendedLifetime(mapped) {}
    }
  }
}
