import LogEngine
import LogEngineTestSupport
import Testing

@Suite struct `A simulated power cut` {
  let fileSystem = SimulatedFileSystem(seed: 1)

  init() throws {
    try fileSystem.makeDirectory("/a")
    try fileSystem.makeDirectory("/b")
    try fileSystem.synchronizeDirectory("/")
  }

  @Test func `takes bytes that were not synchronized`() throws {
    let file = try fileSystem.makeFile("/a/x", [1, 2, 3], .durable)
    try file.write([9], at: 0)
    #expect(fileSystem.bytes("/a/x") == [9, 2, 3])
    #expect(fileSystem.disk.after(.nothingKept).bytes("/a/x") == [1, 2, 3])
    #expect(fileSystem.disk.after(.everythingKept).bytes("/a/x") == [9, 2, 3])
  }

  @Test func `takes a synchronized file whose name was not`() throws {
    let file = try fileSystem.makeFile("/a/x", [1], .buffered)
    try file.synchronize()
    #expect(fileSystem.disk.after(.nothingKept).bytes("/a/x") == nil)
    try fileSystem.synchronizeDirectory("/a")
    #expect(fileSystem.disk.after(.nothingKept).bytes("/a/x") == [1])
  }

  @Test func `can keep a name and take the bytes it names`() throws {
    _ = try fileSystem.makeFile("/a/x", [1], .buffered)
    try fileSystem.synchronizeDirectory("/a")
    #expect(fileSystem.disk.after(.nothingKept).bytes("/a/x") == [])
  }

  @Test func `can bring back a name that was removed`() throws {
    _ = try fileSystem.makeFile("/a/x", [1], .durable)
    try fileSystem.unlink("/a/x")
    #expect(fileSystem.bytes("/a/x") == nil)
    #expect(fileSystem.disk.after(.nothingKept).bytes("/a/x") == [1])
    try fileSystem.synchronizeDirectory("/a")
    #expect(fileSystem.disk.after(.nothingKept).bytes("/a/x") == nil)
  }

  @Test func `sees a rename inside a directory whole or not at all`() throws {
    _ = try fileSystem.makeFile("/a/x", [1], .durable)
    _ = try fileSystem.makeFile("/a/y", [2], .durable)
    try fileSystem.rename("/a/x", to: "/a/y")
    var found: Set<[String]> = []
    fileSystem.disk.forEachCrashState(random: SeededGenerator(seed: 1)) { state in
      found.insert(state.disk.paths.map { "\($0)=\(state.disk.bytes($0) ?? [])" })
    }
    #expect(found == [["/a/x=[1]", "/a/y=[2]"], ["/a/y=[1]"]])
  }

  @Test func `can see half a rename between directories`() throws {
    _ = try fileSystem.makeFile("/a/x", [1], .durable)
    try fileSystem.rename("/a/x", to: "/b/x")
    try fileSystem.synchronizeDirectory("/b")
    #expect(fileSystem.disk.after(.nothingKept).paths == ["/a/x", "/b/x"])
    try fileSystem.synchronizeDirectory("/a")
    #expect(fileSystem.disk.after(.nothingKept).paths == ["/b/x"])
  }

  @Test func `takes a directory with all that is in it`() throws {
    try fileSystem.makeDirectory("/a/c")
    _ = try fileSystem.makeFile("/a/c/x", [1], .durable)
    #expect(fileSystem.disk.after(.nothingKept).paths == [])
    #expect(fileSystem.disk.after(.everythingKept).paths == ["/a/c/x"])
  }

  @Test func `leaves a hard link when the first name goes`() throws {
    _ = try fileSystem.makeFile("/a/x", [1], .durable)
    #expect(try fileSystem.link("/a/x", as: "/b/y"))
    try fileSystem.synchronizeDirectory("/b")
    try fileSystem.unlink("/a/x")
    try fileSystem.synchronizeDirectory("/a")
    #expect(fileSystem.disk.after(.nothingKept).paths == ["/b/y"])
    #expect(fileSystem.disk.after(.nothingKept).bytes("/b/y") == [1])
  }
}
