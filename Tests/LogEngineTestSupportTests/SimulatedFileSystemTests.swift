import LogEngine
import LogEngineTestSupport
import Synchronization
import Testing

@Suite struct `A simulated file system` {
  let fileSystem = SimulatedFileSystem(seed: 1)

  @Test func `lists what is in a directory and not what is deeper`() throws {
    try fileSystem.makeDirectory("/a")
    try fileSystem.makeDirectory("/a/b")
    _ = try fileSystem.makeFile("/a/x", [], .buffered)
    _ = try fileSystem.makeFile("/a/b/y", [], .buffered)
    #expect(try fileSystem.list("/a")?.sorted() == ["b", "x"])
    #expect(try fileSystem.list("/c") == nil)
  }

  @Test func `gives a lock to one at a time, and again when it was released`() throws {
    var lock = try fileSystem.lock("/LOCK")
    #expect(lock != nil)
    #expect(try fileSystem.lock("/LOCK") == nil)
    lock = nil
    #expect(try fileSystem.lock("/LOCK") != nil)
    _ = lock
  }

  @Test func `does not open a file that is not there`() throws {
    #expect(throws: StorageError.missingFile(path: "/x")) { try fileSystem.open("/x", .read) }
  }

  @Test func `keeps a file's bytes for who has it open when its name goes`() throws {
    let file = try fileSystem.makeFile("/x", [1], .durable)
    try fileSystem.unlink("/x")
    #expect(try file.bytes() == [1])
  }

  @Test func `tells of each change before it is made`() throws {
    let seen = Mutex<[String]>([])
    let fileSystem = SimulatedFileSystem(seed: 1) { call, disk in
      seen.withLock { $0.append("\(call.operation) \(disk.bytes("/x")?.description ?? "-")") }
    }
    let file = try fileSystem.makeFile("/x", [1], .buffered)
    _ = try file.bytes()
    try file.synchronize()
    #expect(seen.withLock { $0 } == ["open -", "write []", "synchronize [1]"])
  }

  @Test func `has the same chance and time for the same seed`() {
    let (one, other) = (SimulatedFileSystem(seed: 7), SimulatedFileSystem(seed: 7))
    let stranger = SimulatedFileSystem(seed: 8)
    let bits = one.randomBits()
    #expect(bits == other.randomBits())
    #expect(bits != stranger.randomBits())
    let times = (0..<100).map { _ in one.microseconds() }
    #expect(times == (0..<100).map { _ in other.microseconds() })
    #expect(zip(times, times.dropFirst()).contains { $0 > $1 }, "the clock jumps back at times")
  }
}
