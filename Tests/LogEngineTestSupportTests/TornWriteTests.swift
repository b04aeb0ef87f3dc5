import LogEngine
import LogEngineTestSupport
import Testing

@Suite struct `A torn write` {
  let fileSystem = SimulatedFileSystem(seed: 1)
  let file: any OpenFile

  /// A file of four sectors of ones.
  init() throws {
    try fileSystem.makeDirectory("/a")
    try fileSystem.synchronizeDirectory("/")
    file = try fileSystem.makeFile("/a/x", [UInt8](repeating: 1, count: 2048), .durable)
  }

  @Test func `is torn between sectors and nowhere else`() throws {
    try file.write([UInt8](repeating: 2, count: 1024), at: 256)
    let states = contents { if case .torn = $0 { true } else { false } }
    let whole = [UInt8](repeating: 1, count: 256)
    #expect(
      states == [
        whole + [UInt8](repeating: 2, count: 256) + [UInt8](repeating: 1, count: 1536),
        whole + [UInt8](repeating: 2, count: 768) + [UInt8](repeating: 1, count: 1024),
      ]
    )
  }

  @Test func `reaches the disk with any of its sectors`() throws {
    try file.write([UInt8](repeating: 2, count: 1536), at: 512)
    let states = contents { fate in
      if case .sectors(let sectors) = fate {
        sectors.allSatisfy { $0 == .old || $0 == .new }
      } else {
        false
      }
    }
    #expect(states.count == 8)
    #expect(states.allSatisfy { $0.prefix(512).allSatisfy { $0 == 1 } })
  }

  @Test(arguments: [SectorFate.zeros, .garbage])
  func `harms no byte that it did not change`(fate: SectorFate) throws {
    var bytes = [UInt8](repeating: 1, count: 512)
    bytes[100] = 2
    try file.write(bytes, at: 0)
    let disk = fileSystem.disk.afterPowerCut([.sectors([fate])])
    let found = try #require(disk.bytes("/a/x"))
    #expect(found[100] != 2 && found[100] != 1)
    #expect(found.enumerated().allSatisfy { $0.offset == 100 || $0.element == 1 })
  }

  @Test func `may lengthen the file by less than it was to, or by all of it with old bytes`() throws
  {
    try file.write([UInt8](repeating: 2, count: 1024), at: 2048)
    let sizes = Set(contents { _ in true }.map(\.count))
    #expect(sizes == [2560, 3072])
    let lost = fileSystem.disk.afterPowerCut([.sectors([.old, .old])])
    #expect(lost.bytes("/a/x")?.suffix(1024).allSatisfy { $0 == 0 } == true)
  }

  /// What the file may hold after a power cut, where the write went a way of its own.
  private func contents(of isWanted: (Fate) -> Bool) -> Set<[UInt8]> {
    let disk = fileSystem.disk
    var found: Set<[UInt8]> = []
    for scenario in disk.scenarios(random: SeededGenerator(seed: 1)) {
      guard case .write(_, let fate, .kept) = scenario, isWanted(fate) else { continue }
      if let bytes = disk.after(scenario).bytes("/a/x") { found.insert(bytes) }
    }
    return found
  }
}
