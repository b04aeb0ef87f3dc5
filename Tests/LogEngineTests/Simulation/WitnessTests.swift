import LogEngine
import LogEngineTestSupport
import Testing

@Suite struct `A log that was recovered` {
  /// A process is killed, the next one opens its store and closes it, and then the log loses its end.
  @Test(arguments: [true, false])
  func `is missed when it is damaged before the next commit`(closes: Bool) throws {
    var options = EngineOptions()
    options.background = .caller
    options.reads = .copied
    let fileSystem = SimulatedFileSystem(seed: 1)
    do {
      let store = try TestedStore(opening: "/store", on: fileSystem, options)
      _ = try store.changeCatalogue(Workload.firstTables)
      _ = try store.changeCatalogue([.addTable(name: "last")])
    }
    do {
      let store = try TestedStore(opening: "/store", on: fileSystem, options)
      if closes { try store.close() }
    }
    var disk = fileSystem.disk
    let segment = try #require(disk.paths.last { $0.hasSuffix(".seg") })
    Damage(path: segment, kind: .zero(4096..<8192)).apply(to: &disk)
    let damaged = SimulatedFileSystem(seed: 2, disk: disk)
    #expect(throws: StorageError.self) {
      try TestedStore(opening: "/store", on: damaged, options)
    }
  }
}
