import LogEngine
import LogEngineTestSupport
import Testing

@Suite struct `The states a power cut may leave` {
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `are the same for the same seed`(seed: UInt64) throws {
    #expect(try hashes(seed: seed) == hashes(seed: seed))
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `are visited once each`(seed: UInt64) throws {
    let hashes = try hashes(seed: seed)
    #expect(Set(hashes).count == hashes.count)
    #expect(hashes.count > 50)
  }

  @Test func `of two writes are none, either and both`() throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    let file = try fileSystem.makeFile("/x", [1, 1], .durable)
    try file.write([2], at: 0)
    try file.write([2], at: 1)
    var found: Set<[UInt8]> = []
    fileSystem.disk.forEachCrashState(random: SeededGenerator(seed: 1)) { state in
      if let bytes = state.disk.bytes("/x"), bytes.allSatisfy({ 1...2 ~= $0 }) {
        found.insert(bytes)
      }
    }
    #expect(found == [[1, 1], [1, 2], [2, 1], [2, 2]])
  }

  @Test func `are one when everything was synchronized`() throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    _ = try fileSystem.makeFile("/x", [1], .durable)
    var count = 0
    fileSystem.disk.forEachCrashState(random: SeededGenerator(seed: 1)) { _ in count += 1 }
    #expect(count == 1)
  }

  @Test func `have nothing pending`() throws {
    let fileSystem = SimulatedFileSystem(seed: 1)
    _ = try fileSystem.makeFile("/x", [1], .buffered)
    fileSystem.disk.forEachCrashState(random: SeededGenerator(seed: 1)) { state in
      #expect(state.disk.pending.isEmpty)
      #expect(state.disk.after(.nothingKept).hash == state.hash)
    }
  }

  private func hashes(seed: UInt64) throws -> [UInt64] {
    let fileSystem = SimulatedFileSystem(seed: seed)
    var random = SeededGenerator(seed: seed)
    var files: [any OpenFile] = []
    for name in 0..<4 { files.append(try fileSystem.makeFile("/\(name)", [0], .buffered)) }
    for _ in 0..<8 {
      let bytes = (0..<Int.random(in: 1...6000, using: &random)).map {
        UInt8(truncatingIfNeeded: $0)
      }
      try files.randomElement(using: &random)?.write(
        bytes,
        at: Int.random(in: 0...4000, using: &random)
      )
      if random.oneIn(8) { try files[0].synchronize() }
    }
    var hashes: [UInt64] = []
    fileSystem.disk.forEachCrashState(random: random) { hashes.append($0.hash) }
    return hashes
  }
}
