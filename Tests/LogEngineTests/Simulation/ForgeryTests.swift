import LogEngine
import LogEngineTestSupport
import Testing

@Suite struct `A number that cannot be, under right checksums` {
  private static let options: EngineOptions = {
    var options = EngineOptions()
    options.background = .caller
    options.reads = .copied
    return options
  }()

  /// A store that was killed after two commits.
  private func killedStore() throws -> Disk {
    let fileSystem = SimulatedFileSystem(seed: 1)
    let store = try TestedStore(opening: "/store", on: fileSystem, Self.options)
    _ = try store.changeCatalogue(Workload.firstTables)
    _ = try store.changeCatalogue([.addTable(name: "last")])
    return fileSystem.disk
  }

  private func reopen(_ forged: ForgedStore, _ disk: Disk) throws {
    var disk = disk
    forged.write(to: &disk)
    let fileSystem = SimulatedFileSystem(seed: 2, disk: disk)
    let store = try TestedStore(opening: "/store", on: fileSystem, Self.options)
    _ = try store.changeCatalogue([.addTable(name: "later")])
    try store.close()
  }

  @Test func `as what a frame says was on disk does not trap`() throws {
    let disk = try killedStore()
    let segment = try #require(disk.paths.last { $0.hasSuffix(".seg") })
    for value in [UInt64.max, 1 << 63, 1 << 40] {
      var forged = ForgedStore(disk)
      let frame = try #require(forged.frames(of: segment).last)
      forged.forge(segment, at: frame + 24, value, byteCount: 8)
      try reopen(forged, disk)
    }
  }

  @Test func `as how often a store was opened does not trap`() throws {
    let disk = try killedStore()
    let segment = try #require(disk.paths.last { $0.hasSuffix(".seg") })
    var forged = ForgedStore(disk)
    forged.forge(segment, at: 108, .max, byteCount: 4)
    try reopen(forged, disk)
  }
}
