import LogEngine
import LogEngineTestSupport
import Testing

@Suite struct `A planned fault` {
  @Test(arguments: [
    (Fault.Duration.once, [true, false, true, true]), (.forEver, [true, false, false, false]),
  ])
  func `strikes the call it names, and those after it if it is for ever`(
    duration: Fault.Duration,
    expected: [Bool]
  ) throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    let file = try fileSystem.makeFile("/x", [1], .buffered)
    fileSystem.setFaults(FaultPlan([Fault(.synchronize, number: 2, duration)]))
    #expect((0..<4).map { _ in (try? file.synchronize()) != nil } == expected)
  }

  @Test(arguments: [
    FileOperation.open, .read, .write, .synchronize, .size, .allocate, .truncate, .rename, .link,
    .unlink, .list, .makeDirectory, .synchronizeDirectory, .lock, .map,
  ])
  func `is reported with the call and the path`(operation: FileOperation) throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    let file = try fileSystem.makeFile("/x", [1], .durable)
    fileSystem.setFaults(FaultPlan([Fault(operation, number: 1, .forEver)]))
    #expect(throws: StorageError.inputOutput(path: "/x", operation: operation, errno: 5)) {
      switch operation {
      case .open: _ = try fileSystem.open("/x", .read)
      case .read: _ = try file.bytes()
      case .write: try file.write([1], at: 0)
      case .synchronize: try file.synchronize()
      case .size: _ = try fileSystem.size(of: "/x")
      case .allocate: try file.allocate(10)
      case .truncate: try file.setSize(10)
      case .rename: try fileSystem.rename("/x", to: "/y")
      case .link: _ = try fileSystem.link("/x", as: "/y")
      case .unlink: try fileSystem.unlink("/x")
      case .list: _ = try fileSystem.list("/x")
      case .makeDirectory: try fileSystem.makeDirectory("/x")
      case .synchronizeDirectory: try fileSystem.synchronizeDirectory("/x")
      case .lock: _ = try fileSystem.lock("/x")
      case .map: _ = try file.map(1, .privateWritable)
      }
    }
  }

  @Test func `of a synchronization loses bytes that reads still show and no later one saves`()
    throws
  {
    var survived: Set<[UInt8]> = []
    for seed in 1...40 as ClosedRange<UInt64> {
      let fileSystem = SimulatedFileSystem(seed: seed)
      let file = try fileSystem.makeFile("/x", [1], .durable)
      fileSystem.setFaults(FaultPlan([Fault(.synchronize, number: 2)]))
      try file.write([2], at: 0)
      #expect(throws: StorageError.self) { try file.synchronize() }
      try file.synchronize()
      #expect(fileSystem.bytes("/x") == [2])
      survived.insert(fileSystem.disk.after(.everythingKept).bytes("/x") ?? [])
      // What is written anew is as safe as ever.
      try file.write([3], at: 0)
      try file.synchronize()
      #expect(fileSystem.disk.after(.nothingKept).bytes("/x") == [3])
    }
    #expect(survived == [[1], [2]])
  }

  @Test func `of space leaves the file as it was`() throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    let file = try fileSystem.makeFile("/x", [1], .durable)
    fileSystem.setFaults(FaultPlan([Fault(.allocate, number: 1, .once, .noSpace)]))
    #expect(throws: StorageError.noSpace(path: "/x", needed: 10)) { try file.allocate(10) }
    #expect(fileSystem.bytes("/x") == [1])
    try file.allocate(10)
    #expect(fileSystem.bytes("/x")?.count == 10)
  }

  @Test func `of short writes takes part of the bytes and says how many`() throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    let file = try fileSystem.makeFile("/x", [], .buffered)
    var plan = FaultPlan()
    plan.hasShortWrites = true
    fileSystem.setFaults(plan)
    let bytes = (0..<100).map { UInt8($0) }
    var done = 0
    var steps = 0
    while done < bytes.count {
      done += try file.write(Array(bytes[done...]), at: done)
      steps += 1
    }
    #expect(steps > 1)
    #expect(fileSystem.bytes("/x") == bytes)
  }

  @Test func `of a lying disk is seen at the next power cut`() throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    var plan = FaultPlan()
    plan.lies = [.directorySync]
    fileSystem.setFaults(plan)
    _ = try fileSystem.makeFile("/x", [1], .durable)
    #expect(fileSystem.disk.after(.nothingKept).paths == [])
    #expect(fileSystem.bytes("/x") == [1])
  }
}
