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
}

/// A file system in a process of so much memory.
private struct SmallMemory: ForwardingFileSystem {
  let base: any FileSystem
  let memoryLimit: Int?

  func synchronizeDirectory(_ path: String) throws(StorageError) {}
}
